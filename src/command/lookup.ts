/**
 * The command table: all commands by name, found from the bytes of a request.
 *
 * `NameIndex` is an open-addressing hash table over names in lower case. The hash takes the length
 * and three bytes, each with bit 5 set (so that letter case does not count); a hit is then compared
 * byte by byte. Names are laid out one after another:
 *
 *     slots   [ -1 | 7 | -1 | 0 | ... ]      index of a name, or -1
 *     starts  [ 0 | 3 | 6 | ... | total ]    name i is bytes[starts[i] .. starts[i + 1]]
 *     bytes   g e t s e t ...                lower case
 *     folds   32 for a letter, else 0        or-ed to a byte of the request before comparing
 */
import type { Args } from "./args.ts";
import { Command } from "./command.ts";
import type { CommandSpec } from "./spec.ts";

const EMPTY = -1;

/** Finds one of a fixed list of names in any letter case, without allocating. */
export class NameIndex {
  readonly #mask: number;
  readonly #slots: Int16Array;
  readonly #starts: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #folds: Uint8Array;

  constructor(names: readonly string[]) {
    let size = 16;
    while (size < names.length * 4) size *= 2;
    this.#mask = size - 1;
    this.#slots = new Int16Array(size).fill(EMPTY);
    this.#starts = new Int32Array(names.length + 1);
    const all = names.join("");
    this.#bytes = Uint8Array.from(all, (letter) => letter.charCodeAt(0));
    this.#folds = this.#bytes.map((byte) => (byte >= 97 && byte <= 122 ? 32 : 0));
    for (let i = 0, at = 0; i < names.length; i++) {
      const end = at + (names[i] as string).length;
      this.#starts[i + 1] = end;
      let slot = hash(this.#bytes, at, end) & this.#mask;
      while (this.#slots[slot] !== EMPTY) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = i;
      at = end;
    }
  }

  /** Index of the name that bytes `start..end` spell, or -1. */
  find(buffer: Uint8Array, start: number, end: number): number {
    if (end <= start) return EMPTY;
    const length = end - start;
    const mask = this.#mask;
    const slots = this.#slots;
    const starts = this.#starts;
    for (let slot = hash(buffer, start, end) & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot] as number;
      if (index === EMPTY) return EMPTY;
      const at = starts[index] as number;
      if ((starts[index + 1] as number) - at !== length) continue;
      if (same(buffer, start, this.#bytes, this.#folds, at, length)) return index;
    }
  }
}

/** Needs at least one byte. */
function hash(buffer: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const first = (buffer[start] as number) | 32;
  const middle = (buffer[start + (length >> 1)] as number) | 32;
  const last = (buffer[end - 1] as number) | 32;
  const mixed = Math.imul((first << 16) ^ (middle << 8) ^ last ^ (length << 24), 0x9e3779b1);
  return mixed >>> 16;
}

function same(
  buffer: Uint8Array,
  start: number,
  bytes: Uint8Array,
  folds: Uint8Array,
  at: number,
  length: number,
): boolean {
  for (let i = 0; i < length; i++) {
    const byte = (buffer[start + i] as number) | (folds[at + i] as number);
    if (byte !== bytes[at + i]) return false;
  }
  return true;
}

export class CommandTable {
  /** Every command, subcommands and containers included: `list[command.id] === command`. */
  readonly list: readonly Command[];
  /** Those without a container, in the order of the specs. */
  readonly top: readonly Command[];
  readonly #byName: Map<string, Command> = new Map();
  readonly #index: NameIndex;
  /** By the container's id; null where there are no subcommands. */
  readonly #subIndexes: readonly (NameIndex | null)[];
  readonly #subLists: readonly (readonly Command[])[];

  /** Throws if a name occurs twice, or a subcommand's container is missing. */
  constructor(specs: readonly CommandSpec[]) {
    this.list = makeCommands(specs, this.#byName);
    this.top = this.list.filter(({ container }) => container === null);
    this.#index = new NameIndex(this.top.map(({ name }) => name));
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
    const index = names ? names.find(buffer, start, end) : EMPTY;
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

  /** By full name in any letter case: "GET", "client|list". */
  named(name: string): Command | null {
    return this.#byName.get(name.toLowerCase()) ?? null;
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
