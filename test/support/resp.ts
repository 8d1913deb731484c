/**
 * A raw client for tests: it sends exactly the bytes it is told to and hands back, beside each
 * parsed reply, the exact bytes that came. Replies are matched to requests in order; RESP3 pushes
 * are kept apart in `pushes`. Nothing is retried, nothing reconnects, and every wait has a limit
 * after which it fails with the request and what had arrived.
 */
import net from "node:net";
import { type Frame, FrameReader } from "./resp-parser.ts";

export type Address = { host: string; port: number } | { path: string };
export type Argument = string | Buffer | number;

/** Who takes longer hangs: it is no measure of speed, since a machine may be slow and busy. */
const TIMEOUT_MS = 60_000;

type Waiter = {
  label: string;
  resolve(frame: Frame): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
};

/** A string argument stands for its latin1 bytes, so that "\xff" is one byte. */
export function encodeCommand(command: readonly Argument[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${command.length}\r\n`)];
  for (const argument of command) {
    const bytes = Buffer.isBuffer(argument) ? argument : Buffer.from(String(argument), "latin1");
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, CRLF);
  }
  return Buffer.concat(parts);
}

const CRLF = Buffer.from("\r\n");

export class RespClient {
  readonly socket: net.Socket;
  readonly pushes: Frame[] = [];
  /** Resolves once the connection is down, whoever closed it. */
  readonly closed: Promise<void>;
  timeoutMs: number = TIMEOUT_MS;
  #reader = new FrameReader();
  #waiters: Waiter[] = [];
  #unclaimed: Frame[] = [];
  #failure: Error | undefined;
  #ended = false;
  #received = 0;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("error", (error) => this.#fail(error));
    const { promise, resolve } = deferred<void>();
    this.closed = promise;
    socket.on("close", () => {
      this.#fail(new Error("the connection was closed"));
      resolve();
    });
  }

  static connect(address: Address): Promise<RespClient> {
    return new Promise((resolve, reject) => {
      const socket = net.connect("path" in address ? { path: address.path } : { ...address });
      const refuse = (error: Error): void =>
        reject(new Error(`connect to ${JSON.stringify(address)}: ${error.message}`));
      socket.once("error", refuse);
      socket.once("connect", () => {
        socket.off("error", refuse);
        resolve(new RespClient(socket));
      });
    });
  }

  get isClosed(): boolean {
    return this.#failure !== undefined;
  }

  get bytesReceived(): number {
    return this.#received;
  }

  /** Sends bytes as they are. Replies to them are taken with `next`. */
  sendRaw(bytes: Buffer | string): void {
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Sends one command and returns the next reply in order. */
  call(...command: Argument[]): Promise<Frame> {
    this.sendRaw(encodeCommand(command));
    return this.next(command.map(String).join(" ").slice(0, 200));
  }

  /** Sends all commands in one write. */
  pipeline(commands: readonly (readonly Argument[])[]): Promise<Frame[]> {
    if (commands.length === 0) return Promise.resolve([]);
    this.sendRaw(Buffer.concat(commands.map(encodeCommand)));
    return Promise.all(
      commands.map((command) => this.next(command.map(String).join(" ").slice(0, 200))),
    );
  }

  /** The next reply in order that nobody has claimed yet. */
  next(label = "a reply"): Promise<Frame> {
    const ready = this.#unclaimed.shift();
    if (ready !== undefined) return Promise.resolve(ready);
    if (this.#failure) return Promise.reject(this.#describe(label, this.#failure.message));
    const { promise, resolve, reject } = deferred<Frame>();
    const timer = setTimeout(() => {
      reject(this.#describe(label, `no complete reply in ${this.timeoutMs} ms`));
      this.socket.destroy();
    }, this.timeoutMs);
    this.#waiters.push({ label, resolve, reject, timer });
    return promise;
  }

  /** Waits until the peer has closed; fails when it does not. */
  async expectClosed(timeoutMs: number = this.timeoutMs): Promise<void> {
    if (!(await within(this.closed, timeoutMs))) {
      throw new Error(`the server kept the connection open for ${timeoutMs} ms`);
    }
  }

  /** Half-closes, lets the server answer what it has, and waits until it closes. */
  async finish(): Promise<void> {
    this.#ended = true;
    this.socket.end();
    await this.expectClosed();
  }

  close(): void {
    this.#ended = true;
    this.socket.destroy();
  }

  /** Received bytes that form no complete reply. */
  leftover(): Buffer {
    return this.#reader.pending();
  }

  #onData(chunk: Buffer): void {
    this.#received += chunk.length;
    this.#reader.push(chunk);
    try {
      for (;;) {
        const frame = this.#reader.next();
        if (frame === undefined) return;
        this.#deliver(frame);
      }
    } catch (error) {
      this.#fail(error as Error);
      this.socket.destroy();
    }
  }

  #deliver(frame: Frame): void {
    if (frame.reply.mark === ">") {
      this.pushes.push(frame);
      return;
    }
    const waiter = this.#waiters.shift();
    if (waiter === undefined) {
      this.#unclaimed.push(frame);
      return;
    }
    clearTimeout(waiter.timer);
    waiter.resolve(frame);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const waiter of this.#waiters.splice(0)) {
      clearTimeout(waiter.timer);
      waiter.reject(this.#describe(waiter.label, error.message));
    }
  }

  #describe(label: string, what: string): Error {
    const pending = this.#reader.pending().toString("latin1").slice(0, 120);
    const had = pending.length > 0 ? `; incomplete so far: ${JSON.stringify(pending)}` : "";
    const closing = this.#ended ? " (closed by the test)" : "";
    return new Error(`waiting for ${JSON.stringify(label)}: ${what}${closing}${had}`);
  }
}

/**
 * Sends bytes, half-closes and returns everything the server sent until it closed. The half-close
 * makes the end of the conversation a fact and not a guess about silence.
 */
export function converse(address: Address, bytes: Buffer | string): Promise<Buffer> {
  return converseInParts(address, [bytes], async () => {});
}

/** As `converse`, with `between` awaited after every part but the last. */
export async function converseInParts(
  address: Address,
  parts: readonly (Buffer | string)[],
  between: () => Promise<void>,
): Promise<Buffer> {
  const socket = net.connect("path" in address ? { path: address.path } : { ...address });
  socket.setNoDelay(true);
  const chunks: Buffer[] = [];
  const { promise: closed, resolve, reject } = deferred<void>();
  let connected = false;
  socket.on("connect", () => {
    connected = true;
  });
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", (error) => {
    // A reset after a protocol error is how a server drops what it has not read.
    if (!connected) reject(error);
  });
  socket.on("close", () => resolve());
  for (const [index, part] of parts.entries()) {
    socket.write(typeof part === "string" ? Buffer.from(part, "latin1") : part);
    if (index < parts.length - 1) await between();
  }
  socket.end();
  if (!(await within(closed, TIMEOUT_MS))) {
    socket.destroy();
    const sent = parts.map((part) => part.toString("latin1")).join("");
    throw new Error(`not closed ${TIMEOUT_MS} ms after ${JSON.stringify(sent.slice(0, 200))}`);
  }
  return Buffer.concat(chunks);
}

export function deferred<T>(): {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** True if the promise settles in time; its rejection passes through. */
export async function within(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
