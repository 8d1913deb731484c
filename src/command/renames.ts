/**
 * `rename-command`: the names by which commands are called, as opposed to those of the table, which
 * statistics, replies of COMMAND and error texts go on with. One line after another takes a name
 * away from a command and may give it another one, which in turn can be taken away.
 */
import { lowerText } from "../base/bytes.ts";

/** Names of the table, each with the name by which it is called; "" for none. In lower case. */
export type Renames = readonly (readonly [declared: string, called: string])[];

export class CommandNames {
  /** Names of the table, by those that are called. */
  readonly #called: Map<string, string>;
  readonly #declared: readonly string[];

  /** `declared` are the names of commands that have no container. */
  constructor(declared: readonly string[]) {
    this.#declared = declared.map(lowerText);
    this.#called = new Map(this.#declared.map((name) => [name, name]));
  }

  /** `to` "" takes the command away. Returns why that cannot be, or null. */
  rename(from: string, to: string): string | null {
    const old = lowerText(from);
    const declared = this.#called.get(old);
    if (declared === undefined) return "No such command in rename-command";
    this.#called.delete(old);
    if (to === "") return null;
    const called = lowerText(to);
    if (this.#called.has(called)) return "Target command name already exists";
    this.#called.set(called, declared);
    return null;
  }

  /** The commands that are called by another name than theirs, or by none. */
  renames(): Renames {
    const names = new Map(this.#declared.map((name) => [name, ""]));
    for (const [called, declared] of this.#called) names.set(declared, called);
    return [...names].filter(([declared, called]) => declared !== called);
  }
}
