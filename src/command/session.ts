/**
 * What a command that touches no keys is given: the session it came by and, through it, the server
 * as one thread sees it. `server/` implements both.
 */

import type { RandomSource } from "../env/env.ts";
import type { Usage } from "../env/usage.ts";
import type { Stats } from "../keyspace/stats.ts";
import type { Store } from "../keyspace/store.ts";
import type { Reply } from "../protocol/reply.ts";
import type { ClientTable } from "../server/client-table.ts";
import type { CommandStats } from "../server/command-stats.ts";
import type { Change, Config } from "../server/config/config.ts";
import type { LatencyEvents } from "../server/latency-events.ts";
import type { LatencyHistograms } from "../server/latency-histogram.ts";
import type { ReplySetting } from "../server/reply-mode.ts";
import type { SlowLog } from "../server/slow-log.ts";
import type { Topology } from "../server/topology.ts";
import type { CommandTable } from "./lookup.ts";

export type Session = {
  readonly id: number;
  readonly server: Server;
  /** Row of the client table that shows this session to other threads. */
  readonly row: number;
  /** Owner whose port it came by, -1 for the plain port. */
  readonly owner: number;
  readonly createdMs: number;
  /** "ip:port", "[v6]:port" as Redis writes it, or the path of the unix socket with ":0". */
  readonly remote: string;
  readonly local: string;
  readonly isUnix: boolean;
  /** True if the peer is on a loopback address or a unix socket. */
  readonly isLocal: boolean;
  db: number;
  /** 2 or 3; takes effect with the next reply. */
  proto: number;
  name: string;
  libName: string;
  libVersion: string;
  /** READONLY was said. */
  readonlyMode: boolean;
  noTouch: boolean;
  noEvict: boolean;
  /** It is sent every command that is run: MONITOR. */
  readonly isMonitoring: boolean;
  /** Its commands wait while clients are paused. */
  readonly isPausable: boolean;
  /**
   * The dispatcher's own: where a command that visits shard after shard was stopped, or what is to
   * be counted of one that waits.
   */
  progress: unknown;
  /**
   * Puts the reply off: the session runs nothing more until the returned function is called, with
   * what writes the reply.
   */
  hold(): (write: (reply: Reply) => void) => void;
  /** False where a command that would wait is to answer at once instead, as in a transaction. */
  readonly mayBlock: boolean;
  /** The command under way waits; its answer comes later, and it is counted then. */
  readonly isBlocked: boolean;
  /** Lets the command under way wait; `mayBlock` is true, and it writes no reply. */
  block(block: Block): void;
  /** Closes once the reply under way has been sent. */
  closeAfterReply(): void;
  /** Closes at once, with what is under way not sent. */
  closeSilently(): void;
  /** CLIENT REPLY; it decides about the reply under way too. */
  setReply(setting: ReplySetting): void;
  /** Sends it every command that is run, by whomever, from now on. False if that was so before. */
  monitor(): boolean;
  /** Does what RESET does to a session's own state, HELLO 2 included. */
  reset(): void;
  /** Tells other threads of a changed name, database or library. */
  publish(): void;
};

/** What a command that waits for something to happen says of its waiting. */
export type Block = {
  /** For how long; 0 if for ever. */
  readonly forMs: number;
  /** Writes the answer for when nothing has happened: at that time, or after CLIENT UNBLOCK. */
  timedOut(reply: Reply): void;
};

/** The process and its settings, as the thread that runs the command sees them. */
export type Server = {
  readonly commands: CommandTable;
  readonly config: Config;
  readonly store: Store;
  /** Rows that the running session is counted in; all rows can be read through them. */
  readonly stats: Stats;
  readonly commandStats: CommandStats;
  readonly latencyHistograms: LatencyHistograms;
  readonly latencyEvents: LatencyEvents;
  readonly slowLog: SlowLog;
  readonly clients: ClientTable;
  readonly topology: Topology | null;
  readonly random: RandomSource;
  readonly thread: number;
  /** As many as there may be; `isThread` says which there are. */
  readonly threads: number;
  isThread(thread: number): boolean;
  readonly shards: number;
  readonly facts: ServerFacts;
  /** Applies changes here and on every other thread before the next command anywhere. */
  publishConfig(changes: Change[]): void;
  resetStats(): void;
  /** CLIENT PAUSE for `ms`, of all commands or those that write; holds for the next anywhere. */
  pauseClients(ms: number, isAll: boolean): void;
  unpauseClients(): void;
  /** Bytes that clients take, of all threads. */
  clientBytes(): number;
  /** The plain port, 0 if there is none. */
  readonly tcpPort: number;
  /**
   * Listens on another plain port, or on none (0), or on other addresses, and no more where it did
   * before. Calls `done` when that is so; with an error nothing has changed.
   */
  listenOn(place: ListenPlace, done: (error: ListenError | null) => void): void;
  /** Makes the kernel's score what the configuration says with these changes; null, or why not. */
  setOomScore(changes: readonly Change[]): string | null;
  /** Ends the process as SHUTDOWN does. */
  shutdown(): void;
  /** Wakes threads so that they look at their clients' kill words and their mailboxes. */
  ring(thread: number): void;
  /** Blocks this thread alone, as DEBUG SLEEP does. */
  sleep(ms: number): void;
  setActiveExpire(on: boolean): void;
  /** Stops housekeeping on all threads, or goes on with it. */
  setCronPaused(on: boolean): void;
  /** 40 hexadecimal digits that name the history of the data. */
  readonly replicationId: string;
  /** Gives it another name, on all threads. */
  changeReplicationId(): void;
  /** Runs something under a shard's lock; false if that was not had within a millisecond. */
  withShard(shard: number, run: () => void): boolean;
  /** Bytes in blocks of the heap, without the roots of databases: what `maxmemory` bounds. */
  usedMemory(): number;
  /** Milliseconds for which that has been more than `maxmemory`, 0 if it is not. */
  memoryExceededMs(): number;
  usage(): Usage;
  log(level: "debug" | "verbose" | "notice" | "warning", text: string): void;
};

/** Where to listen for the plain port; addresses as `bind` has them, null for those of now. */
export type ListenPlace = { readonly port: number; readonly bind: readonly string[] | null };

/** What a CONFIG SET is answered when that is not possible. */
export type ListenError = { readonly directive: "port" | "bind"; readonly reason: string };

/** What does not change while the process runs. */
export type ServerFacts = {
  /** The kernel's score before `oom-score-adj` was applied at the start; null if it was not. */
  readonly oomScoreBefore: number | null;
  readonly version: string;
  readonly redisVersion: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly startedMs: number;
  readonly processId: number;
  readonly nodeVersion: string;
  readonly os: string;
  readonly archBits: number;
  readonly executable: string;
  /** Ports as bound at the start, 0 where there is none. */
  readonly tcpPort: number;
  readonly ownerPorts: readonly number[];
  readonly acceptMode: string;
};
