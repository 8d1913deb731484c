/**
 * A reporter for node:test that is short about success and complete about failure.
 *
 * One line per file when it ends; a failed test with its error; at the end what failed files
 * printed, skipped tests with their reason, and last node:test's own counts.
 * The events of a file wait until the files listed before it have ended, but for its own
 * `test:complete`, so at that moment nothing more is known of it than its success.
 */

import { relative, sep } from "node:path";
import { inspect } from "node:util";

type TestError = Error & {
  readonly failureType?: string;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
};

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
    readonly error?: TestError;
  };
};

type FileRun = {
  /** Path of the source. */
  readonly name: string;
  /** Names of the tests around the one that runs, outermost first. */
  readonly names: string[];
  failures: number;
  output: string;
  /** Why the process of the file failed, when it did. */
  end: TestError | undefined;
};

const OUTPUT_MAX = 64 * 1024;

/** Events of one file name its source or its compiled form, depending on the event. */
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
    const name = sourceName(file);
    let run = this.#files.get(name);
    if (run === undefined) {
      run = { name, names: [], failures: 0, output: "", end: undefined };
      this.#files.set(name, run);
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
    const run = this.#run(data.file ?? "");
    if (sourceName(data.name ?? "") === run.name) {
      return this.#fileEnded(run, data);
    }
    const path = [...run.names.slice(0, data.nesting ?? 0), data.name ?? ""].join(" > ");
    const title = `${run.name} > ${path}`;
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

  /** What the file printed and which tests failed may still be on the way. */
  #fileEnded(run: FileRun, data: Data): string {
    const failed = data.details?.passed === false;
    run.end = failed ? (data.details.error ?? new Error("failed")) : undefined;
    const seconds = ((data.details?.duration_ms ?? 0) / 1000).toFixed(1);
    return `${failed ? "✖" : "✔"} ${run.name} (${seconds} s)\n`;
  }

  summary(): string {
    let text = "";
    for (const run of this.#files.values()) {
      text += this.#describeEnd(run);
    }
    const list = (title: string, lines: readonly string[]): string =>
      lines.length === 0 ? "" : `\n${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
    return text + list("skipped", this.#skipped) + list("failed", this.#failed);
  }

  #describeEnd(run: FileRun): string {
    if (run.end === undefined) {
      return "";
    }
    let text = "";
    const { exitCode, signal, message } = run.end;
    if (run.failures === 0 || signal != null) {
      const status = signal ?? (exitCode == null ? "" : `exit code ${exitCode}`);
      text = `    ${message}${status === "" ? "" : `, ${status}`}\n`;
      this.#failed.push(run.name);
    }
    if (run.output !== "") {
      text += `    it printed:\n${indent(run.output)}\n`;
    }
    return text === "" ? "" : `\n✖ ${run.name}\n${text}`;
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
