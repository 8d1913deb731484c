/**
 * Fills and empties a keyspace: requests for index `from` to `to` in order, over one connection,
 * in chunks of a thousand with a few chunks in flight, every reply byte compared.
 */
import { connect } from "node:net";
import type { Control } from "./control.ts";
import { MissingFigure } from "./stats.ts";
import type { FillKind } from "./workload.ts";

const CHUNK_REQUESTS = 1000;
const CHUNKS_IN_FLIGHT = 8;
const READ_BUFFER_BYTES = 1 << 16;
const STALL_MS = 30_000;

export function fill(port: number, kind: FillKind, from: number, to: number): Promise<void> {
  const replyBytes = kind.reply.length;
  // Any run of reply bytes, whatever its phase, is a slice of this.
  const expected = Buffer.from(
    kind.reply.repeat(Math.ceil(READ_BUFFER_BYTES / replyBytes) + 2),
    "latin1",
  );
  const wanted = (to - from) * replyBytes;
  if (wanted <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let sent = from;
    let received = 0;
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Error(`fill ${from}..${to} on port ${port}: ${why}`));
    };
    const sendMore = (): void => {
      const answered = from + Math.floor(received / replyBytes);
      while (sent < to && sent - answered < CHUNK_REQUESTS * CHUNKS_IN_FLIGHT) {
        const end = Math.min(to, sent + CHUNK_REQUESTS);
        let text = "";
        for (; sent < end; sent++) text += kind.text(sent);
        socket.write(text, "latin1");
      }
    };
    const onRead = (count: number, chunk: Uint8Array): boolean => {
      const phase = received % replyBytes;
      const got = Buffer.from(chunk.buffer, chunk.byteOffset, count);
      if (expected.compare(got, 0, count, phase, phase + count) !== 0) {
        fail(`unexpected reply ${JSON.stringify(got.toString("latin1", 0, 100))}`);
        return false;
      }
      received += count;
      if (received === wanted) {
        socket.destroy();
        resolve();
        return false;
      }
      sendMore();
      return true;
    };
    const socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer: Buffer.alloc(READ_BUFFER_BYTES), callback: onRead },
    });
    socket.setTimeout(STALL_MS, () => fail("no reply for 30 s"));
    socket.on("error", (error) => fail(error.message));
    socket.on("end", () => fail("the server closed the connection"));
    socket.once("connect", sendMore);
  });
}

/** `fill`, then a look at DBSIZE: a keyspace that is not what was asked for measures nothing. */
export async function fillAndCheck(
  control: Control,
  port: number,
  kind: FillKind,
  keys: number,
): Promise<void> {
  await fill(port, kind, 0, keys);
  const size = await control.call("DBSIZE");
  if (size !== keys) throw new MissingFigure(`${keys} keys were loaded, DBSIZE says ${size}`);
}
