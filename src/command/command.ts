/**
 * A command as the server uses it: everything that follows from its spec, computed once at start.
 *
 * One hidden class for all commands: every field is set in the constructor. `runSession` and
 * `runData` are both always there, so that a caller that has looked at `locks` calls without a
 * test; the one that does not apply throws.
 */
import type { Args } from "../base/args.ts";
import {
  categoryBitsOf,
  FLAG_BLOCKING,
  FLAG_FAST,
  FLAG_MOVABLE_KEYS,
  FLAG_PROTECTED,
  FLAG_SLOW_CLOCK,
  flagBitsOf,
} from "./flags.ts";
import type { KeySpec } from "./grammar.ts";
import { arityOf } from "./grammar.ts";
import type { KeyFinder, KeyList } from "./key-specs.ts";
import { deriveKeySpecs, findKeys, KEYS_FOUND, keyFlagBitsOf, plainRangeOf } from "./key-specs.ts";
import type {
  CommandSpec,
  CursorCommand,
  DataCommand,
  EachCommand,
  SessionCommand,
} from "./spec.ts";

export const LOCKS_NONE = 0;
/** The shards of the keys. */
export const LOCKS_KEYS = 1;
/** The shard of the one slot that the arguments point to: ask `slotOf`. */
export const LOCKS_CURSOR = 2;
/** Every shard, one after another. */
export const LOCKS_EACH = 3;
/** Every shard at once. */
export const LOCKS_ALL = 4;
/** Depends on the arguments: ask `locksFor`. */
export const LOCKS_DYNAMIC = 5;
/** A container: it is never run. */
export const LOCKS_CONTAINER = 6;

const LOCKS_BY_NAME = {
  none: LOCKS_NONE,
  keys: LOCKS_KEYS,
  cursor: LOCKS_CURSOR,
  each: LOCKS_EACH,
  all: LOCKS_ALL,
  container: LOCKS_CONTAINER,
} as const;

export class Command {
  /** Dense: index into statistics rows and the table's list. Containers count too. */
  readonly id: number;
  /** As Redis writes it: "get", "client|list". */
  readonly name: string;
  readonly spec: CommandSpec;
  /** Words of the call, the name included; negative: at least so many. */
  readonly arity: number;
  readonly flagBits: number;
  readonly categoryBits: number;
  /** One of the LOCKS constants. */
  readonly locks: number;
  /** Positions of the keys in plain form; 0 where there are none or they need `keyPositions`. */
  readonly keyFirst: number;
  /** Negative: counted from the end of the arguments. */
  readonly keyLast: number;
  readonly keyStep: number;
  /** The only key is argument 1, always, and its shard is all that is locked. */
  readonly oneKeyAtOne: boolean;
  /** One key at 1, and nothing else to look at before it runs: the dispatcher's shortest way. */
  readonly isDirect: boolean;
  /**
   * Every call is timed: what may take long, and what is not about single keys and not fast. Of the
   * others one in many is.
   */
  readonly isAlwaysTimed: boolean;
  /** Some argument is, or may be, a key. */
  readonly hasKeys: boolean;
  readonly keySpecs: readonly KeySpec[];
  /** What it does under locks is bounded, since its time is documented as constant. */
  readonly isBounded: boolean;
  readonly container: Command | null;
  /** By lower-case name without the container, in the order of the specs. */
  readonly subcommands: Map<string, Command>;
  readonly runSession: SessionCommand["run"];
  readonly runData: DataCommand["run"];
  readonly each: EachCommand | null;
  readonly slotOf: CursorCommand["slotOf"];
  readonly #locksOf: ((args: Args) => "none" | "keys" | "all") | null;
  readonly #keyFlagBits: Int32Array;
  readonly #findKeys: KeyFinder | null;

  constructor(id: number, spec: CommandSpec, container: Command | null) {
    const words = spec.name.split(" ").length;
    const args = spec.args ?? [];
    const keySpecs = spec.keys ?? deriveKeySpecs(words, args);
    const range = plainRangeOf(keySpecs);
    this.id = id;
    this.name = spec.name.toLowerCase().replace(" ", "|");
    this.spec = spec;
    this.arity = spec.arity ?? (spec.locks === "container" ? -2 : arityOf(words, args));
    this.flagBits = flagBitsOf(spec.flags) | (range.movable ? FLAG_MOVABLE_KEYS : 0);
    this.categoryBits = categoryBitsOf(
      spec.locks === "container" ? null : spec.group,
      this.flagBits,
      spec.categories ?? [],
    );
    this.locks = typeof spec.locks === "function" ? LOCKS_DYNAMIC : LOCKS_BY_NAME[spec.locks];
    this.keyFirst = range.first;
    this.keyLast = range.last;
    this.keyStep = range.step;
    this.oneKeyAtOne =
      spec.locks === "keys" && range.first === 1 && range.last === 1 && !range.movable;
    this.isDirect =
      this.oneKeyAtOne && spec.locks === "keys" && (this.flagBits & FLAG_PROTECTED) === 0;
    this.isAlwaysTimed =
      (this.flagBits & (FLAG_SLOW_CLOCK | FLAG_BLOCKING)) !== 0 ||
      (this.locks !== LOCKS_KEYS && (this.flagBits & FLAG_FAST) === 0);
    this.keySpecs = keySpecs;
    this.hasKeys =
      spec.findKeys !== undefined || keySpecs.some(({ flags }) => !flags.includes("not_key"));
    this.isBounded = spec.complexity.startsWith("O(1)");
    this.container = container;
    this.subcommands = new Map();
    this.runSession =
      spec.locks === "none" ? spec.run : "runSession" in spec ? spec.runSession : notThisWay;
    this.runData = "run" in spec && spec.locks !== "none" ? spec.run : notThisWay;
    this.each = spec.locks === "each" ? spec : null;
    this.slotOf = spec.locks === "cursor" ? spec.slotOf : notThisWay;
    this.#locksOf = typeof spec.locks === "function" ? spec.locks : null;
    this.#keyFlagBits = Int32Array.from(keySpecs, ({ flags }) => keyFlagBitsOf(flags));
    this.#findKeys = spec.findKeys ?? ("findLockKeys" in spec ? spec.findLockKeys : null);
  }

  /** True if `count` words, the name included, may be a call of this command. */
  takes(count: number): boolean {
    return this.arity >= 0 ? count === this.arity : count >= -this.arity;
  }

  /** The lock set of this call: `locks`, resolved where it depends on the arguments. */
  locksFor(args: Args): number {
    return this.#locksOf === null ? this.locks : LOCKS_BY_NAME[this.#locksOf(args)];
  }

  /**
   * Appends the keys of the call that starts at `args[base]` to `out` and returns how many those
   * were: 0 for a malformed call too, whose error is the handler's to tell.
   */
  keyPositions(args: Args, out: KeyList, base = 0): number {
    const before = out.count;
    this.findKeysOf(args, out, base);
    return out.count - before;
  }

  /** As `keyPositions`, but returns KEYS_FOUND or KEYS_UNKNOWN. */
  findKeysOf(args: Args, out: KeyList, base: number): number {
    if (this.#findKeys === null) {
      return findKeys(this.keySpecs, this.#keyFlagBits, args, base, out);
    }
    this.#findKeys(args, base, out);
    return KEYS_FOUND;
  }
}

function notThisWay(): never {
  throw new Error("a command was run in a way that its lock set does not allow");
}
