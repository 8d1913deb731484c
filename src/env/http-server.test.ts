import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { HTTP_CONNECTION_REQUESTS_MAX } from "../limits.ts";
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

test("requests sent without waiting for answers are answered so often and no more", async (t) => {
  let answers = 0;
  const { url } = await serve(t, () => {
    answers++;
    return { status: 200, contentType: "text/plain", text: "x" };
  });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes;
  });
  socket.on("error", () => undefined);
  socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000));
  await once(socket, "close");
  assert.equal(answers, HTTP_CONNECTION_REQUESTS_MAX);
  const served = text.split("HTTP/1.1 200 OK").slice(1);
  assert.equal(served.length, HTTP_CONNECTION_REQUESTS_MAX);
  for (const [i, answer] of served.entries()) {
    assert.equal(/Connection: close/.test(answer), i === HTTP_CONNECTION_REQUESTS_MAX - 1);
  }
});
