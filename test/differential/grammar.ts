/**
 * Makes calls of commands from the argument grammar that a redis-server itself declares in COMMAND
 * DOCS, so that every option of every command occurs without being listed here. Most calls are
 * valid; some are spoilt on purpose.
 *
 * Expiries are far away and each differs from every other by at least 100 seconds, so that neither
 * the time between two servers nor the order of GT and LT comparisons can depend on the clock.
 */

import { sealPayload } from "../support/payload.ts";
import type { Random } from "../support/random.ts";
import type { RespClient } from "../support/resp.ts";
import { itemsOf, type Reply, textOf } from "../support/resp-parser.ts";

export type Syntax = {
  name: string;
  type: string;
  token: string | undefined;
  flags: readonly string[];
  arguments: readonly Syntax[];
};

export type CommandSyntax = { words: readonly string[]; arguments: readonly Syntax[] };

/** A field of a RESP3 map. */
function field(map: Reply, name: string): Reply | undefined {
  const items = itemsOf(map);
  for (let i = 0; i < items.length; i += 2) {
    if (textOf(items[i] as Reply) === name) return items[i + 1];
  }
  return undefined;
}

function readSyntax(argument: Reply): Syntax {
  const token = field(argument, "token");
  const flags = field(argument, "flags");
  const inner = field(argument, "arguments");
  return {
    name: textOf(field(argument, "name") as Reply),
    type: textOf(field(argument, "type") as Reply),
    token: token === undefined ? undefined : textOf(token),
    flags: flags === undefined ? [] : itemsOf(flags).map(textOf),
    arguments: inner === undefined ? [] : itemsOf(inner).map(readSyntax),
  };
}

/** `client` must speak RESP3. A subcommand is named "object encoding". */
export async function readGrammar(
  client: RespClient,
  names: readonly string[],
): Promise<CommandSyntax[]> {
  const commands: CommandSyntax[] = [];
  for (const name of names) {
    const words = name.split(" ");
    const { reply } = await client.call("COMMAND", "DOCS", words.join("|"));
    const [, docs] = itemsOf(reply);
    if (docs === undefined) throw new Error(`COMMAND DOCS does not know ${name}`);
    const declared = field(docs, "arguments");
    commands.push({
      words,
      arguments: declared === undefined ? [] : itemsOf(declared).map(readSyntax),
    });
  }
  return commands;
}

const KEYS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const ODD_KEYS = ["", "\x00k\r\n", "{a}1", "\xff"];

const VALUES = [
  "",
  "0",
  "1",
  "-1",
  "10",
  "12345",
  "9999",
  "10000",
  "2147483647",
  "-2147483649",
  "9007199254740993",
  "9223372036854775807",
  "-9223372036854775808",
  "9223372036854775808",
  "00",
  "01",
  "+1",
  "-0",
  " 1",
  "1 ",
  "3.0",
  "0.1",
  "-2.5",
  "1e3",
  "5.0e3",
  "1e17",
  "inf",
  "nan",
  "text",
  "Hello World",
  "\x00\xff\r\n",
  "x".repeat(44),
  "x".repeat(45),
  "y".repeat(300),
];

/** Values that mean no time in the near future, whatever its unit. */
const LONG_TIMES = VALUES.filter((value) => !/^[1-9]\d{0,12}$/.test(value));

const FLOATS = ["1", "0.1", "-0.3", "1.5", "1e3", "1e-5", "3.0e2", "100.25", "-7", "abc", "nan"];
const PATTERNS = ["*", "a*", "?", "[a-d]", "[^a]", "nothing", "*b*", "\\*", "{a}*", ""];
const SMALL_NUMBERS = ["0", "1", "2", "3", "-1", "5", "-5", "10", "-10", "40", "43", "44", "45"];
const ODD_NUMBERS = ["abc", "", "1.5", " 1", "01", "9223372036854775808", "-9223372036854775808"];
/** Payloads for RESTORE: strings of every form, and what is none. */
const PAYLOADS: readonly string[] = [
  ...["\x00\x05hello", "\x00\x00", "\x00\xc0\x0a", "\x00\xc1\xd4\xfe", "\x00\xc2\xff\xff\xff\x7f"],
  "\x00\x14-9223372036854775808",
  "\x00\xc3\x09\x28\x01aa\xe0\x1b\x00\x01aa",
  "\x00\xc3\x09\x29\x01aa\xe0\x1b\x00\x01aa",
  "\x00\x82",
].map((body) => sealPayload(Buffer.from(body, "latin1")).toString("latin1"));

/** Texts whose meaning is told by the name of the argument. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  "serialized-value": [...PAYLOADS, ...PAYLOADS, "", "no payload", "x".repeat(20)],
  parameter: [
    "tcp-keepalive",
    "slowlog-max-len",
    "TIMEOUT",
    "lfu-log-factor",
    "nosuch",
    "",
    "databases",
  ],
  section: ["server", "Clients", "keyspace", "all", "default", "everything", "nosuch", "cpu", ""],
  "connection-name": ["", "n", "a-name", "two words", "\x7f"],
  // Of HELLO: valid ones only, as below.
  clientname: ["", "n", "a-name"],
  type: ["string", "STRING", "hash", "nosuch", ""],
  username: ["default", "nobody", ""],
  password: ["", "secret"],
  event: ["command", "fork", "nosuch", ""],
  protover: ["2", "3", "3", "1", "4", "abc", ""],
  "client-id": ["0", "-1", "9999999", "abc"],
};

const JUNK = ["FOO", "NX", "XX", "GT", "LT", "EX", "PX", "GET", "KEEPTTL", "PERSIST", "REPLACE"];

/** Of the calls, how many are of connections and the server. */
const OTHERS_SHARE = 0.15;

export class CallMaker {
  readonly #random: Random;
  readonly #data: readonly CommandSyntax[];
  readonly #others: readonly CommandSyntax[];
  readonly #nowSeconds: number;
  #expiries = 0;

  /** Most calls are of `data`, some of `others`. */
  constructor(
    random: Random,
    data: readonly CommandSyntax[],
    others: readonly CommandSyntax[],
    nowSeconds: number,
  ) {
    this.#random = random;
    this.#data = data;
    this.#others = others;
    this.#nowSeconds = nowSeconds;
  }

  next(): string[] {
    const random = this.#random;
    const from = random.chance(OTHERS_SHARE) ? this.#others : this.#data;
    const syntax = random.pick(from);
    if (/^flush/.test(syntax.words[0] ?? "") && random.chance(0.9)) return this.next();
    const words = syntax.words.map((word) => this.#anyCase(word));
    if (/^getkeys/.test(syntax.words[1] ?? "")) {
      const call = this.next();
      // 7.2 takes a command without arguments.
      return [...words, ...call, ...(call.length === 1 ? [random.pick(KEYS)] : [])];
    }
    const args = syntax.arguments.flatMap((argument) => this.#argument(argument, syntax));
    // 7.4 reads all of HELLO before it looks at the password, 7.0 does not.
    if (random.chance(0.1) && syntax.words[0] !== "hello") this.#spoil(args, syntax);
    // Names of clients have a bound here, and 7.4 looks at them up to a zero byte only.
    if (/^(client|hello)$/.test(syntax.words[0] ?? "")) {
      args.forEach((arg, i) => (args[i] = arg.slice(0, 200).replaceAll("\x00", "")));
    }
    // Only a page that holds all keys can be compared.
    if (syntax.words[0] === "scan") args.push("COUNT", "1000");
    return [...words, ...args];
  }

  #argument(syntax: Syntax, command: CommandSyntax): string[] {
    const random = this.#random;
    if (syntax.flags.includes("optional") && random.chance(0.65)) return [];
    const times = syntax.flags.includes("multiple") ? random.between(1, 3) : 1;
    const out: string[] = [];
    for (let i = 0; i < times; i++) {
      const isFirst = i === 0 || syntax.flags.includes("multiple_token");
      if (syntax.token !== undefined && isFirst) out.push(this.#anyCase(syntax.token));
      out.push(...this.#value(syntax, command));
    }
    return out;
  }

  #value(syntax: Syntax, command: CommandSyntax): string[] {
    const random = this.#random;
    const named = NAMED[syntax.name];
    if (named !== undefined && syntax.type !== "oneof") return [random.pick(named)];
    switch (syntax.type) {
      case "key":
        return [random.chance(0.95) ? random.pick(KEYS) : random.pick(ODD_KEYS)];
      case "pure-token":
        return [];
      case "oneof":
        return this.#argument(random.pick(syntax.arguments), command);
      case "block":
        return syntax.arguments.flatMap((inner) => this.#argument(inner, command));
      case "integer":
        return [this.#integer(syntax.name, command)];
      case "unix-time":
        return [this.#unixTime(syntax.name, command)];
      case "double":
        return [random.pick(FLOATS)];
      case "pattern":
        return [random.pick(PATTERNS)];
      default:
        return [random.chance(0.9) ? random.pick(VALUES) : String(random.between(-500, 500))];
    }
  }

  #integer(name: string, command: CommandSyntax): string {
    const random = this.#random;
    if (command.words[0] === "scan") return name === "cursor" ? "0" : "1000";
    if (random.chance(0.05)) return random.pick(ODD_NUMBERS);
    if (/seconds/.test(name)) {
      if (random.chance(0.05)) return random.pick(["0", "-1", "9223372036854775807"]);
      const seconds = this.#expirySeconds();
      return String(name === "seconds" ? seconds : seconds * 1000);
    }
    if (name === "ttl") return this.#timeToLive();
    if (/db|index/.test(name)) return random.pick(["0", "0", "0", "1", "2", "16", "-1"]);
    if (name === "offset") return random.pick(["0", "1", "5", "43", "44", "100", "-1"]);
    if (/increment|decrement/.test(name)) return random.pick(VALUES);
    return random.pick(SMALL_NUMBERS);
  }

  #unixTime(name: string, command: CommandSyntax): string {
    // SET with a time past leaves the key to the expiry cycle, which comes at no certain moment.
    const past = command.words[0] === "set" ? [] : ["1"];
    if (this.#random.chance(0.05)) return this.#random.pick([...past, "0", "-1", "abc"]);
    const seconds = this.#nowSeconds + this.#expirySeconds();
    return String(/milli/.test(name) ? seconds * 1000 : seconds);
  }

  /** Of RESTORE: milliseconds, which ABSTTL makes a point in time. */
  #timeToLive(): string {
    const random = this.#random;
    if (random.chance(0.3)) return "0";
    const seconds = this.#expirySeconds() + (random.chance(0.5) ? this.#nowSeconds : 0);
    return random.chance(0.9) ? String(seconds * 1000) : random.pick(["-1", ...ODD_NUMBERS]);
  }

  /** Never the same twice: a walk over all multiples of 100 in an order that looks random. */
  #expirySeconds(): number {
    const step = (this.#expiries++ * 7919 + 13) % 99_991;
    return 10_000 + step * 100;
  }

  #anyCase(word: string): string {
    const random = this.#random;
    if (random.chance(0.8)) return word.toUpperCase();
    return [...word].map((c) => (random.chance(0.5) ? c.toUpperCase() : c.toLowerCase())).join("");
  }

  #spoil(args: string[], { words: [name = ""] }: CommandSyntax): void {
    const random = this.#random;
    // Cursors that are not numbers are read otherwise by 7.0.
    const first = name === "scan" ? 1 : 0;
    const at = random.between(first, args.length);
    const other = random.between(first, args.length);
    const ways = [
      () => args.splice(at, 1),
      () => args.splice(at, 0, random.pick(JUNK)),
      () => args.splice(at, 1, random.pick(LONG_TIMES)),
    ];
    // Of what sets a time, no small number may come to the place of the time.
    if (!/^(p?setex|set|getex|p?expire(at)?|restore(-asking)?)$/.test(name)) {
      ways.push(
        () => args.splice(at, 0, ...args.slice(at, at + 1)),
        () => args.splice(at, 1, random.pick(VALUES)),
        () => args.splice(Math.min(at, other), 1, ...args.slice(other, other + 1)),
      );
    }
    random.pick(ways)();
  }
}
