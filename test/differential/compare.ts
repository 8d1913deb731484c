/**
 * When two replies count as the same. The rule is byte equality. `rules` lists every command whose
 * reply cannot be equal by its nature, with the reason and what is compared instead; the list of
 * version differences is in `allowlist.ts`.
 */
import { itemsOf, type Reply, show, textOf } from "../support/resp-parser.ts";

/** When a command was at work at the earliest and at the latest, in unix milliseconds. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/** One side of a comparison: the reply and what is needed to judge it. */
export type Side = {
  reply: Reply;
  /** The case's connections as this server sees them, `host:port`. */
  addresses: readonly string[];
  /** First of what made the database empty, then of each command up to this one. */
  spans: readonly Span[];
};

export type Rule = {
  /** Matched against the upper-case command line. */
  command: RegExp;
  reason: string;
  same(oracle: Side, ours: Side): boolean;
};

const CLIENT_FIELDS_KEPT = "name db sub psub ssub multi user redir resp flags cmd".split(" ");

/** Names in COMMAND LIST that came with 7.2 or 7.4. */
const NEWER = new Set(
  (
    "client|no-touch client|setinfo cluster|myshardid cluster|slot-stats hexpire hexpireat hexpiretime hpersist " +
    "hpexpire hpexpireat hpexpiretime hpttl httl waitaof"
  ).split(" "),
);

export const rules: readonly Rule[] = [
  {
    command: /^TIME$/,
    reason: "the clock runs on between the two calls",
    same: byText((reply) => itemsOf(reply).map((item) => textOf(item).replace(/^\d+$/, "n"))),
  },
  {
    command: /^TTL /,
    reason:
      "the clock runs on; the rounding to seconds may fall on either side; an expiry beyond 2^53 ms " +
      "is kept as a double",
    same: bySpans(1000, apartMs),
  },
  {
    command: /^EXPIRETIME /,
    reason:
      "made from a relative expiry, the two differ by the time between the calls; one beyond 2^53 " +
      "ms is kept as a double",
    same: bySpans(1000, apartMs),
  },
  {
    command: /^(PTTL|PEXPIRETIME) /,
    reason: "the clock runs on between the two calls; an expiry beyond 2^53 ms is kept as a double",
    same: bySpans(1, apartMs),
  },
  {
    command: /^OBJECT IDLETIME /,
    reason: "counted in seconds of each server's own clock, which is late where the machine is",
    same: bySpans(1000, lastedMs),
  },
  {
    command: /^CLIENT ID$/,
    reason: "every server counts its own connections",
    same: byText((reply) => [reply.mark, textOf(reply).replace(/^\d+$/, "n")]),
  },
  {
    command: /^HELLO\b/,
    reason: "names the version, which is ours, and the connection's id",
    same: byText((reply) => hello(reply)),
  },
  {
    command: /^CLIENT (LIST|INFO)\b/,
    reason: "ids, addresses, ages, buffers and fields newer than 7.0 differ; the case's own count",
    same: (oracle, ours) =>
      withError(oracle.reply, ours.reply, () => same(clients(oracle), clients(ours))),
  },
  {
    command: /^RANDOMKEY$/,
    reason: "random by contract",
    same: byText((reply) => [reply.mark, String("value" in reply && reply.value === null)]),
  },
  {
    command: /^KEYS /,
    reason: "the order is that of each server's hash table",
    same: byText((reply) => [reply.mark, ...itemsOf(reply).map(show).sort()]),
  },
  {
    command: /^SCAN (?!0 .*COUNT \d{3})/,
    reason: "what a cursor means, and how much a short page holds, is each server's own",
    same: byText((reply) => [reply.mark, ...itemsOf(reply).map((item) => item.mark)]),
  },
  {
    command: /^SCAN /,
    reason: "the order is each server's own; one page of 100 or more holds all keys of a case",
    same: byText((reply) => {
      const [cursor, keys] = itemsOf(reply);
      return [
        show(cursor as Reply),
        ...itemsOf(keys as Reply)
          .map(show)
          .sort(),
      ];
    }),
  },
  {
    command: /^MEMORY USAGE /,
    reason: "the layout in memory is each server's own",
    same: byText((reply) => [reply.mark, String("value" in reply && Number(reply.value) > 0)]),
  },
  {
    command: /^MEMORY STATS$/,
    reason: "sizes are each server's own; 7.4 has more of them: all of 7.0 must be there",
    same: (oracle, ours) =>
      withError(oracle.reply, ours.reply, () => {
        const names = new Set(memoryStats(ours.reply));
        return memoryStats(oracle.reply).every((name) => names.has(name));
      }),
  },
  {
    command: /^MEMORY (DOCTOR|MALLOC-STATS)$/,
    reason: "texts about each server's own memory",
    same: byText((reply) => [reply.mark, String(textOf(reply).length > 0)]),
  },
  {
    command: /^LASTSAVE$/,
    reason: "when each server was started",
    same: byText((reply) => [reply.mark, String(Number(textOf(reply)) > 1.7e9)]),
  },
  {
    command: /^LOLWUT\b/,
    reason: "the version, and random pictures: their size is compared",
    same: byText((reply) => [
      reply.mark,
      textOf(reply)
        .replace(/ver\. .*/, "ver. n")
        .replace(/\xe2[\xa0-\xa3][\x80-\xbf]/g, "."),
    ]),
  },
  {
    command: /^DEBUG OBJECT /,
    reason: "addresses, sizes and clocks",
    same: byText((reply) => {
      const text = textOf(reply).replace(/at:0x[0-9a-f]+/, "at:p");
      return [reply.mark, text.replace(/(serializedlength|lru|lru_seconds_idle):\d+/g, "$1:n")];
    }),
  },
  {
    command: /^CONFIG GET /,
    reason: "the order is that of a hash table seeded at start",
    same: byText((reply) => [reply.mark, ...pairs(reply).sort()]),
  },
  {
    command: /^INFO COMMANDSTATS$/,
    reason: "times are measurements; rows come in the order of a hash table",
    same: byText((reply) =>
      textOf(reply)
        .replace(/usec=\d+,usec_per_call=[\d.]+/g, "usec=n,usec_per_call=n")
        .split("\r\n")
        .sort(),
    ),
  },
  {
    command: /^SLOWLOG GET\b/,
    reason: "ids, times and ports are each server's own: the words and the client's name",
    same: byText((reply) =>
      itemsOf(reply).map((entry) => {
        const [, , , words, , name] = itemsOf(entry);
        return `${show(words as Reply)} ${show(name as Reply)}`;
      }),
    ),
  },
  {
    command: /^LATENCY (LATEST|HISTORY)\b/,
    reason: "times are measurements: which events there are",
    same: byText((reply) => itemsOf(reply).map((entry) => show(entry).replace(/:\d+/g, ":n"))),
  },
  {
    command: /^LATENCY GRAPH\b/,
    reason: "times are measurements",
    same: byText((reply) => [textOf(reply).replace(/\d+/g, "n")]),
  },
  {
    command: /^LATENCY DOCTOR$/,
    reason:
      "times are measurements, and not all of Redis's advice helps here: what comes before it",
    same: byText((reply) => [
      textOf(reply)
        .replace(/[\d.]+/g, "n")
        .replace(/\n\nI have a few advices[\s\S]*/, ""),
    ]),
  },
  {
    command: /^LATENCY HISTOGRAM\b/,
    reason: "times are measurements, the order is that of a hash table: commands and their calls",
    same: byText((reply) => pairs(reply).map(callsOf).sort()),
  },
  {
    command: /^INFO LATENCYSTATS$/,
    reason: "times are measurements; rows come in the order of a hash table",
    same: byText((reply) =>
      textOf(reply)
        .replace(/(p[\d.]+)=[\d.]+/g, "$1=n")
        .split("\r\n")
        .sort(),
    ),
  },
  {
    command: /^INFO KEYSPACE$/,
    reason: "avg_ttl is an estimate, subexpiry is newer than 7.0",
    same: byText((reply) =>
      textOf(reply)
        .replace(/avg_ttl=\d+/g, "avg_ttl=n")
        .replace(/,subexpiry=\d+/g, "")
        .split("\r\n"),
    ),
  },
  {
    command: /^INFO\b/,
    reason: "measurements and versions; sections and their order are compared",
    same: byText((reply) => [reply.mark, ...(textOf(reply).match(/^# .*/gm) ?? [])]),
  },
  {
    command: /^COMMAND COUNT$/,
    reason: "we have fewer commands",
    same: byText((reply) => [reply.mark, String(Number(textOf(reply)) > 50)]),
  },
  {
    command: /^COMMAND LIST\b/,
    reason: "we have fewer commands, in an order of our own: ours must be among Redis's",
    same: (oracle, ours) =>
      withError(oracle.reply, ours.reply, () => isSubset(ours.reply, oracle.reply)),
  },
  {
    command: /^COMMAND GETKEYSANDFLAGS /,
    reason: "RESP3 sets of flags have no order",
    same: byText((reply) =>
      itemsOf(reply).map((pair) => {
        const [key, flags] = itemsOf(pair);
        return (
          show(key as Reply) +
          itemsOf(flags as Reply)
            .map(show)
            .sort()
            .join(" ")
        );
      }),
    ),
  },
];

export function ruleFor(commandLine: string): Rule | undefined {
  return rules.find((rule) => rule.command.test(commandLine));
}

/** Compares texts made of both replies; errors and nulls of either are compared as they are. */
function byText(texts: (reply: Reply) => string[]): Rule["same"] {
  return (oracle, ours) =>
    withError(oracle.reply, ours.reply, () => same(texts(oracle.reply), texts(ours.reply)));
}

/** Beyond it a time in milliseconds has no exact double: just below 2^63 the next is 2^10 away. */
const INEXACT_MS = 2 ** 53;
const INEXACT_BY_MS = 1024;

/**
 * Times in units of `unitMs` may differ by what they can by the clock: `mostMs` of when the
 * commands were at work. In the same millisecond they must be equal.
 */
function bySpans(
  unitMs: number,
  mostMs: (oracle: readonly Span[], ours: readonly Span[]) => number,
): Rule["same"] {
  return (oracle, ours) =>
    withError(oracle.reply, ours.reply, () => {
      const expected = Number(textOf(oracle.reply));
      const actual = Number(textOf(ours.reply));
      if (oracle.reply.mark !== ours.reply.mark) return false;
      if (expected < 0 || actual < 0) return expected === actual;
      const inexactMs = expected * unitMs >= INEXACT_MS ? INEXACT_BY_MS : 0;
      const most = Math.ceil((mostMs(oracle.spans, ours.spans) + inexactMs) / unitMs);
      return Math.abs(expected - actual) <= most;
    });
}

/**
 * Most by which the times of the last command on the two sides differ, with the most of any command
 * before, which may have made the time that is asked for.
 */
export function apartMs(oracle: readonly Span[], ours: readonly Span[]): number {
  let before = 0;
  let last = 0;
  for (let i = 1; i < oracle.length; i++) {
    const one = oracle[i] as Span;
    const other = ours[i] as Span;
    before = Math.max(before, last);
    last = Math.max(one.toMs - other.fromMs, other.toMs - one.fromMs);
  }
  return before + last;
}

/** From the empty database to the end of this command. */
export function lastedMs(oracle: readonly Span[], ours: readonly Span[]): number {
  const all = [...oracle, ...ours];
  const from = Math.min(...all.map((span) => span.fromMs));
  return Math.max(...all.map((span) => span.toMs)) - from;
}

/** Errors and nulls must be equal; only for other replies `otherwise` decides. */
function withError(oracle: Reply, ours: Reply, otherwise: () => boolean): boolean {
  if (isPlain(oracle) || isPlain(ours)) return show(oracle) === show(ours);
  return oracle.mark === ours.mark && otherwise();
}

function isPlain(reply: Reply): boolean {
  if (reply.mark === "-" || reply.mark === "!") return true;
  return "items" in reply ? reply.items === null : reply.value === null;
}

function same(oracle: readonly string[], ours: readonly string[]): boolean {
  return oracle.length === ours.length && oracle.every((text, i) => text === ours[i]);
}

function pairs(reply: Reply): string[] {
  const items = itemsOf(reply);
  const out: string[] = [];
  for (let i = 0; i < items.length; i += 2) {
    out.push(`${show(items[i] as Reply)} ${show(items[i + 1] as Reply)}`);
  }
  return out;
}

/** Names with the marks of their values; 7.4 has no table from slots to keys. */
function memoryStats(reply: Reply): string[] {
  return pairs(reply).map((pair) =>
    pair
      .replace(/ \$"overhead.hashtable.slot-to-keys" :0/, "")
      .replace(/[-\d.]+(e[-+]\d+)?|inf|nan/g, "n"),
  );
}

/** A command's name and number of calls, of its pair in LATENCY HISTOGRAM. */
function callsOf(pair: string): string {
  return pair.replace(/(:\d+) \$"histogram_usec".*/, "$1");
}

function hello(reply: Reply): string[] {
  return [
    reply.mark,
    ...pairs(reply).map((pair) => pair.replace(/^(\$"(?:version|id)") .*/, "$1 n")),
  ];
}

/** The case's own connections in the order of their ids, with the fields that must agree. */
function clients(side: Side): string[] {
  const lines = textOf(side.reply)
    .split("\n")
    .filter((line) => line !== "");
  const known = lines.map((line) => {
    const fields = line.split(" ").map((field) => /^([^=]*)=(.*)$/.exec(field)?.slice(1) ?? []);
    return new Map(fields.map(([name, value]) => [name ?? "", value ?? ""]));
  });
  return known
    .filter((fields) => side.addresses.includes(fields.get("addr") ?? ""))
    .sort((a, b) => Number(a.get("id")) - Number(b.get("id")))
    .map((fields) => CLIENT_FIELDS_KEPT.map((name) => `${name}=${fields.get(name)}`).join(" "));
}

function isSubset(smaller: Reply, larger: Reply): boolean {
  const names = new Set(itemsOf(larger).map(show));
  return itemsOf(smaller).every((name) => names.has(show(name)) || NEWER.has(textOf(name)));
}
