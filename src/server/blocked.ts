/**
 * The sessions of one thread whose command waits for something to happen, WAIT for replicas, and
 * what ends that other than what they wait for: the command's own time, and CLIENT UNBLOCK, which
 * leaves a word in the client's row and rings the thread.
 *
 * A session that is blocked runs nothing and goes on reading, as one that CLIENT PAUSE holds up.
 */
import type { Block } from "../command/session.ts";
import { statIndex } from "../keyspace/stats.ts";
import type { Reply } from "../protocol/reply.ts";
import { UNBLOCK_BY_ERROR } from "./client-table.ts";
import type { ClientSession } from "./session.ts";
import type { ThreadServer } from "./thread-server.ts";

/** The longest time that a timer takes. */
const TIMER_MS_MAX = 0x7fffffff;
const UNBLOCKED = "UNBLOCKED client unblocked via CLIENT UNBLOCK";

const BLOCKED = statIndex("blocked_clients");
const TIMED = statIndex("clients_in_timeout_table");

/** The end is one of the monotonic clock: the system's may be set meanwhile. */
type Entry = { readonly block: Block; readonly endMs: number; cancelTimer: () => void };

function noTimer(): void {}

export class BlockedSessions {
  private readonly server: ThreadServer;
  private readonly entries: Map<ClientSession, Entry> = new Map();

  constructor(server: ThreadServer) {
    this.server = server;
  }

  /** The command under way, of this session, waits. */
  add(session: ClientSession, block: Block): void {
    const { server } = this;
    const endMs = server.store.clock.monotonicMs() + block.forMs;
    const entry: Entry = { block, endMs, cancelTimer: noTimer };
    this.entries.set(session, entry);
    server.clients.setBlocked(session.row, session.id);
    if (block.forMs > 0) {
      server.stats.add(TIMED, 1);
      this.arm(session, entry);
    }
    server.stats.add(BLOCKED, 1);
  }

  /** It waits no more: it has its answer, or is over. Counts for the session's port. */
  remove(session: ClientSession): void {
    const { server } = this;
    const entry = this.entries.get(session);
    if (entry === undefined) return;
    this.entries.delete(session);
    entry.cancelTimer();
    server.clients.takeUnblock(session.row);
    if (entry.block.forMs > 0) server.stats.add(TIMED, -1);
    server.stats.add(BLOCKED, -1);
  }

  private arm(session: ClientSession, entry: Entry): void {
    const ms = entry.endMs - this.server.store.clock.monotonicMs();
    const run = (): void => this.timeIsUp(session, entry);
    entry.cancelTimer = this.server.after(Math.min(Math.max(ms, 1), TIMER_MS_MAX), run);
  }

  private timeIsUp(session: ClientSession, entry: Entry): void {
    const { server } = this;
    server.dispatcher.readClock();
    // Timers are of whole milliseconds, and a long time is waited for in parts.
    if (server.store.clock.monotonicMs() < entry.endMs) this.arm(session, entry);
    else this.answer(session, entry.block);
  }

  /** Somebody may have asked for clients to be unblocked. */
  look(): void {
    for (const [session, { block }] of this.entries) {
      if (this.server.clients.isAskedToUnblock(session.row)) this.answer(session, block);
    }
  }

  private answer(session: ClientSession, block: Block): void {
    // Who was answered that it gets the error must see it get that, though its time was up as well.
    const asked = this.server.clients.takeUnblock(session.row);
    if (asked === UNBLOCK_BY_ERROR) session.unblock((reply: Reply) => reply.error(UNBLOCKED));
    else session.unblock((reply: Reply) => block.timedOut(reply));
  }
}
