/**
 * What is written about a command: one literal, handler inside. Everything else about it (arity,
 * key positions, ACL categories, COMMAND DOCS) is computed from this.
 *
 * The lock set is part of the type, so that a handler is only given what its lock set protects: a
 * command that locks nothing cannot reach a database.
 */

import type { Args } from "../base/args.ts";
import type { Database } from "../keyspace/database.ts";
import type { Reply } from "../protocol/reply.ts";
import type { Category, CommandFlag, Group, Tip } from "./flags.ts";
import type { Argument, HistoryEntry, KeySpec } from "./grammar.ts";
import type { KeyFinder } from "./key-specs.ts";
import type { Session } from "./session.ts";

/** Everything about a command but what it does. */
export type CommandMeta = {
  /** Upper case. A subcommand is named with its container: "CLIENT LIST". */
  name: string;
  group: Group;
  since: string;
  /** Empty for the few of which Redis says nothing. */
  complexity: string;
  summary: string;
  flags: readonly CommandFlag[];
  args?: readonly Argument[];
  tips?: readonly Tip[];
  history?: readonly HistoryEntry[];
  /** ACL categories beyond those that follow from group and flags. */
  categories?: readonly Category[];
  /** Only where the argument grammar does not say it. */
  arity?: number;
  keys?: readonly KeySpec[];
  /** Only where the key specs depend on the other arguments ("variable_flags", "unknown"). */
  findKeys?: KeyFinder;
  /** Arguments that are secrets: the slow log and MONITOR show "(redacted)" in their places. */
  hidden?(args: Args): readonly number[];
  /** For servers and operators, not for applications (doc flag "syscmd"). */
  system?: true;
  deprecated?: { since: string; replacedBy: string };
  /** How we differ from Redis, one sentence for the reference; absent when we do not. */
  differs?: string;
};

export type SessionCommand = CommandMeta & {
  locks: "none";
  run(session: Session, args: Args, reply: Reply): void;
};

export type DataCommand = CommandMeta & {
  locks: "keys" | "all" | ((args: Args) => "keys" | "all");
  run(db: Database, args: Args, reply: Reply): void;
};

/**
 * Locks what its arguments ask for, down to nothing; a call that locks nothing is run by
 * `runSession`. DEBUG is one: its subcommands are no commands of their own.
 */
export type MixedCommand = CommandMeta & {
  locks: (args: Args) => "none" | "keys" | "all";
  /** Keys that are locked and routed by, though the command has no key specs. */
  findLockKeys: KeyFinder;
  runSession(session: Session, args: Args, reply: Reply): void;
  run(db: Database, args: Args, reply: Reply): void;
};

/** Looks at one slot, which an argument names or a cursor points into, and locks its shard. */
export type CursorCommand = CommandMeta & {
  locks: "cursor";
  /**
   * The slot. The dispatcher takes the nearest one within the session's scope, so that any number
   * will do for arguments that name none; the handler is to refuse those.
   */
  slotOf(args: Args): number;
  run(db: Database, args: Args, reply: Reply): void;
};

/** What comes behind a part: the next shard, the same shard once more, or nothing. */
export type AfterPart = "next" | "again" | "stop";

/**
 * Visits shard by shard, one lock at a time; `finish` runs with no lock held, so whatever it
 * answers with was copied out before. A part with much to look at does some of it and asks for the
 * same shard again, so that others get its lock in between.
 */
export type EachCommand = CommandMeta & {
  locks: "each";
  /** Called once, before the first shard. What it returns is passed to every part. */
  begin(db: Database, args: Args, session: Session): unknown;
  /** It visits every shard, whatever the session's port shows. */
  everywhere?: true;
  /** Called before every part with no lock held: the place to allocate what it will fill. */
  prepare?(state: unknown): void;
  part(db: Database, shard: number, state: unknown): AfterPart;
  /** Where to begin; the first shard of the scope if not said. Its result is within the scope. */
  firstShard?(db: Database, state: unknown): number;
  finish(db: Database, state: unknown, args: Args, reply: Reply): void;
};

/** A container such as CLIENT: it only has subcommands. */
export type ContainerCommand = CommandMeta & { locks: "container" };

export type CommandSpec =
  | SessionCommand
  | DataCommand
  | MixedCommand
  | CursorCommand
  | EachCommand
  | ContainerCommand;
