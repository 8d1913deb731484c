import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpAnswer } from "../env/http-server.ts";
import { type AdminPages, answer } from "./routes.ts";

function pages(reason: string | null): AdminPages {
  return {
    notReady: () => reason,
    metrics: async (format) => ({ contentType: `type/${format}`, text: format }),
  };
}

function ask(
  path: string,
  { method = "GET", host = "localhost:7090", accept = "", reason = null as string | null } = {},
): Promise<HttpAnswer> {
  return Promise.resolve(answer(pages(reason), { method, path, host, accept }));
}

test("alive says that the process is there, ready that it serves", async () => {
  for (const reason of [null, "starting", "ending"]) {
    assert.equal((await ask("/livez", { reason })).status, 200);
    const ready = await ask("/readyz", { reason });
    assert.equal(ready.status, reason === null ? 200 : 503);
    assert.equal(ready.text, `${reason ?? "ok"}\n`);
  }
});

test("metrics in the format that is asked for, whether or not clients are served", async () => {
  const plain = await ask("/metrics", { reason: "starting" });
  assert.deepEqual(plain, { status: 200, contentType: "type/prometheus", text: "prometheus" });
  const open = await ask("/metrics", { accept: "application/openmetrics-text" });
  assert.deepEqual(open, { status: 200, contentType: "type/openmetrics", text: "openmetrics" });
});

test("other paths are not found, other methods not allowed where there is a page", async () => {
  for (const path of ["/metrics/", "/Metrics", "", "//", "/../metrics"]) {
    assert.equal((await ask(path)).status, 404, path);
  }
  for (const path of ["/", "/metrics", "/livez", "/readyz"]) {
    assert.equal((await ask(path)).status, 200, path);
    assert.equal((await ask(path, { method: "HEAD" })).status, 200, path);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "get"]) {
      const refused = await ask(path, { method });
      assert.equal(refused.status, 405, `${method} ${path}`);
      assert.equal(refused.allow, "GET, HEAD");
    }
  }
  assert.equal((await ask("/other", { method: "POST" })).status, 404);
});

test("a name that somebody may own is not answered, whatever is asked", async () => {
  const own = [
    "",
    "localhost",
    "LocalHost:7090",
    "zerohop.localhost:80",
    "127.0.0.1",
    "10.1.2.3:9",
  ];
  for (const host of [...own, "[::1]", "[::1]:7090", "[fe80::1%eth0]:7090", "127.0.0.1:"]) {
    assert.equal((await ask("/metrics", { host })).status, 200, host);
  }
  const foreign = [
    "evil.example",
    "evil.example:7090",
    "localhost.evil.example",
    "127.0.0.1.evil.example:7090",
    "evillocalhost",
    "evil@localhost",
    "localhost:7090.evil.example",
    "localhost.",
    "127.0.0.1, evil.example",
    "7f000001.example",
    "[::1].evil.example",
  ];
  for (const host of foreign) {
    for (const path of ["/", "/metrics", "/livez", "/readyz", "/other"]) {
      const { status, text } = await ask(path, { host });
      assert.equal(status, 421, `${host} ${path}`);
      assert.ok(!text.includes(host));
    }
  }
});
