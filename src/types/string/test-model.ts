/**
 * The string commands told as simply as possible, over a Map: what the tests compare the engine
 * with. Texts have one character per byte.
 */

export type ModelEntry = {
  text: string;
  encoding: "int" | "embstr" | "raw";
  /** Unix milliseconds, 0 if it stays. */
  expiryMs: number;
};

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** The integer that a text spells as Redis would print it. */
export function integerOf(text: string): bigint | undefined {
  if (!/^(0|-?[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const n = BigInt(text);
  return n <= INT64_MAX && n >= INT64_MIN ? n : undefined;
}

export class StringModel {
  readonly entries: Map<string, ModelEntry> = new Map();
  now = 0;

  entry(key: string): ModelEntry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiryMs === 0 || this.now <= entry.expiryMs) return entry;
    this.entries.delete(key);
    return undefined;
  }

  text(key: string): string | undefined {
    return this.entry(key)?.text;
  }

  set(key: string, text: string, expiryMs: number): void {
    this.entries.set(key, { text, encoding: encodingOf(text), expiryMs });
  }

  /** What SET KEEPTTL and the counters do. */
  replace(key: string, text: string): void {
    this.set(key, text, this.entry(key)?.expiryMs ?? 0);
  }

  append(key: string, more: string): number {
    const entry = this.entry(key);
    if (entry === undefined) {
      this.set(key, more, 0);
      return more.length;
    }
    entry.text += more;
    entry.encoding = "raw";
    return entry.text.length;
  }

  setRange(key: string, offset: number, part: string): number {
    const entry = this.entry(key);
    const before = entry?.text ?? "";
    if (part === "") return before.length;
    const text =
      before.padEnd(offset, "\0").slice(0, offset) + part + before.slice(offset + part.length);
    this.entries.set(key, { text, encoding: "raw", expiryMs: entry?.expiryMs ?? 0 });
    return text.length;
  }

  getRange(key: string, start: number, end: number): string {
    const text = this.text(key) ?? "";
    if (start < 0 && end < 0 && start > end) return "";
    const from = start < 0 ? Math.max(text.length + start, 0) : start;
    const last = end < 0 ? Math.max(text.length + end, 0) : end;
    return text.slice(from, last + 1);
  }

  /** The sum, or undefined where Redis answers with an error. */
  increment(key: string, amount: bigint): bigint | undefined {
    const value = integerOf(this.text(key) ?? "0");
    if (value === undefined) return undefined;
    const sum = value + amount;
    if (sum > INT64_MAX || sum < INT64_MIN) return undefined;
    this.replace(key, String(sum));
    return sum;
  }
}

function encodingOf(text: string): ModelEntry["encoding"] {
  if (integerOf(text) !== undefined) return "int";
  return text.length <= 44 ? "embstr" : "raw";
}
