/**
 * A copy of the parts of a Valkey checkout that its test runner reads, in a temporary folder, with
 * the changes without which it could not be run at all:
 *   - before each block it sends FUNCTION FLUSH, which a server without functions refuses;
 *   - it starts src/valkey-cli and src/valkey-benchmark, for which redis-cli and redis-benchmark
 *     stand in;
 *   - after an error between cases it takes a server off its stack twice, and ends;
 *   - it does not print which case begins, so that nobody sees that an error was within one.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { toolPath } from "../support/environment.ts";
import { temporaryFolder } from "../support/ports.ts";
import { UsageError } from "./options.ts";

/** In Tcl: prints the mark of a case that begins. */
const SAY_BEGIN = 'puts "\\[testing\\]: $$data"';

export function copyCheckout(from: string): string {
  const runner = path.join(from, "tests", "test_helper.tcl");
  if (!existsSync(runner)) throw new UsageError(`${from} is no checkout of Valkey: no ${runner}`);
  const to = temporaryFolder();
  cpSync(path.join(realpathSync(from), "tests"), path.join(to, "tests"), { recursive: true });
  mkdirSync(path.join(to, "tests", "tmp"), { recursive: true });
  mkdirSync(path.join(to, "src"));
  for (const name of ["cli", "benchmark"] as const) {
    const tool = toolPath(`redis-${name}`);
    if (tool !== undefined) symlinkSync(tool, path.join(to, "src", `valkey-${name}`));
  }
  replaceInFile(path.join(to, "tests", "support", "server.tcl"), [
    [/^( *)r function flush$/m, "$1catch {r function flush}"],
    [
      /^( *)\} else \{\n[^\n]*\n *error \$error \$backtrace$/m,
      '$1    dict unset srv "client"\n$1    lappend ::servers $$srv\n$&',
    ],
  ]);
  replaceInFile(path.join(to, "tests", "test_helper.tcl"), [
    [/^( *)set ::active_clients_task\(\$fd\) "\(IN PROGRESS\) \$data"$/m, `$&\n$1${SAY_BEGIN}`],
  ]);
  return to;
}

/** Throws where there is nothing to replace: the runner is then another one than we know. */
function replaceInFile(file: string, changes: readonly (readonly [RegExp, string])[]): void {
  let text = readFileSync(file, "utf8");
  for (const [from, to] of changes) {
    if (!from.test(text)) throw new UsageError(`${file}: nothing matches ${from}`);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
}
