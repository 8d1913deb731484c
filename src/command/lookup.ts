/**
 * The command table: all commands by name, found from the bytes of a request.
 *
 * `NameIndex` is an open-addressing hash table over names in lower case. Four bytes from each end of
 * a name, each with bit 5 set so that letter case does not count, are two numbers, `head` and
 * `tail`. For a name of at most eight letters they and the length are the whole comparison. Other
 * bytes (hyphen, digit) have a partner that differs in bit 5 only, so those names, and longer ones,
 * are compared byte by byte as well.
 *
 *     slots    [ head | tail | length | number ] ...     four Int32 a slot; length 0: empty
 *     number   index of the name, or ~index if bytes must be compared
 */
import type { Args } from "../base/args.ts";
import { latin1Bytes, lowerText } from "../base/bytes.ts";
import { Command } from "./command.ts";
import type { Renames } from "./renames.ts";
import type { CommandSpec } from "./spec.ts";

const NOT_FOUND = -1;
const SLOT_INTS = 4;
/** Bytes of a name that `head` and `tail` hold. */
const PACKED = 8;

/** Finds one of a fixed list of names in any letter case, without allocating. */
export class NameIndex {
  readonly #names: readonly Uint8Array[];
  readonly #slots: Int32Array;
  /** Of indices into `slots`, whose length is a power of two. */
  readonly #mask: number;

  constructor(names: readonly string[]) {
    let size = 16;
    while (size < names.length * 2) size *= 2;
    this.#names = names.map(latin1Bytes);
    this.#slots = new Int32Array(size * SLOT_INTS);
    this.#mask = this.#slots.length - SLOT_INTS;
    for (const [i, bytes] of this.#names.entries()) {
      const [head, tail] = packed(bytes);
      let at = firstSlot(head, tail, bytes.length) & this.#mask;
      while (this.#slots[at + 2] !== 0) at = (at + SLOT_INTS) & this.#mask;
      const isExact = bytes.length <= PACKED && bytes.every((byte) => byte >= 97 && byte <= 122);
      this.#slots.set([head, tail, bytes.length, isExact ? i : ~i], at);
    }
  }

  /**
   * Index of the name that bytes `start..end` spell, or -1. Packs both ends in straight line: loops
   * over the bytes took 1.4 times as long.
   */
  find(buffer: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length <= 0) return NOT_FOUND;
    let head = (buffer[start] as number) | 32;
    let tail = (buffer[end - 1] as number) | 32;
    if (length > 2) {
      head = (head << 8) | (buffer[start + 1] as number) | 32;
      tail = (tail << 8) | (buffer[end - 2] as number) | 32;
      if (length > 4) {
        head = (head << 8) | (buffer[start + 2] as number) | 32;
        tail = (tail << 8) | (buffer[end - 3] as number) | 32;
        if (length > 6) {
          head = (head << 8) | (buffer[start + 3] as number) | 32;
          tail = (tail << 8) | (buffer[end - 4] as number) | 32;
        }
      }
    }
    const slots = this.#slots;
    const mask = this.#mask;
    let at = firstSlot(head, tail, length) & mask;
    for (; slots[at + 2] !== 0; at = (at + SLOT_INTS) & mask) {
      if (slots[at] !== head || slots[at + 1] !== tail || slots[at + 2] !== length) continue;
      const number = slots[at + 3] as number;
      if (number >= 0) return number;
      if (spells(this.#names[~number] as Uint8Array, buffer, start)) return ~number;
    }
    return NOT_FOUND;
  }
}

/** `head` and `tail` of a name in lower case, as `find` makes them: they meet in the middle. */
function packed(name: Uint8Array): [head: number, tail: number] {
  const each = Math.min(PACKED / 2, Math.ceil(name.length / 2));
  let head = 0;
  let tail = 0;
  for (let i = 0; i < each; i++) {
    head = (head << 8) | (name[i] as number) | 32;
    tail = (tail << 8) | (name[name.length - 1 - i] as number) | 32;
  }
  return [head, tail];
}

/** To be masked; slots are at multiples of four. */
function firstSlot(head: number, tail: number, length: number): number {
  return (Math.imul(head ^ (tail << 3) ^ length, 0x9e3779b1) >>> 15) << 2;
}

/** `name` is in lower case and as long as what it is compared with. */
function spells(name: Uint8Array, buffer: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) {
    let byte = buffer[start + i] as number;
    if (byte >= 65 && byte <= 90) byte |= 32;
    if (byte !== name[i]) return false;
  }
  return true;
}

export class CommandTable {
  /** Every command, subcommands and containers included: `list[command.id] === command`. */
  readonly list: readonly Command[];
  /** `list` without those that nobody can call, since `rename-command` has taken them away. */
  readonly callable: readonly Command[];
  /** Of those the ones without a container, in the order of the specs. */
  readonly top: readonly Command[];
  readonly #byName: Map<string, Command> = new Map();
  /** Those of `top` by the names that they are called by. */
  readonly #byCalledName: ReadonlyMap<string, Command>;
  readonly #index: NameIndex;
  /** By the container's id; null where there are no subcommands. */
  readonly #subIndexes: readonly (NameIndex | null)[];
  readonly #subLists: readonly (readonly Command[])[];

  /** Throws if a name occurs twice, or a subcommand's container is missing. */
  constructor(specs: readonly CommandSpec[], renames: Renames = []) {
    this.list = makeCommands(specs, this.#byName);
    const called = new Map(renames);
    this.callable = this.list.filter(
      ({ name, container }) => called.get(container?.name ?? name) !== "",
    );
    this.top = this.callable.filter(({ container }) => container === null);
    const names = this.top.map(({ name }) => called.get(name) ?? name);
    this.#byCalledName = new Map(this.top.map((command, i) => [names[i] as string, command]));
    this.#index = new NameIndex(names);
    this.#subLists = this.list.map(({ subcommands }) => [...subcommands.values()]);
    this.#subIndexes = this.list.map(({ subcommands }) =>
      subcommands.size > 0 ? new NameIndex([...subcommands.keys()]) : null,
    );
  }

  /** The command or container that bytes `start..end` name, or null. */
  lookup(buffer: Uint8Array, start: number, end: number): Command | null {
    const index = this.#index.find(buffer, start, end);
    return index < 0 ? null : (this.top[index] as Command);
  }

  /** The subcommand of `container` that bytes `start..end` name, or null. */
  lookupSub(container: Command, buffer: Uint8Array, start: number, end: number): Command | null {
    const names = this.#subIndexes[container.id];
    const index = names ? names.find(buffer, start, end) : NOT_FOUND;
    return index < 0 ? null : ((this.#subLists[container.id] as Command[])[index] as Command);
  }

  /**
   * The command that the words from `args[base]` on name: a subcommand where there is a second
   * word and the first is a container, and null if either is not known.
   */
  resolve(args: Args, base: number): Command | null {
    const source = args.source(base);
    const command = this.lookup(source, args.start[base] as number, args.end[base] as number);
    if (command === null || command.subcommands.size === 0 || base + 1 >= args.count) {
      return command;
    }
    const start = args.start[base + 1] as number;
    return this.lookupSub(command, args.source(base + 1), start, args.end[base + 1] as number);
  }

  /** By the full name that clients use, in any letter case: "GET", "client|list". */
  named(name: string): Command | null {
    const [first = "", ...rest] = lowerText(name).split("|");
    const command = this.#byCalledName.get(first) ?? null;
    if (command === null || rest.length === 0) return command;
    return command.subcommands.get(rest.join("|")) ?? null;
  }

  /** By the full name of its spec, in lower case. */
  declared(name: string): Command | null {
    return this.#byName.get(name) ?? null;
  }
}

/**
 * A subcommand may stand before its container in `specs`. COMMAND is both: it has subcommands and
 * runs without one.
 */
function makeCommands(specs: readonly CommandSpec[], byName: Map<string, Command>): Command[] {
  const list: Command[] = [];
  const add = (spec: CommandSpec, container: Command | null): Command => {
    const command = new Command(list.length, spec, container);
    if (byName.has(command.name)) throw new Error(`there are two commands ${spec.name}`);
    byName.set(command.name, command);
    list.push(command);
    return command;
  };
  for (const spec of specs) if (!spec.name.includes(" ")) add(spec, null);
  for (const spec of specs) {
    const [first, second] = spec.name.split(" ");
    if (first === undefined || second === undefined) continue;
    const container = byName.get(first.toLowerCase());
    if (container === undefined) throw new Error(`${spec.name} has no container ${first}`);
    container.subcommands.set(second.toLowerCase(), add(spec, container));
  }
  return list;
}
