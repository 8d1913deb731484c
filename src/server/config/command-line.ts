/**
 * The command line in redis-server's syntax: `[file] [--name value ...] ... [-]`. Options become
 * lines of a configuration file; `load` reads them after all else.
 */
import { lowerText } from "../../base/bytes.ts";
import { quote, splitWords } from "./quoting.ts";

export type CommandLine =
  | { kind: "help" }
  | { kind: "version" }
  | { kind: "run"; file: string | null; stdin: boolean; settings: string[] };

export const HELP = `Usage: zerohop [/path/to/redis.conf] [options] [-]
       zerohop - (read config from stdin)
       zerohop -v or --version
       zerohop -h or --help

Every directive of redis.conf is an option: --name value ...
and a variable of the environment: ZEROHOP_NAME, with _ for -.
The command line counts before the environment, and that before files.

Examples:
       zerohop (run the server with default conf)
       echo 'maxmemory 128mb' | zerohop -
       zerohop /etc/redis/6379.conf
       zerohop --port 7777
       zerohop --port 7777 --threads 4 --shard-owners yes
       zerohop /etc/myredis.conf --loglevel verbose -
       ZEROHOP_MAXMEMORY=1gb zerohop
`;

export function parseCommandLine(argv: readonly string[]): CommandLine {
  const first = argv[0];
  if (first === "-h" || first === "--help") return { kind: "help" };
  if (first === "-v" || first === "--version") return { kind: "version" };
  const file = first === undefined || first.startsWith("-") ? null : first;
  const reader = new OptionReader();
  let stdin = false;
  for (let i = file === null ? 0 : 1; i < argv.length; i++) {
    const word = argv[i] as string;
    if (word === "-" && (i === 0 || i === argv.length - 1)) stdin = true;
    else reader.add(word, argv[i + 1]);
  }
  return { kind: "run", file, stdin, settings: reader.lines };
}

class OptionReader {
  readonly lines: string[] = [];
  /** The name that was last given has no value yet, so the next word is one, even "--x". */
  #needsValue = false;

  add(word: string, next: string | undefined): void {
    if (!this.#needsValue && word.startsWith("--")) {
      this.#addName(word, next);
    } else {
      const value = quote(word);
      const last = this.lines.pop();
      this.lines.push(last === undefined ? value : `${last} ${value}`);
      this.#needsValue = false;
    }
  }

  /** `word` may hold its value too: "--port 6380". It is not quoted, as in Redis. */
  #addName(word: string, next: string | undefined): void {
    const bare = splitWords(word)?.length === 1;
    // An empty list may be left out of a generated command line: --save --port 6380.
    const empty = lowerText(word) === "--save" && (next === undefined || next.startsWith("--"));
    this.lines.push(word.slice(2) + (bare && empty ? ' ""' : ""));
    this.#needsValue = bare && !empty;
  }
}
