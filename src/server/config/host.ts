/**
 * What the configuration needs from outside: files, paths and processors. `main.ts` and the thread
 * entry give it; tests give a small one of their own.
 *
 * All text is binary strings, one character per byte, paths and file contents included. Errors are
 * the operating system's words, as strerror gives them: "No such file or directory".
 */

export type FileText = { ok: true; text: string } | { ok: false; error: string };

export type ConfigHost = {
  /** Where the process was started; absolute. */
  readonly cwd: string;
  /** Processors that this process may use. */
  readonly parallelism: number;
  resolvePath(base: string, path: string): string;
  /** Null if the path is a directory. */
  directoryError(path: string): string | null;
  readFile(path: string): FileText;
  /** Puts the text in the place of the file at once or not at all; null on success. */
  replaceFile(path: string, text: string): string | null;
};

/** What a start needs besides. */
export type ConfigSource = ConfigHost & {
  /** The arguments after the name of the program. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The line that --version prints. */
  readonly version: string;
  /** All of standard input; asked for only if the command line says "-". */
  readStdin(): FileText;
  /** Names in a directory, or null if it cannot be read. */
  listDirectory(path: string): readonly string[] | null;
};
