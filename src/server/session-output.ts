/**
 * What a session sends: the replies of a turn in one write, long ones in pieces as they come, and
 * lines that answer nothing. The limits of the client's class hold for all of it: Redis counts what
 * does not fit the client's first buffer, so a reply that is over the limit is not sent at all.
 */
import type { Link } from "../env/env.ts";
import { statIndex } from "../keyspace/stats.ts";
import { REPLY_BYTES_MAX } from "../limits.ts";
import type { Reply } from "../protocol/reply.ts";
import { CLASS_PUBSUB, CLASS_REPLICA } from "./client-table.ts";
import type { OutputLimit } from "./config/config.ts";
import { OutputWatch } from "./output-watch.ts";
import type { ThreadServer } from "./thread-server.ts";

/** Redis has room for so many bytes of replies before it counts any. */
const UNCOUNTED_BYTES = 16384;
/** A session with more unsent output than this runs nothing until it has drained. */
const OUTPUT_PAUSE_BYTES: number = 4 << 20;

const NET_OUTPUT = statIndex("net_output_bytes");
const WRITES = statIndex("writes_processed");
const OUTPUT_LIMIT = statIndex("output_limit_disconnections");

/** The session, as its output needs it. */
export type OutputOwner = {
  readonly server: ThreadServer;
  readonly kind: number;
  /** Its replies are thrown away. */
  readonly isMuted: boolean;
  readonly isClosed: boolean;
  /** The link is gone: replies are thrown away, but the session goes on. */
  readonly isLinkGone: boolean;
  /** The line of CLIENT LIST. */
  describe(unwritten?: number): string;
  destroy(): void;
};

export class SessionOutput {
  /** There is more to send than the session may go on with. */
  isPaused = false;
  private readonly owner: OutputOwner;
  private readonly link: Link;
  private readonly watch: OutputWatch = new OutputWatch();
  private lastUnsent = 0;

  constructor(owner: OutputOwner, link: Link) {
    this.owner = owner;
    this.link = link;
  }

  /** Redis: a master has the limits of a normal client. */
  private get limit(): OutputLimit {
    const { kind, server } = this.owner;
    const { config } = server;
    if (kind === CLASS_PUBSUB) return config.pubsubLimit;
    return kind === CLASS_REPLICA ? config.replicaLimit : config.normalLimit;
  }

  /** Bounds the replies of the turn: what is not sent yet counts too. */
  limitReply(): void {
    const { hardBytes } = this.limit;
    const isFree = hardBytes === 0 || this.owner.isMuted;
    const rest = isFree ? REPLY_BYTES_MAX : hardBytes - this.link.pending();
    this.owner.server.reply.limit = Math.min(Math.max(rest, UNCOUNTED_BYTES), REPLY_BYTES_MAX);
  }

  /** Writes what the turn has produced. True if the session must stop until it has drained. */
  flush(): boolean {
    const { link, owner } = this;
    const { server } = owner;
    const { reply } = server;
    if (owner.isClosed || owner.isLinkGone) {
      reply.discard();
      return owner.isClosed;
    }
    if (reply.isOverflown || reply.length + reply.sharedBytes > reply.limit) {
      const bytes = reply.length + reply.sharedBytes;
      reply.discard();
      this.closeOverLimit(bytes);
      return true;
    }
    if (reply.length === 0) return this.isPaused;
    server.stats.add(NET_OUTPUT, reply.length + reply.sharedBytes);
    server.stats.add(WRITES, 1);
    if (reply.shared.length > 0) {
      this.flushPieces(reply);
    } else if (link.write(reply.buffer, 0, reply.length)) {
      reply.length = 0;
    } else {
      reply.renew();
    }
    const pending = link.pending();
    if (pending > 0) this.check(pending);
    if (!owner.isClosed) this.limitReply();
    return this.isPaused || owner.isClosed;
  }

  private flushPieces(reply: Reply): void {
    const { link } = this;
    const { buffer, length } = reply;
    let from = 0;
    for (const piece of reply.shared) {
      link.write(buffer, from, piece.before);
      link.writeShared(piece.source.subarray(piece.start, piece.end), piece.done);
      from = piece.before;
    }
    link.write(buffer, from, length);
    reply.renew();
    reply.shared.length = 0;
    reply.sharedBytes = 0;
  }

  /**
   * Sends bytes that answer no request. True if they may be changed at once; if not, they belong to
   * the link.
   */
  push(bytes: Uint8Array, start: number, end: number): boolean {
    const { link, owner } = this;
    const { stats } = owner.server;
    stats.add(NET_OUTPUT, end - start);
    stats.add(WRITES, 1);
    const isFree = link.write(bytes, start, end);
    const pending = link.pending();
    if (pending > REPLY_BYTES_MAX) this.closeOverLimit();
    else if (pending > 0) this.check(pending);
    return isFree;
  }

  private check(pending: number): void {
    const now = this.owner.server.store.clock.unixMs;
    if (this.watch.isOver(this.limit, pending, now)) this.closeOverLimit();
    else if (pending > OUTPUT_PAUSE_BYTES) this.isPaused = true;
  }

  closeOverLimit(unwritten = 0): void {
    const { owner } = this;
    owner.server.stats.add(OUTPUT_LIMIT, 1);
    owner.server.log(
      "warning",
      `Client ${owner.describe(unwritten)} scheduled to be closed ASAP ` +
        "for overcoming of output buffer limits.",
    );
    owner.destroy();
  }

  /** Limits hold for a client that does nothing too. True if it has taken some since last time. */
  everySecond(): boolean {
    const pending = this.link.pending();
    if (pending === 0) return false;
    const unsent = this.link.unsent();
    const isTaking = unsent < this.lastUnsent;
    this.lastUnsent = unsent;
    this.check(pending);
    return isTaking;
  }
}
