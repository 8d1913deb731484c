/**
 * Reads what Valkey's test runner prints:
 *
 *   [ok]: name (3 ms)                     a case passed
 *   [err]: name in tests/unit/x.tcl       a case failed; the lines up to the next mark say how
 *   [err]: some text                      an error between cases, which ends the block it is in
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
const DETAIL_LINES_MAX = 12;

type Piece = { mark: string; text: string; rest: string[] };

export function parseOutput(text: string): UnitOutput {
  const output: UnitOutput = {
    cases: [],
    skipped: [],
    ignored: [],
    broken: [],
    aborted: null,
    hung: null,
  };
  let isDone = false;
  for (const piece of piecesOf(text)) {
    if (piece.mark.endsWith("done")) isDone = true;
    take(piece, output);
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

function take({ mark, text, rest }: Piece, output: UnitOutput): void {
  const detail = rest.slice(0, DETAIL_LINES_MAX).join("\n").trim();
  if (mark === "ok") {
    output.cases.push({ name: text.replace(/ \(\d+ ms\)$/, ""), passed: true, detail: "" });
  } else if (mark === "err") {
    const name = FAILED_CASE.exec(text)?.[1];
    if (name !== undefined) output.cases.push({ name, passed: false, detail });
    else output.broken.push({ after: lastCase(output), detail: `${text}\n${detail}` });
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

function lastCase(output: UnitOutput): string {
  const last = output.cases.at(-1);
  return last === undefined ? "the start" : `"${last.name}"`;
}
