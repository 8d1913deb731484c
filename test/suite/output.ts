/**
 * Reads what Valkey's test runner prints:
 *
 *   [testing]: name                       a case begins
 *   [ok]: name (3 ms)                     a case passed, unless an error without its name came
 *                                         since it began: that of a server which it had started
 *   [err]: name in tests/unit/x.tcl       a case failed; the lines up to the next mark say how
 *   [err]: some text                      an error within the last case that began, or between
 *                                         cases, which ends the block it is in
 *   [skip]: name                          it was told to leave this case out
 *   [ignore]: name: why                   tags keep the case out, or, without a name, a block
 *   [exception]: ...                      the runner gave up
 *   [TIMEOUT]: ... => (IN PROGRESS) name  nothing happened for too long
 *
 * What follows "The End" repeats the failures.
 */

export type CaseResult = { name: string; passed: boolean; detail: string };

export type UnitOutput = {
  /** In the order of their ends; the same name may come several times. */
  cases: CaseResult[];
  /** Names of cases that were left out because they were asked to be. */
  skipped: string[];
  /** Cases and blocks that tags kept out. */
  ignored: string[];
  /** Errors between cases, with the case before them. */
  broken: { after: string; detail: string }[];
  /** Why the runner did not come to the end of the unit; null if it did. */
  aborted: string | null;
  /** The case that was running when nothing happened any more; null if none. */
  hung: string | null;
};

const MARK = /^\[(ok|err|skip|ignore|exception|ready|testing|\d+\/\d+ done|TIMEOUT)\]: ?(.*)$/;
const FAILED_CASE = /^(.*) in tests\/\S+\.tcl$/;
const NO_START = "Can't start the Valkey server";
const DETAIL_LINES_MAX = 12;

type Piece = { mark: string; text: string; rest: string[] };

/** The case that is under way, and what the first error within it said. */
type Begun = { name: string | null; error: string | null };

export function parseOutput(text: string): UnitOutput {
  const output: UnitOutput = {
    cases: [],
    skipped: [],
    ignored: [],
    broken: [],
    aborted: null,
    hung: null,
  };
  const begun: Begun = { name: null, error: null };
  let isDone = false;
  for (const piece of piecesOf(text)) {
    if (piece.mark.endsWith("done")) isDone = true;
    if (piece.mark === "testing") {
      begun.name = piece.text;
      begun.error = null;
    } else {
      take(piece, output, begun);
    }
  }
  if (!isDone && output.aborted === null) output.aborted = "the runner ended early";
  return output;
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (const line of text.split("\n")) {
    if (/^\s*The End$/.test(line)) break;
    const found = MARK.exec(line);
    if (found !== null) pieces.push({ mark: found[1] ?? "", text: found[2] ?? "", rest: [] });
    else pieces.at(-1)?.rest.push(line);
  }
  return pieces;
}

function take({ mark, text, rest }: Piece, output: UnitOutput, begun: Begun): void {
  const detail = detailOf(rest);
  if (mark === "ok") {
    const name = text.replace(/ \(\d+ ms\)$/, "");
    const error = begun.name === name ? begun.error : null;
    output.cases.push({ name, passed: error === null, detail: error ?? "" });
    begun.name = null;
  } else if (mark === "err") {
    const name = FAILED_CASE.exec(text)?.[1];
    if (name !== undefined) {
      output.cases.push({ name, passed: false, detail });
      begun.name = null;
    } else if (begun.name !== null) {
      // A server that did not start says so twice, and only then why.
      if (begun.error === null || text === NO_START) begun.error = `${text}\n${detail}`;
    } else {
      const after = lastCase(output);
      if (text === NO_START && output.broken.at(-1)?.after === after) output.broken.pop();
      output.broken.push({ after, detail: `${text}\n${detail}` });
    }
  } else if (mark === "skip") {
    output.skipped.push(text);
  } else if (mark === "ignore") {
    output.ignored.push(text);
  } else if (mark === "exception") {
    output.aborted = `after ${lastCase(output)}: ${text}`;
  } else if (mark === "TIMEOUT") {
    output.hung = /=> \(IN PROGRESS\) (.*)/.exec(rest.join("\n"))?.[1] ?? null;
    output.aborted = `hung in ${output.hung ?? `something after ${lastCase(output)}`}`;
  }
}

/** Of a server that did not start not its configuration, but what it said. */
function detailOf(rest: readonly string[]): string {
  const from = rest.indexOf("ERROR:") + 1;
  return rest
    .slice(from, from + DETAIL_LINES_MAX)
    .join("\n")
    .trim();
}

function lastCase(output: UnitOutput): string {
  const last = output.cases.at(-1);
  return last === undefined ? "the start" : `"${last.name}"`;
}
