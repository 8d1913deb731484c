/**
 * The embedded store as an application sees it: an open handle, and views of its databases.
 */
import { unixUrl } from "../env/unix-path.ts";
import { Caller } from "./caller.ts";
import { checkOptions, checkPlace, kindOf, optionKinds } from "./checks.ts";
import { StoreError } from "./errors.ts";
import type { WholeHandle } from "./handle.ts";
import type { StoreThread } from "./store-thread.ts";
import { StringMethods } from "./string-methods.ts";
import type { ListenAddress, ListenOptions, StoreHandle, Word } from "./types.ts";

const LISTEN_OPTIONS = optionKinds(["port", "host", "path"], []);

/** One database of a store. */
export class Database extends StringMethods {
  /**
   * Runs any command. Replies are as of RESP3: strings, numbers (bigint when a number would not be
   * exact), booleans, null, arrays, and Map for maps. SELECT changes the database of this view.
   */
  call(command: string, ...words: Word[]): unknown {
    return this.caller.call(command, words, false);
  }

  /** As `call`, with a Buffer for every string, keys of maps included. */
  callBuffer(command: string, ...words: Word[]): unknown {
    return this.caller.call(command, words, true);
  }
}

/** An open handle of a store; its own methods are for database 0. */
export class Store extends Database {
  /** @internal */
  private closing: Promise<void> | null = null;

  /** @internal */
  constructor(thread: StoreThread) {
    super(new Caller(thread, 0));
    this.caller.session.publishAll();
  }

  /** @internal */
  protected override shown(): string {
    return `Store { isOpen: ${this.thread.isOpen} }`;
  }

  /** @internal */
  private get thread(): StoreThread {
    return this.caller.thread;
  }

  /** A view of another database. It is a part of this handle and closed with it. */
  db(index: number): Database {
    const { thread } = this;
    thread.attend();
    const { config } = thread.server;
    if (typeof index !== "number") throw new TypeError(`index is ${kindOf(index)}: a number`);
    if (!Number.isInteger(index) || index < 0 || index >= config.databases) {
      throw new StoreError("ERR DB index is out of range");
    }
    return new Database(new Caller(thread, index));
  }

  /**
   * What another thread of this process opens this store with: `open({ handle })`. It goes through
   * postMessage and workerData any number of times. It holds the store's memory as long as somebody
   * holds it.
   */
  get handle(): StoreHandle {
    const { thread } = this;
    const handle: WholeHandle = { ...thread.about, ...thread.currentState() };
    return handle;
  }

  /**
   * Serves RESP from this thread, on the same data: any Redis client may connect. Several places
   * may be listened on; all end with the handle.
   */
  async listen(options: ListenOptions = {}): Promise<ListenAddress> {
    const { thread } = this;
    thread.attend();
    checkOptions(options, LISTEN_OPTIONS, "listen({ port: 7000 })");
    checkPlace(options);
    const { Listener } = await import("./listener.ts");
    const { config } = thread.server;
    const path = options.path ?? "";
    const listener = new Listener(thread, {
      port: options.port ?? 0,
      host: options.host ?? "127.0.0.1",
      backlog: config.tcpBacklog,
      path,
      permissions: config.unixsocketPerm,
    });
    const { address: host, port } = await listener.open();
    if (path !== "") return { host: "", port, path, url: unixUrl(path) };
    const shown = host.includes(":") ? `[${host}]` : host;
    return { host, port, url: `redis://${shown}:${port}` };
  }

  /**
   * Closes this handle and what it listens on. The last handle of a store that is closed frees its
   * memory. Calls on a closed handle throw. It is closed when this returns, or where it listens,
   * when the promise is fulfilled: clients are answered first.
   */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  /** @internal */
  private async closeAll(): Promise<void> {
    const { thread } = this;
    const { endings } = thread;
    // Without them, the handle is closed when this returns.
    if (endings.size > 0) await Promise.all([...endings].map((ending) => ending.close()));
    thread.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Closes at once; connections are cut. */
  [Symbol.dispose](): void {
    this.thread.close();
  }
}
