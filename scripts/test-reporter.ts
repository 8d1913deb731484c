/**
 * A reporter for node:test that is short about success and complete about failure.
 *
 * One line per file when it ends; a failed test at once, with its error; at the failure of a file
 * also what the file printed; skipped tests with their reason; last node:test's own counts.
 * It listens to `test:complete`, which is sent when a test ends, and not to `test:pass` and
 * `test:fail`, which wait until the files before it have ended.
 */

import { relative, sep } from "node:path";
import { inspect } from "node:util";

/** The fields of node:test's events that are used here; which are present depends on the type. */
type Data = {
  readonly name?: string;
  readonly nesting?: number;
  readonly file?: string;
  readonly message?: string;
  readonly skip?: string | boolean;
  readonly details?: {
    readonly duration_ms?: number;
    readonly passed?: boolean;
    readonly type?: string;
    readonly error?: Error & {
      readonly failureType?: string;
      readonly exitCode?: number | null;
      readonly signal?: string | null;
    };
  };
};

type FileRun = { readonly names: string[]; tests: number; failures: number; output: string };

const OUTPUT_MAX = 64 * 1024;

function sourceName(file: string): string {
  const path = relative(process.cwd(), file).split(sep).join("/");
  return path.replace(/^build\//, "").replace(/\.js$/, ".ts");
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, "    ");
}

/** The error as thrown, without the wrapper of node:test, with its causes. */
function describeError(error: unknown): string {
  const parts: string[] = [];
  let at: unknown = error;
  if (at instanceof Error && "failureType" in at && at.cause !== undefined) {
    at = at.cause;
  }
  while (at !== undefined && parts.length < 5) {
    parts.push(at instanceof Error && at.stack !== undefined ? at.stack : inspect(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return parts.join("\ncaused by ");
}

class Report {
  readonly #files: Map<string, FileRun> = new Map();
  readonly #failed: string[] = [];
  readonly #skipped: string[] = [];

  #run(file: string): FileRun {
    let run = this.#files.get(file);
    if (run === undefined) {
      run = { names: [], tests: 0, failures: 0, output: "" };
      this.#files.set(file, run);
    }
    return run;
  }

  onOutput(data: Data): void {
    const run = this.#run(data.file ?? "");
    run.output = (run.output + (data.message ?? "")).slice(-OUTPUT_MAX);
  }

  onStart(data: Data): void {
    const names = this.#run(data.file ?? "").names;
    names.length = data.nesting ?? 0;
    names.push(data.name ?? "");
  }

  onComplete(data: Data): string {
    const file = data.file ?? "";
    const run = this.#run(file);
    if (data.name === file) {
      return this.#fileEnded(file, run, data);
    }
    const path = [...run.names.slice(0, data.nesting ?? 0), data.name ?? ""].join(" > ");
    const title = `${sourceName(file)} > ${path}`;
    if (data.details?.type !== "suite") {
      run.tests += 1;
    }
    if (data.skip !== undefined && data.skip !== false) {
      this.#skipped.push(`${title}: ${data.skip === true ? "no reason given" : data.skip}`);
    }
    const error = data.details?.error;
    if (data.details?.passed !== false || error?.failureType === "subtestsFailed") {
      return "";
    }
    run.failures += 1;
    this.#failed.push(title);
    return `✖ ${title}\n${indent(describeError(error))}\n`;
  }

  #fileEnded(file: string, run: FileRun, data: Data): string {
    const name = sourceName(file);
    const seconds = ((data.details?.duration_ms ?? 0) / 1000).toFixed(1);
    if (data.details?.passed !== false) {
      return `✔ ${name} (${run.tests} tests, ${seconds} s)\n`;
    }
    let text = `✖ ${name} (${run.failures} of ${run.tests} tests failed, ${seconds} s)\n`;
    const error = data.details.error;
    if (run.failures === 0) {
      this.#failed.push(name);
      text += `${indent(String(error?.message))}\n`;
    }
    if (error?.exitCode != null || error?.signal != null) {
      text += `    exit code ${error.exitCode ?? "none"}, signal ${error.signal ?? "none"}\n`;
    }
    if (run.output !== "") {
      text += `    it printed:\n${indent(run.output)}\n`;
    }
    return text;
  }

  summary(): string {
    const list = (title: string, lines: readonly string[]): string =>
      lines.length === 0 ? "" : `\n${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
    return list("skipped", this.#skipped) + list("failed", this.#failed);
  }
}

type Event = { readonly type: string; readonly data: Data };

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from the default export.
export default async function* report(events: AsyncIterable<Event>): AsyncGenerator<string> {
  const state = new Report();
  const counts: string[] = [];
  for await (const { type, data } of events) {
    if (type === "test:stdout" || type === "test:stderr") {
      state.onOutput(data);
    } else if (type === "test:dequeue") {
      state.onStart(data);
    } else if (type === "test:complete") {
      yield state.onComplete(data);
    } else if (type === "test:diagnostic" && data.file === undefined) {
      counts.push(`# ${data.message ?? ""}\n`);
    }
  }
  yield `${state.summary()}\n${counts.join("")}`;
}
