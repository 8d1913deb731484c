/** A configuration's outside world in memory: files, folders, environment, command line. */
import path from "node:path";
import type { ConfigSource, FileText } from "../../src/server/config/host.ts";

export type FakeWorld = {
  argv?: readonly string[];
  env?: Readonly<Record<string, string>>;
  stdin?: string;
  /** Relative paths are below `/srv`, where the process was started. */
  files?: Readonly<Record<string, string>>;
  directories?: readonly string[];
  parallelism?: number;
};

const CWD = "/srv";

export class FakeSource implements ConfigSource {
  readonly cwd: string = CWD;
  readonly parallelism: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly version: string = "ZeroHop server v=7.4.1";
  readonly files: Map<string, string> = new Map();
  /** Set to make every write fail with it. */
  writeError: string | null = null;
  readonly #stdin: string | undefined;
  readonly #directories: Set<string>;

  constructor(world: FakeWorld = {}) {
    this.argv = world.argv ?? [];
    this.env = world.env ?? {};
    this.parallelism = world.parallelism ?? 4;
    this.#stdin = world.stdin;
    for (const [name, text] of Object.entries(world.files ?? {})) {
      this.files.set(path.posix.resolve(CWD, name), text);
    }
    const given = (world.directories ?? []).map((name) => path.posix.resolve(CWD, name));
    this.#directories = new Set([CWD, ...given]);
    for (const name of this.files.keys()) this.#directories.add(path.posix.dirname(name));
  }

  resolvePath(base: string, name: string): string {
    return path.posix.resolve(base, name);
  }

  directoryError(name: string): string | null {
    if (this.#directories.has(name)) return null;
    return this.files.has(name) ? "Not a directory" : "No such file or directory";
  }

  readFile(name: string): FileText {
    const text = this.files.get(name);
    if (text !== undefined) return { ok: true, text };
    const error = this.#directories.has(name) ? "Is a directory" : "No such file or directory";
    return { ok: false, error };
  }

  replaceFile(name: string, text: string): string | null {
    if (this.writeError === null) this.files.set(name, text);
    return this.writeError;
  }

  readStdin(): FileText {
    if (this.#stdin === undefined) throw new Error("standard input was not asked for");
    return { ok: true, text: this.#stdin };
  }

  listDirectory(name: string): string[] | null {
    if (!this.#directories.has(name)) return null;
    const all = [...this.files.keys(), ...this.#directories];
    return all
      .filter((each) => path.posix.dirname(each) === name)
      .map((each) => path.posix.basename(each));
  }
}
