/**
 * What the micro benches of the server share: a session over a link that throws everything away, so
 * neither sockets nor a generator are in the figure.
 */
import { Random } from "../../src/base/random.ts";
import { serverCommands } from "../../src/commands.ts";
import { systemConfigHost } from "../../src/env/config-host.ts";
import { SystemClock } from "../../src/env/system.ts";
import { TakingLink } from "../../src/env/test-link.ts";
import { Config } from "../../src/server/config/config.ts";
import { InlineHost } from "../../src/server/inline-host.ts";
import type { ClientSession } from "../../src/server/session.ts";

/** Requests of one read. */
export const PIPELINE = 64;
/** Bytes of the last reply that `tail` shows: all of "+OK". */
const TAIL_BYTES = 5;

export class NullLink extends TakingLink {
  /** Of all replies, so that none can be left out. */
  hash = 0;
  private written: Uint8Array = new Uint8Array(0);
  private writtenEnd = 0;

  override write(source: Uint8Array, start: number, end: number): boolean {
    for (let i = start; i < end; i += 7) this.hash = (this.hash * 31 + (source[i] ?? 0)) | 0;
    this.written = source;
    this.writtenEnd = end;
    return true;
  }

  /** The end of the last reply. */
  tail(): string {
    const { writtenEnd } = this;
    return Buffer.from(this.written.subarray(writtenEnd - TAIL_BYTES, writtenEnd)).toString(
      "latin1",
    );
  }
}

export function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

export function paddedName(n: number): string {
  return `key:${String(n).padStart(12, "0")}`;
}

/** A server of one thread, and a client of it. */
export function connect(): { host: InlineHost; session: ClientSession; link: NullLink } {
  const config = new Config(systemConfigHost());
  config.apply([
    { name: "threads", text: "1" },
    { name: "shards", text: "64" },
  ]);
  const host = new InlineHost({
    commands: serverCommands(),
    config,
    clock: new SystemClock(),
    random: new Random(1),
    facts: {} as never,
    nodes: null,
    checked: false,
    clientRows: 16,
    pick: () => 0,
    log: () => {},
  });
  const link = new NullLink();
  const session = host.connect(0, link);
  if (session === null) throw new Error("the session was refused");
  return { host, session, link };
}
