/**
 * The judge judged: two servers with canned replies, so that a comparison that cannot fail, or that
 * excuses too much, shows.
 */
import assert from "node:assert/strict";
import net from "node:net";
import { after, test } from "node:test";
import { FrameReader, itemsOf, parseReply, textOf } from "../support/resp-parser.ts";
import { allowed } from "./allowlist.ts";
import { apartMs, lastedMs, ruleFor, type Side, type Span } from "./compare.ts";
import { Differential, type Mode } from "./runner.ts";
import { isStateless, parseCorpus, splitArguments } from "./script.ts";

const servers: net.Server[] = [];
after(() => {
  for (const server of servers) server.close();
});

/** Answers each request by name; "" is silence for ever, "close" closes. */
async function canned(replies: Record<string, string>): Promise<net.AddressInfo> {
  const server = net.createServer((socket) => {
    const reader = new FrameReader();
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      reader.push(chunk);
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
        const name = textOf(itemsOf(frame.reply)[0] ?? frame.reply);
        const reply = replies[name] ?? "+OK\r\n";
        if (reply === "close") socket.end();
        else socket.write(reply, "latin1");
      }
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server.address() as net.AddressInfo;
}

/** Longer than a machine stands still. */
const SILENCE_MS = 3000;

async function compare(
  line: string,
  redis: string,
  ours: string,
  mode: Mode = "step",
): Promise<number> {
  const name = splitArguments(line)[0] ?? "";
  const addresses = [await canned({ [name]: redis }), await canned({ [name]: ours })];
  const [first, second] = addresses.map(({ port }) => ({ host: "127.0.0.1", port }));
  assert.ok(first && second);
  const differential = new Differential(first, second, 2, SILENCE_MS);
  const [one] = parseCorpus("judged", `PING\n${line}\nECHO x`);
  assert.ok(one);
  const found = await differential.run(one, mode);
  differential.close();
  for (const { line: where } of found) assert.ok(where === line || where === "ECHO x");
  return found.length;
}

test("equal bytes agree and any other byte is found, in every mode", async () => {
  for (const mode of ["step", "pipeline", "spread"] as const) {
    assert.equal(await compare("GET k", "$1\r\nv\r\n", "$1\r\nv\r\n", mode), 0);
    assert.equal(await compare("GET k", "$1\r\nv\r\n", "$1\r\nw\r\n", mode), 1);
    assert.equal(await compare("GET k", "$-1\r\n", "*-1\r\n", mode), 1);
    assert.equal(await compare("GET k", "$-1\r\n", "$0\r\n\r\n", mode), 1);
    assert.equal(await compare("GET k", "-ERR a\r\n", "-ERR A\r\n", mode), 1);
    assert.equal(await compare("GET k", "+OK\r\n", "$2\r\nOK\r\n", mode), 1);
  }
});

test("closing and silence are outcomes that must agree too", async () => {
  assert.equal(await compare("QUIT", "close", "close"), 0);
  assert.equal(await compare("QUIT", "+OK\r\n", "close"), 2);
  assert.equal(await compare("QUIT", "close", "+OK\r\n"), 2);
  assert.equal(await compare("GET k", "+OK\r\n", ""), 2);
  assert.equal(await compare("GET k", "+OK\r\n", "HTTP/1.1 200\r\n"), 2);
});

/** Our commands were at work half a second after the others, each within the millisecond. */
const APART: readonly [Span[], Span[]] = [
  [0, 100, 200].map((ms) => ({ fromMs: ms, toMs: ms })),
  [0, 600, 700].map((ms) => ({ fromMs: ms, toMs: ms })),
];

function check(line: string, redis: string, ours: string, spans = APART): boolean {
  const side = (raw: string, of: Span[]): Side => {
    const reply = parseReply(Buffer.from(raw, "latin1"));
    return { reply, addresses: ["127.0.0.1:1"], spans: of };
  };
  return ruleFor(line)?.same(side(redis, spans[0]), side(ours, spans[1])) ?? false;
}

test("times may differ by what the commands were apart, and no more", () => {
  assert.equal(apartMs(...APART), 1000);
  assert.equal(lastedMs(...APART), 700);
  const spans = (...ms: number[]): Span[] => ms.map((at) => ({ fromMs: at, toMs: at }));
  // The making of the database counts only where clocks may be late; the widest only once.
  assert.equal(apartMs(spans(0, 5), spans(100, 5)), 0);
  assert.equal(apartMs(spans(0, 5, 6, 7), spans(0, 8, 7, 9)), 3 + 2);
  const wide = [{ fromMs: 10, toMs: 30 }];
  assert.equal(apartMs([...spans(0), ...wide], spans(0, 20)), 10);
  assert.equal(apartMs([...spans(0), ...wide], spans(0, 12)), 18);
  const pair = (apart: number): [Span[], Span[]] => [spans(0, 5), spans(0, 5 + apart)];
  assert.equal(check("PTTL K", ":1003\r\n", ":1000\r\n", pair(3)), true);
  assert.equal(check("PTTL K", ":1004\r\n", ":1000\r\n", pair(3)), false);
  assert.equal(check("TTL K", ":11\r\n", ":10\r\n", pair(3)), true);
  assert.equal(check("TTL K", ":12\r\n", ":10\r\n", pair(3)), false);
  assert.equal(check("TTL K", ":11\r\n", ":10\r\n", pair(0)), false);
  assert.equal(check("OBJECT IDLETIME K", ":11\r\n", ":10\r\n", pair(0)), true);
  assert.equal(check("OBJECT IDLETIME K", ":12\r\n", ":10\r\n", pair(0)), false);
  assert.equal(check("OBJECT IDLETIME K", ":12\r\n", ":10\r\n", pair(999)), true);
  const far = ":9223372036854775807\r\n";
  assert.equal(check("PEXPIRETIME K", far, ":9223372036854774784\r\n", pair(0)), true);
  assert.equal(check("PEXPIRETIME K", far, ":9223372036854773760\r\n", pair(0)), false);
});

test("rules excuse what they name and nothing more", () => {
  assert.equal(check("TTL K", ":100\r\n", ":99\r\n"), true);
  assert.equal(check("TTL K", ":100\r\n", ":98\r\n"), false);
  assert.equal(check("TTL K", ":-1\r\n", ":-2\r\n"), false);
  assert.equal(check("TTL K", ":1\r\n", ":-1\r\n"), false);
  assert.equal(check("TTL K", ":1\r\n", "$1\r\n1\r\n"), false);
  assert.equal(check("TTL K", ":1\r\n", "-ERR\r\n"), false);
  assert.equal(check("KEYS *", "*2\r\n+a\r\n+b\r\n", "*2\r\n+b\r\n+a\r\n"), true);
  assert.equal(check("KEYS *", "*2\r\n+a\r\n+b\r\n", "*2\r\n+a\r\n+a\r\n"), false);
  assert.equal(check("KEYS *", "*1\r\n+a\r\n", "*2\r\n+a\r\n+a\r\n"), false);
  assert.equal(check("RANDOMKEY", "$1\r\na\r\n", "$-1\r\n"), false);
  assert.equal(check("CLIENT ID", ":5\r\n", ":7\r\n"), true);
  assert.equal(check("CLIENT ID", ":5\r\n", "$1\r\n7\r\n"), false);
  assert.equal(check("HELLO", "*2\r\n$2\r\nid\r\n:1\r\n", "*2\r\n$2\r\nid\r\n:9\r\n"), true);
  assert.equal(check("HELLO", "*2\r\n$4\r\nmode\r\n:1\r\n", "*2\r\n$4\r\nmode\r\n:9\r\n"), false);
  const client = (text: string): string => `$${text.length}\r\n${text}\r\n`;
  const line = "id=1 addr=127.0.0.1:1 name=a db=0 resp=2\n";
  const other = "id=9 addr=127.0.0.1:7 name=z db=0 resp=2\n";
  assert.equal(
    check("CLIENT LIST", client(line), client(line.replace("id=1", "id=4") + other)),
    true,
  );
  assert.equal(check("CLIENT LIST", client(line), client(line.replace("db=0", "db=1"))), false);
  assert.equal(check("CLIENT LIST", client(line), client(other)), false);
  assert.equal(ruleFor("GET K"), undefined);
});

test("the allowlist wants the newer reply and not just another one", () => {
  const [one] = parseCorpus("judged", "CLIENT SETINFO FOO bar");
  const step = one?.steps[0];
  assert.ok(step);
  const say = (raw: string): boolean => allowed(step, parseReply(Buffer.from(raw)));
  assert.equal(say("-ERR Unrecognized option 'FOO'\r\n"), true);
  assert.equal(say("-ERR Unrecognized option 'BAR'\r\n"), false);
  assert.equal(say("+OK\r\n"), false);
});

test("the notation of the corpora", () => {
  assert.deepEqual(splitArguments(String.raw`SET "a b\x00\"\\" 'c\n' ""`), [
    "SET",
    'a b\x00"\\',
    "c\\n",
    "",
  ]);
  assert.throws(() => splitArguments('GET "a'));
  const cases = parseCorpus("t", "# One.\nGET a\n2> GET b\n\nSET a 1\nGET a\n\n");
  assert.deepEqual(
    cases.map((one) => [one.name, one.steps.map((step) => step.connection), isStateless(one)]),
    [
      ["t: One.", [1, 2], false],
      ["t: SET a 1", [1, 1], true],
    ],
  );
});
