/**
 * A small RESP2 client for the bench's own questions: INFO, DBSIZE, CONFIG, PING.
 *
 * Requests are answered in order; an error reply rejects. Not for load: see `generator.ts`.
 */

import { connect, type Socket } from "node:net";
import { requestText } from "../src/protocol/test-request.ts";
import { figure, MissingFigure } from "./stats.ts";

export type Reply = string | number | null | Reply[];

class ReplyError extends Error {}

interface Parsed {
  readonly reply: Reply | ReplyError;
  readonly end: number;
}

/** One reply out of `text` from `start`, or undefined while it is not complete. */
function parseReply(text: string, start: number): Parsed | undefined {
  const lineEnd = text.indexOf("\r\n", start);
  if (lineEnd < 0) return undefined;
  const line = text.slice(start + 1, lineEnd);
  const next = lineEnd + 2;
  switch (text[start]) {
    case "+":
      return { reply: line, end: next };
    case "-":
      return { reply: new ReplyError(line), end: next };
    case ":":
      return { reply: Number(line), end: next };
    case "$": {
      const length = Number(line);
      if (length < 0) return { reply: null, end: next };
      if (text.length < next + length + 2) return undefined;
      return { reply: text.slice(next, next + length), end: next + length + 2 };
    }
    case "*": {
      const items: Reply[] = [];
      let position = next;
      for (let i = 0; i < Number(line); i++) {
        const item = parseReply(text, position);
        if (item === undefined) return undefined;
        items.push(item.reply instanceof ReplyError ? item.reply.message : item.reply);
        position = item.end;
      }
      return { reply: items, end: position };
    }
    default:
      throw new Error(`not a RESP2 reply: ${JSON.stringify(text.slice(start, start + 40))}`);
  }
}

export function encode(args: readonly string[]): Buffer {
  return Buffer.from(requestText(args), "latin1");
}

interface Waiter {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

export class Control {
  readonly #socket: Socket;
  readonly #waiters: Waiter[];
  #buffered: string;
  #ended: Error | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#waiters = [];
    this.#buffered = "";
    this.#ended = undefined;
    socket.setEncoding("latin1");
    socket.on("data", (chunk: Buffer | string) => this.#receive(chunk as string));
    socket.on("error", (error) => this.#end(error));
    socket.on("close", () => this.#end(new Error("the server closed the connection")));
  }

  static connect(port: number, host = "127.0.0.1"): Promise<Control> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host, noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new Control(socket));
      });
    });
  }

  call(...args: readonly string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#waiters.push({ resolve, reject });
      this.#socket.write(encode(args));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: string): void {
    this.#buffered += chunk;
    let position = 0;
    for (;;) {
      const parsed = parseReply(this.#buffered, position);
      if (parsed === undefined) break;
      position = parsed.end;
      const waiter = this.#waiters.shift();
      if (parsed.reply instanceof ReplyError) waiter?.reject(parsed.reply);
      else waiter?.resolve(parsed.reply);
    }
    this.#buffered = this.#buffered.slice(position);
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#ended);
  }
}

export type Info = ReadonlyMap<string, string>;

/** The `name:value` lines of INFO. */
export function parseInfo(text: string): Info {
  const fields = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0 && !line.startsWith("#")) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

export async function info(control: Control, ...sections: readonly string[]): Promise<Info> {
  const text = await control.call("INFO", ...sections);
  if (typeof text !== "string") throw new MissingFigure(`INFO ${sections.join(" ")}`);
  return parseInfo(text);
}

export function infoNumber(fields: Info, name: string): number {
  return figure(`INFO ${name}`, fields.get(name));
}

/** Calls of one command so far, by the server's own count; 0 before the first. */
export async function commandCalls(control: Control, command: string): Promise<number> {
  const fields = await info(control, "commandstats");
  const stats = fields.get(`cmdstat_${command.toLowerCase()}`);
  if (stats === undefined) return 0;
  return figure(`cmdstat_${command} calls`, /(?:^|,)calls=(\d+)/.exec(stats)?.[1]);
}

/** Bytes by which two looks may differ and still count as settled: buffers of this connection. */
const SETTLED_WITHIN = 4096;

/** Waits until two looks in a row agree, so that lazy work of a load or a flush is over. */
export async function settledInfo(control: Control, field: string): Promise<Info> {
  let previous = Number.NaN;
  for (let look = 0; look < 100; look++) {
    const fields = await info(control);
    const now = infoNumber(fields, field);
    if (Math.abs(now - previous) <= SETTLED_WITHIN) return fields;
    previous = now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new MissingFigure(`${field} did not settle within 5 s`);
}
