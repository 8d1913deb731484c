import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { latin1Bytes } from "../../base/bytes.ts";
import { crc64 } from "../../base/crc64.ts";
import { systemConfigHost } from "../../env/config-host.ts";
import { randomHex } from "../../env/entropy.ts";
import { formatMeta, loadOrMakeNodeId, META_FILE, type MetaHost, parseMeta } from "./meta-file.ts";

const NODE_ID = "07c37dfeb235213a872192d90877d0cd55635b91";
const GOOD = formatMeta({ nodeId: NODE_ID });

/** One file in memory; null: it is not there. */
function fakeHost(text: string | null): MetaHost & { text: string | null; fails: string | null } {
  return {
    text,
    fails: null,
    resolvePath: (base, path) => `${base}/${path}`,
    readFile() {
      if (this.fails !== null) return { ok: false, error: this.fails };
      if (this.text === null) return { ok: false, error: "No such file or directory" };
      return { ok: true, text: this.text };
    },
    replaceFile(_path, written) {
      if (this.fails !== null) return this.fails;
      this.text = written;
      return null;
    },
  };
}

test("the text of the file", () => {
  assert.match(
    GOOD,
    /^format 1\nnode-id 07c37dfeb235213a872192d90877d0cd55635b91\nchecksum [0-9a-f]{16}\n$/,
  );
  assert.deepEqual(parseMeta(GOOD), { ok: true, meta: { nodeId: NODE_ID } });
});

test("a node id is made once and then found", () => {
  const host = fakeHost(null);
  const made = loadOrMakeNodeId(host, "/data", randomHex);
  assert.ok(made.ok);
  assert.match(made.nodeId, /^[0-9a-f]{40}$/);
  const again = loadOrMakeNodeId(host, "/data", () => assert.fail("a second id was made"));
  assert.deepEqual(again, made);
});

test("a file that is cut at any byte stops the start and stays as it is", () => {
  for (let length = 0; length < GOOD.length; length++) {
    const host = fakeHost(GOOD.slice(0, length));
    const loaded = loadOrMakeNodeId(host, "/data", () => assert.fail("an id was made"));
    assert.ok(!loaded.ok, `${length} bytes`);
    assert.ok(loaded.error.startsWith("/data/zerohop.meta "), loaded.error);
    assert.equal(host.text, GOOD.slice(0, length));
  }
});

test("a file with any byte changed stops the start", () => {
  for (let at = 0; at < GOOD.length; at++) {
    for (const flip of [1, 2, 32, 128]) {
      const byte = String.fromCharCode(GOOD.charCodeAt(at) ^ flip);
      const host = fakeHost(GOOD.slice(0, at) + byte + GOOD.slice(at + 1));
      const loaded = loadOrMakeNodeId(host, "/data", () => assert.fail("an id was made"));
      assert.ok(!loaded.ok, `byte ${at}, flipped ${flip}`);
    }
  }
});

test("what is wrong is said in one line", () => {
  const errorOf = (text: string): string => {
    const parsed = parseMeta(text);
    assert.ok(!parsed.ok);
    assert.doesNotMatch(parsed.error, /\n/);
    return parsed.error;
  };
  assert.equal(errorOf(""), "is empty");
  assert.equal(errorOf("\0".repeat(100)), "is cut off");
  assert.equal(errorOf("hello\n"), "has no checksum at its end");
  assert.equal(errorOf(GOOD.replace("07c3", "17c3")), "is damaged: its checksum is wrong");
  assert.equal(errorOf(GOOD + GOOD), "is damaged: its checksum is wrong");
  assert.equal(errorOf(signed("format 2\n")), "has format 2, which is not known here");
  assert.equal(errorOf(signed("format 1\nnode-id 07C3\n")), "has no node-id");
});

test("names that are not known are no error", () => {
  const text = signed(`format 1\nnode-id ${NODE_ID}\nlast-clean-stop 17\n`);
  assert.deepEqual(parseMeta(text), { ok: true, meta: { nodeId: NODE_ID } });
});

test("a file that cannot be read or written stops the start", () => {
  for (const text of [GOOD, null]) {
    const host = fakeHost(text);
    host.fails = "Permission denied";
    const loaded = loadOrMakeNodeId(host, "/data", randomHex);
    assert.deepEqual(loaded, { ok: false, error: "/data/zerohop.meta: Permission denied" });
  }
});

test("on a real disk", () => {
  const dir = mkdtempSync(join(tmpdir(), "zerohop-meta-"));
  try {
    const host = systemConfigHost();
    const made = loadOrMakeNodeId(host, dir, randomHex);
    assert.ok(made.ok);
    assert.deepEqual(readdirSync(dir), [META_FILE]);
    assert.equal(readFileSync(join(dir, META_FILE), "latin1"), formatMeta(made));
    assert.deepEqual(loadOrMakeNodeId(host, dir, randomHex), made);
    writeFileSync(join(dir, META_FILE), "");
    const refused = loadOrMakeNodeId(host, dir, randomHex);
    assert.ok(!refused.ok && refused.error.startsWith(`${join(dir, META_FILE)} is empty`));
    const missing = loadOrMakeNodeId(host, join(dir, "none"), randomHex);
    assert.ok(!missing.ok && missing.error.endsWith("No such file or directory"));
  } finally {
    rmSync(dir, { recursive: true });
  }
});

/** A file with this body and the checksum that fits it. */
function signed(body: string): string {
  const sum = { hi: 0, lo: 0 };
  crc64(latin1Bytes(body), 0, body.length, sum);
  const hex = [sum.hi, sum.lo].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  return `${body}checksum ${hex}\n`;
}
