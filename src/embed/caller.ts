/**
 * Runs calls for one view of a handle: begin, add words, run, read the reply. Everything is reused,
 * so a call makes nothing but what it returns.
 */
import { OOM } from "../protocol/errors.ts";
import { StoreError } from "./errors.ts";
import { ReplyReader } from "./reader.ts";
import { refusalOf } from "./refusals.ts";
import { type CommandName, RequestWriter } from "./request.ts";
import { StoreSession } from "./session.ts";
import type { StoreThread } from "./store-thread.ts";
import type { Word } from "./types.ts";

export class Caller {
  readonly thread: StoreThread;
  readonly session: StoreSession;
  readonly reader: ReplyReader;
  private readonly request: RequestWriter;

  constructor(thread: StoreThread, db: number) {
    const { server, clientId: id, clientRow: row } = thread;
    this.thread = thread;
    this.session = new StoreSession(server, { id, row, db });
    const work = <T>(run: () => T): T => thread.work(run);
    this.reader = new ReplyReader(thread.reply, work);
    const { memory, store } = server;
    this.request = new RequestWriter(store.heap, work, (bytes) => memory.admitArgument(bytes));
  }

  begin(name: CommandName): void {
    this.request.begin(name);
  }

  add(word: Word): void {
    this.request.add(word);
  }

  /** Runs a command that answers with an integer. */
  integer(name: CommandName, ...words: Word[]): number | bigint {
    this.begin(name);
    for (const word of words) this.request.add(word);
    this.run();
    return this.reader.integer();
  }

  /** Runs a command; its reply, with bytes for strings if `asBuffers`. */
  reply(name: CommandName, asBuffers: boolean, words: readonly Word[]): unknown {
    this.begin(name);
    for (const word of words) this.request.add(word);
    this.run();
    return this.reader.value(asBuffers);
  }

  /** Runs what was written; the reader has the reply then. */
  run(): void {
    const { request, thread } = this;
    if (request.isSpecial) this.runSpecial();
    else thread.run(this.session, request.args);
  }

  /** As `run`, for a command that no time bears on but that of its key's expiry. */
  runTimeless(): void {
    const { request, thread } = this;
    if (request.isSpecial) this.runSpecial();
    else thread.runTimeless(this.session, request.args);
  }

  private runSpecial(): void {
    const { request, thread } = this;
    try {
      if (request.outOfMemory) {
        thread.attend();
        throw new StoreError(OOM);
      }
      thread.run(this.session, request.args);
    } finally {
      request.finish();
    }
  }

  /** Any command. */
  call(name: string, words: readonly Word[], asBuffers: boolean): unknown {
    const { request, thread } = this;
    if (typeof name === "string" && name.includes(" ")) throw new TypeError(severalWords(name));
    request.beginUnnamed();
    request.add(name);
    for (const word of words) request.add(word);
    const refusal = refusalOf(thread.server.commands, request.args);
    if (refusal !== null) {
      request.finish();
      throw new StoreError(refusal);
    }
    thread.server.dispatcher.count();
    this.run();
    return this.reader.value(asBuffers);
  }
}

function severalWords(line: string): string {
  const words = line.split(" ").map((word) => JSON.stringify(word));
  return `a command and its arguments are words of their own: call(${words.join(", ")})`;
}
