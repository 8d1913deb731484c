/**
 * Reads RESP2 and RESP3 replies and keeps, beside each parsed reply, the exact bytes it came in.
 *
 * The scanner is resumable: it remembers how far it has come and how many elements are still owed,
 * so that a reply in many packets is scanned once. Nesting needs no stack for that, since an
 * aggregate of n elements only adds n to what is owed:
 *
 *   *2 CRLF      owed 1 -> 0 + 2
 *   :1 CRLF      owed 2 -> 1
 *   $3 CRLF foo  owed 1 -> 0     the frame ends here
 */

export type ScalarMark = "+" | "-" | ":" | "$" | "_" | "#" | "," | "(" | "!" | "=";
export type AggregateMark = "*" | "%" | "~" | ">";

/** A scalar's `value` is its payload, one character per byte; null for `$-1`, `*-1` and `_`. */
export type Reply =
  | { mark: ScalarMark; value: string | null }
  | { mark: AggregateMark; items: Reply[] | null; attributes?: Reply[] };

export type Frame = { raw: Buffer; reply: Reply };

export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

const CR = 13;
const LF = 10;
const ATTRIBUTE = "|";
const SCALARS = "+-:$_#,(!=";
const AGGREGATES = "*%~>|";

export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  #scannedTo = 0;
  #owed = 1;
  /** Bytes that must be there before scanning on makes sense. */
  #wanted = 1;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** Bytes received that belong to no complete frame yet. */
  pending(): Buffer {
    return this.#joined();
  }

  next(): Frame | undefined {
    if (this.#size < this.#wanted) return undefined;
    const data = this.#joined();
    while (this.#owed > 0) {
      if (!this.#scanElement(data)) return undefined;
    }
    const raw = data.subarray(0, this.#scannedTo);
    const rest = data.subarray(this.#scannedTo);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#scannedTo = 0;
    this.#owed = 1;
    this.#wanted = 1;
    return { raw, reply: parseReply(raw) };
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks, this.#size)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  /** True if one more element is there entirely. */
  #scanElement(data: Buffer): boolean {
    const lineEnd = data.indexOf("\r\n", this.#scannedTo, "latin1");
    if (lineEnd < 0) {
      this.#wanted = data.length + 1;
      return false;
    }
    const mark = String.fromCharCode(data[this.#scannedTo] ?? 0);
    let end = lineEnd + 2;
    let elements = 0;
    if (mark === "$" || mark === "!" || mark === "=") {
      const length = lengthOf(data, this.#scannedTo, lineEnd);
      if (length >= 0) end += length + 2;
    } else if (AGGREGATES.includes(mark)) {
      const count = Math.max(0, lengthOf(data, this.#scannedTo, lineEnd));
      // An attribute comes before the element that it describes, so that one stays owed.
      elements = mark === "%" ? 2 * count : mark === ATTRIBUTE ? 2 * count + 1 : count;
    } else if (!SCALARS.includes(mark)) {
      const shown = JSON.stringify(data.toString("latin1", this.#scannedTo, lineEnd).slice(0, 80));
      throw new ReplyError(`not a RESP reply: ${shown}`);
    }
    if (end > data.length) {
      this.#wanted = end;
      return false;
    }
    this.#scannedTo = end;
    this.#owed += elements - 1;
    return true;
  }
}

function lengthOf(data: Buffer, start: number, lineEnd: number): number {
  const text = data.toString("latin1", start + 1, lineEnd);
  if (!/^(?:-1|\d+)$/.test(text)) throw new ReplyError(`bad length ${JSON.stringify(text)}`);
  return Number(text);
}

/** Parses one complete frame and checks its terminators. */
export function parseReply(raw: Buffer): Reply {
  const cursor = { at: 0 };
  const reply = parseAt(raw, cursor);
  if (cursor.at !== raw.length) throw new ReplyError("bytes after the end of a reply");
  return reply;
}

function parseAt(raw: Buffer, cursor: { at: number }): Reply {
  const mark = String.fromCharCode(raw[cursor.at] ?? 0);
  const lineEnd = raw.indexOf("\r\n", cursor.at, "latin1");
  const line = raw.toString("latin1", cursor.at + 1, lineEnd);
  cursor.at = lineEnd + 2;
  if (mark === ATTRIBUTE) {
    const attributes = parseItems(raw, cursor, 2 * Number(line));
    const described = parseAt(raw, cursor);
    return "items" in described ? { ...described, attributes } : described;
  }
  if (AGGREGATES.includes(mark)) {
    const count = Number(line);
    if (count < 0) return { mark: mark as AggregateMark, items: null };
    const items = parseItems(raw, cursor, mark === "%" ? 2 * count : count);
    return { mark: mark as AggregateMark, items };
  }
  if (mark === "_") return { mark: "_", value: null };
  if (mark !== "$" && mark !== "!" && mark !== "=") {
    return { mark: mark as ScalarMark, value: line };
  }
  const length = Number(line);
  if (length < 0) return { mark, value: null };
  const end = cursor.at + length;
  if (raw[end] !== CR || raw[end + 1] !== LF) throw new ReplyError("bulk without its CRLF");
  const value = raw.toString("latin1", cursor.at, end);
  cursor.at = end + 2;
  return { mark, value };
}

function parseItems(raw: Buffer, cursor: { at: number }, count: number): Reply[] {
  const items: Reply[] = [];
  for (let i = 0; i < count; i++) items.push(parseAt(raw, cursor));
  return items;
}

/** The payload of a scalar that must not be null and not be an error. */
export function textOf(reply: Reply): string {
  if ("items" in reply || reply.value === null || reply.mark === "-" || reply.mark === "!") {
    throw new ReplyError(`expected text, got ${show(reply)}`);
  }
  return reply.mark === "=" ? reply.value.slice(4) : reply.value;
}

export function integerOf(reply: Reply): number {
  if (reply.mark !== ":") throw new ReplyError(`expected an integer, got ${show(reply)}`);
  return Number(reply.value);
}

/** The elements of an array, set, push or (flat) map. */
export function itemsOf(reply: Reply): Reply[] {
  if (!("items" in reply) || reply.items === null) {
    throw new ReplyError(`expected elements, got ${show(reply)}`);
  }
  return reply.items;
}

export function textsOf(reply: Reply): string[] {
  return itemsOf(reply).map(textOf);
}

/** The text of an error reply, without its mark. */
export function errorOf(reply: Reply): string {
  if ((reply.mark !== "-" && reply.mark !== "!") || reply.value === null) {
    throw new ReplyError(`expected an error, got ${show(reply)}`);
  }
  return reply.value;
}

/** One line for messages and snapshots: `*[$"a" :1 _]`. */
export function show(reply: Reply): string {
  if ("items" in reply) {
    if (reply.items === null) return `${reply.mark}nil`;
    const attributes = reply.attributes ? `|[${reply.attributes.map(show).join(" ")}]` : "";
    return `${attributes}${reply.mark}[${reply.items.map(show).join(" ")}]`;
  }
  if (reply.value === null) return reply.mark === "_" ? "_" : `${reply.mark}nil`;
  const quoted = reply.mark === "$" || reply.mark === "!" || reply.mark === "=";
  return reply.mark + (quoted ? JSON.stringify(reply.value) : reply.value);
}
