import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type Answerer, makeHttpServer } from "./http-server.ts";

async function serve(
  t: TestContext,
  answerer: Answerer,
): Promise<{ url: string; errors: unknown[]; emit(error: Error): void }> {
  const errors: unknown[] = [];
  const server = makeHttpServer(answerer, (error) => errors.push(error));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const emit = (error: Error): void => void server.emit("error", error);
  return { url: `http://127.0.0.1:${port}`, errors, emit };
}

test("an answer that throws is 500, and the server goes on", async (t) => {
  let answers = 0;
  const { url, errors, emit } = await serve(t, ({ path }) => {
    if (answers++ === 0) throw new Error(`no ${path}`);
    return { status: 200, contentType: "text/plain", text: path };
  });
  const failed = await fetch(`${url}/a`);
  assert.equal(failed.status, 500);
  assert.equal(await failed.text(), "internal error, see the log of the server\n");
  // As Node tells of a connection that could not be accepted.
  emit(new Error("accept EMFILE"));
  assert.equal(await (await fetch(`${url}/b?c=d`)).text(), "/b");
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ["no /a", "accept EMFILE"],
  );
});

test("answers are never kept by anybody, and their length is in bytes", async (t) => {
  const { url } = await serve(t, () => ({ status: 200, contentType: "text/plain", text: "ä\n" }));
  const { headers } = await fetch(url);
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("content-length"), "3");
});
