/** What a subcommand of DEBUG is. They are no commands of their own, as in Redis. */
import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import type { Database } from "../../keyspace/database.ts";
import type { Reply } from "../../protocol/reply.ts";

export type DebugSubcommand = {
  /** Upper case. */
  name: string;
  /** Words of a call, DEBUG included; at most so many, or any number. */
  words: number;
  most?: number;
  help: readonly string[];
} & (
  | { locks: "none"; run(session: Session, args: Args, reply: Reply): void }
  /** "keys": all words behind the name are keys, and their shards are locked. */
  | { locks: "keys" | "all"; run(db: Database, args: Args, reply: Reply): void }
);

/** A number as C's atoi reads it, of argument `i`: what is no number is 0. */
export function looseInteger(args: Args, i: number): number {
  const [text = "0"] = /^\s*[-+]?\d+/.exec(args.head(i, 32)) ?? [];
  return Number(text) | 0;
}
