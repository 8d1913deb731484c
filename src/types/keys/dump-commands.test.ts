/** DUMP and RESTORE: payloads, options, errors, memory that is refused, and mutated payloads. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sealPayload } from "../../../test/support/payload.ts";
import { Random, seedText, testSeed } from "../../../test/support/random.ts";
import { latin1Bytes, toHex } from "../../base/bytes.ts";
import { BUSYKEY, OOM, SYNTAX_ERROR } from "../../protocol/errors.ts";
import { bulk, error, integer, NIL, OK, type TestStore } from "../test-support.ts";
import { keyStore, SHARD_COUNTS } from "./test-keys.ts";

const BAD_PAYLOAD = error("ERR DUMP payload version or checksum are wrong");
const BAD_FORMAT = error("ERR Bad data format");
const NOT_AN_INTEGER = error("ERR value is not an integer or out of range");
const START_MS = 1_700_000_000_000;

/** What DUMP answers, without the frame of the reply. */
function dump(t: TestStore, key: string): Uint8Array {
  const reply = t.callBytes("DUMP", key);
  const start = reply.indexOf(10) + 1;
  return reply.slice(start, -2);
}

/** Type and value, given in hex, with a footer. */
function payload(hex: string, version = 10): Uint8Array {
  return sealPayload(Buffer.from(hex, "hex"), version);
}

function repeated(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

for (const shards of SHARD_COUNTS) {
  describe(`DUMP and RESTORE with ${shards} shards`, () => {
    test("payloads are those of a real server", () => {
      const t = keyStore({ shards });
      t.store.rdbWriteVersion = 11;
      for (const [value, hex] of [
        ["hello", "000568656c6c6f0b000aad620598abc983"],
        ["10", "00c00a0b000740ea36f3318a32"],
        ["-300", "00c1d4fe0b00af1b3b50032137a7"],
        ["100000", "00c2a08601000b0098fbbe2392b04ffd"],
        ["2147483648", "000a323134373438333634380b008e6e94d0b1829f67"],
      ] as const) {
        t.call("SET", "s", value);
        assert.equal(toHex(dump(t, "s"), 0, hex.length / 2), hex);
      }
      t.store.rdbWriteVersion = 10;
      t.call("SET", "i", "10");
      assert.equal(toHex(dump(t, "i"), 0, 13), "00c00a0a006e9f57450eae63bb");
      assert.equal(t.call("DUMP", "none"), NIL);
    });

    test("values of every size and kind come back with their encoding", () => {
      const t = keyStore({ shards });
      const random = new Random(1);
      const values: (string | Uint8Array)[] = ["", "0", "-1", "127", "-128", "128", "-32769"];
      values.push("65536", "2147483647", "-2147483648", "2147483648", "9223372036854775807", "01");
      values.push("-9223372036854775808", "9223372036854775808", " 1", "1.0");
      for (const n of [20, 21, 24, 44, 45, 63, 64, 300, 16_383, 16_384, 65_535, 65_536, 65_537]) {
        values.push(random.bytes(n), repeated("x", n), repeated("abc de", n));
      }
      values.push(random.bytes(300_000), repeated("0123456789ab", 1 << 20));
      for (const isCompressing of [true, false]) {
        t.store.rdbCompression = isCompressing;
        for (const value of values) {
          t.call("SET", "from", value);
          const bytes = dump(t, "from");
          if (!isCompressing) assert.ok(bytes.length > Math.min(value.length, 6));
          assert.equal(t.call("RESTORE", "to", "0", bytes, "REPLACE"), OK);
          assert.deepEqual(t.callBytes("GET", "to"), t.callBytes("GET", "from"));
          assert.equal(t.call("OBJECT", "ENCODING", "to"), t.call("OBJECT", "ENCODING", "from"));
        }
        t.check();
      }
      t.call("FLUSHALL");
    });

    test("strings that were compressed are short", () => {
      const t = keyStore({ shards });
      for (const n of [21, 1000, 65_536, 1 << 20]) {
        t.call("SET", "s", repeated("x", n));
        assert.ok(dump(t, "s").length < 24 + n / 80, `${n} bytes`);
      }
      t.store.rdbCompression = false;
      t.call("SET", "s", repeated("x", 1000));
      assert.equal(dump(t, "s").length, 1 + 2 + 1000 + 10);
    });

    test("options and their errors, in Redis's order", () => {
      const t = keyStore({ shards });
      const ten = payload("00c00a");
      t.call("SET", "a", "1");
      t.takeEvents();
      for (const [words, reply] of [
        [["0", ten, "TTL"], error(SYNTAX_ERROR)],
        [["0", ten, "FREQ"], error(SYNTAX_ERROR)],
        [["0", ten, "IDLETIME"], error(SYNTAX_ERROR)],
        [["0", ten, "IDLETIME", "1", "FREQ", "1"], error(SYNTAX_ERROR)],
        [["0", ten, "FREQ", "1", "IDLETIME", "1"], error(SYNTAX_ERROR)],
        [["0", ten, "IDLETIME", "x"], NOT_AN_INTEGER],
        [["0", ten, "IDLETIME", "-1"], error("ERR Invalid IDLETIME value, must be >= 0")],
        [["0", ten, "FREQ", "x"], NOT_AN_INTEGER],
        [["0", ten, "FREQ", "-1"], error("ERR Invalid FREQ value, must be >= 0 and <= 255")],
        [["0", ten, "FREQ", "256"], error("ERR Invalid FREQ value, must be >= 0 and <= 255")],
        [["x", "bad"], error(BUSYKEY)],
        [["x", "bad", "REPLACE"], NOT_AN_INTEGER],
        [["-1", "bad", "REPLACE"], error("ERR Invalid TTL value, must be >= 0")],
        [["0", "bad", "REPLACE"], BAD_PAYLOAD],
        [["1", payload("00"), "absttl", "replace"], BAD_FORMAT],
      ] as const) {
        assert.equal(t.call("RESTORE", "a", ...words), reply);
      }
      assert.equal(t.call("GET", "a"), bulk("1"));
      assert.deepEqual(t.takeEvents(), []);
      assert.equal(t.call("RESTORE", "a", "0", ten, "replace"), OK);
      assert.equal(t.call("RESTORE-ASKING", "b", "0", ten), OK);
      assert.deepEqual(t.takeEvents(), ["restore a", "restore b"]);
      assert.equal(t.call("MGET", "a", "b"), `*2\r\n${bulk("10")}${bulk("10")}`);
      assert.equal(
        t.call("RESTORE", "c", "0"),
        error("ERR wrong number of arguments for 'restore' command"),
      );
    });

    test("times to live", () => {
      const t = keyStore({ shards });
      const ten = payload("00c00a");
      t.call("RESTORE", "a", "5000", ten);
      assert.equal(t.call("PTTL", "a"), integer(5000));
      t.call("RESTORE", "a", String(START_MS + 7000), ten, "REPLACE", "ABSTTL");
      assert.equal(t.call("PEXPIRETIME", "a"), integer(START_MS + 7000));
      t.call("RESTORE", "a", "0", ten, "REPLACE", "ABSTTL");
      assert.equal(t.call("PTTL", "a"), integer(-1));
      t.takeEvents();
      // A time that has passed deletes what is there, and makes nothing.
      assert.equal(t.call("RESTORE", "a", "1", ten, "REPLACE", "ABSTTL"), OK);
      assert.equal(t.call("RESTORE", "none", String(START_MS), ten, "ABSTTL"), OK);
      assert.deepEqual(t.takeEvents(), ["del a"]);
      assert.equal(t.call("DBSIZE"), integer(0));
      t.call("SET", "a", "1");
      assert.equal(t.call("RESTORE", "a", "9223372036854775807", ten, "REPLACE"), OK);
      assert.equal(t.call("EXISTS", "a"), integer(0));
      // The nearest double to this is 2^63, which no reply can hold.
      assert.equal(t.call("RESTORE", "a", "9223372036854775807", ten, "ABSTTL"), OK);
      assert.equal(t.call("PEXPIRETIME", "a"), ":9223372036854774784\r\n");
      assert.equal(t.call("PEXPIREAT", "a", "9223372036854775807", "GT"), integer(0));
      t.check();
    });

    test("the idle time is set", () => {
      const t = keyStore({ shards });
      const ten = payload("00c00a");
      for (const [words, idle] of [
        [[], 0],
        [["IDLETIME", "1000"], 1000],
        [["IDLETIME", "16777214"], 16_777_214],
        // Redis: that is once round the clock.
        [["IDLETIME", "16777215"], 0],
        [["IDLETIME", "16778215"], 1000],
        [["FREQ", "7"], 0],
      ] as const) {
        t.call("RESTORE", "a", "0", ten, "REPLACE", ...words);
        assert.equal(t.call("OBJECT", "IDLETIME", "a"), integer(idle));
      }
    });

    test("the counter of uses is set with an LFU policy", () => {
      const t = keyStore({ shards });
      t.store.setAccessMode(true, 0, 0);
      const ten = payload("00c00a");
      for (const [words, frequency] of [
        [[], 5],
        [["FREQ", "0"], 0],
        [["FREQ", "255"], 255],
        [["IDLETIME", "1000"], 5],
      ] as const) {
        t.call("RESTORE", "a", "0", ten, "REPLACE", ...words);
        assert.equal(t.call("OBJECT", "FREQ", "a"), integer(frequency));
      }
    });

    test("footers", () => {
      const t = keyStore({ shards });
      for (const version of [1, 6, 9, 10, 11, 12]) {
        assert.equal(t.call("RESTORE", "a", "0", payload("00c00a", version), "REPLACE"), OK);
      }
      for (const version of [13, 14, 80, 256, 65_535]) {
        assert.equal(t.call("RESTORE", "b", "0", payload("00c00a", version)), BAD_PAYLOAD);
      }
      const good = payload("00c00a");
      for (let i = 0; i < good.length; i++) {
        const bad = good.slice();
        bad[i] = bad[i]! ^ 1;
        assert.equal(t.call("RESTORE", "b", "0", bad), BAD_PAYLOAD, `byte ${i}`);
        assert.equal(t.call("RESTORE", "b", "0", good.subarray(0, i)), BAD_PAYLOAD, `${i} bytes`);
      }
      assert.equal(t.call("EXISTS", "b"), integer(0));
    });

    test("types that are not there are named, others are bad data", () => {
      const t = keyStore({ shards });
      for (const [type, name] of [
        ["12", "list"],
        ["0b", "set"],
        ["11", "sorted set"],
        ["19", "hash"],
        ["15", "stream"],
      ] as const) {
        const reply = t.call("RESTORE", "a", "0", payload(`${type}00`));
        assert.equal(reply, error(`ERR RESTORE of a ${name} is not supported yet`));
      }
      for (const hex of ["06", "07", "08", "1a", "ff", "00", "00c4", "0082", "00c3010104"]) {
        assert.equal(t.call("RESTORE", "a", "0", payload(hex)), BAD_FORMAT, hex);
      }
    });

    test("a reply of a big string is pinned, its compressed form keeps nothing", () => {
      const t = keyStore({ shards });
      t.holdReplies = true;
      const noise = new Random(2).bytes(200_000);
      t.call("SET", "noise", noise);
      t.call("SET", "text", repeated("some text ", 200_000));
      const [one, two] = [dump(t, "noise"), dump(t, "text")];
      t.call("SETRANGE", "noise", "0", "changed");
      t.call("DEL", "text");
      t.releaseReplies();
      t.holdReplies = false;
      assert.equal(t.call("RESTORE", "noise", "0", one, "REPLACE"), OK);
      assert.equal(t.call("GET", "noise"), bulk(latin(noise)));
      assert.equal(t.call("RESTORE", "text", "0", two), OK);
      t.check();
    });

    test("out of memory changes nothing", () => {
      for (const plainArguments of [false, true]) {
        const t = keyStore({ shards });
        t.plainArguments = plainArguments;
        const values = ["text", "12", repeated("x", 3000), repeated("x", 100_000)];
        values.push(latin(new Random(3).bytes(90_000)));
        const payloads = values.map((value) => {
          t.call("SET", "s", value);
          return dump(t, "s");
        });
        t.call("SET", "s", "old");
        t.takeEvents();
        for (const [i, bytes] of payloads.entries()) {
          for (const [key, before] of [
            ["s", "old"],
            ["new", undefined],
          ] as const) {
            for (let nth = 1; nth < 8; nth++) {
              t.heap.allocations = 0;
              t.heap.refusals = 0;
              t.heap.refuseEvery = nth;
              const reply = t.call("RESTORE", key, "0", bytes, "REPLACE");
              t.heap.refuseEvery = 0;
              if (reply === OK) {
                assert.equal(t.call("GET", key), bulk(values[i] as string));
                if (before === undefined) t.call("DEL", key);
                else t.call("SET", key, before);
              } else {
                assert.ok(reply === error(OOM) || t.heap.refusals > 0);
                assert.equal(t.call("GET", key), before === undefined ? NIL : bulk(before));
              }
              t.check();
            }
          }
        }
      }
    });
  });
}

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

test("mutated payloads are restored or refused, and nothing breaks", () => {
  const seed = testSeed(331);
  const random = new Random(seed);
  const t = keyStore({ shards: 4 });
  const values = ["", "7", "-70000", "hello", repeated("abcabcabd", 200), latin(random.bytes(100))];
  values.push(repeated("0123456", 70_000), latin(random.bytes(66_000)));
  const bodies: Uint8Array[] = values.map((value) => {
    t.call("SET", "s", value);
    return dump(t, "s").slice(0, -10);
  });
  bodies.push(
    latin1Bytes("\x00\xc3\x0a\xff\xff"),
    latin1Bytes("\x00\x81\x00\x00\x00\x00\x00\x00\x00\x01a"),
  );
  const counts = { ok: 0, refused: 0 };
  for (let turn = 0; turn < 4000; turn++) {
    const body = Buffer.from(random.pick(bodies));
    for (let n = random.between(1, 3); n > 0; n--) {
      // The head of a value is where most is decided.
      const at = random.below(random.chance(0.7) ? Math.min(body.length, 12) : body.length);
      body[at] = random.pick([0, 0x3f, 0x40, 0x80, 0x81, 0xc0, 0xc3, 0xff, random.u32() & 255]);
    }
    const cut = random.chance(0.2) ? random.below(body.length + 1) : body.length;
    const sealed = sealPayload(body.subarray(0, cut));
    if (random.chance(0.1)) sealed[random.below(sealed.length)] = random.u32() & 255;
    t.plainArguments = random.chance(0.5);
    const key = random.pick(["a", "b", "c"]);
    const reply = t.call("RESTORE", key, "0", sealed, "REPLACE");
    if (reply === OK) {
      counts.ok++;
      const again = dump(t, key);
      assert.equal(t.call("RESTORE", "again", "0", again, "REPLACE"), OK);
      assert.deepEqual(t.callBytes("GET", "again"), t.callBytes("GET", key), seedText(seed));
    } else {
      counts.refused++;
      assert.match(reply, /^-ERR (Bad data|DUMP payload|RESTORE of a)/, seedText(seed));
    }
    if (turn % 200 === 0) t.check();
  }
  t.check();
  assert.ok(counts.ok > 200 && counts.refused > 200, JSON.stringify(counts));
});
