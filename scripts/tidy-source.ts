/**
 * Rules for TypeScript sources that no linter has. They read lines, not a syntax tree, and rely on
 * the formatter: a function ends at the first `}` that is indented like its first line.
 */

export type Problem = { readonly line: number; readonly text: string };

const COLUMNS_MAX = 100;
const FILE_LINES_MAX = 700;
const FUNCTION_LINES_MAX = 70;

const BANNED_IN_COMMENTS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:TODO|FIXME|XXX|HACK)\b/, "finish it, or state the limit as a fact"],
  [/\b(?:no longer|previously)\b/i, "say what holds now; history is in git"],
  [/\b(?:it|we|they|this|that|which) used to\b|\bused to be\b/i, "say what holds now"],
  [/\bfor now\b/i, "state the limit as a fact"],
  [
    /\btemporar(?:y|ily)\b(?! (?:files?|folders?|names?|paths?|cop(?:y|ies)|buffers?|keys?)\b)/i,
    "state the limit as a fact",
  ],
];

/** The comment on a line, or "": a whole line, the middle of a block, or after code. */
export function commentOf(line: string): string {
  const text = line.trimStart();
  if (/^(?:\/\/|\/\*|\*)/.test(text)) {
    return text;
  }
  const bare = text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g, (string) =>
    "_".repeat(string.length),
  );
  const at = bare.search(/(?:^|\s)\/[/*]/);
  return at === -1 ? "" : text.slice(at).trimStart();
}

function checkLine(line: string): string | undefined {
  const comment = commentOf(line);
  for (const [pattern, remedy] of comment === "" ? [] : BANNED_IN_COMMENTS) {
    const word = pattern.exec(comment);
    if (word !== null) {
      return `"${word[0]}" in a comment: ${remedy}`;
    }
  }
  if (line.length > COLUMNS_MAX) {
    // A text or an address that cannot be broken does not count.
    const breakable = line.replace(/"[^"]*"|`[^`]*`|\/(?:\\.|[^/\\])+\/|https?:\S+|\S{60,}/g, "");
    if (breakable.length > COLUMNS_MAX || comment.length > COLUMNS_MAX) {
      return `${line.length} columns, ${COLUMNS_MAX} at most: wrap it`;
    }
  }
  return undefined;
}

const NO_FUNCTION = /^(?:if|for|while|switch|catch|with|return|else|do|try|throw|await)\b/;
const GROUP = /^(?:describe|suite)\(/;
const DECLARATION =
  /^(?:(?:export|default|async|static|get|set|override|private|protected|public) )*(?:function\b|\*?[#\w$]+(?:<.*>)?\()/;

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The next line from `from` on that is not indented deeper than `indent`; -1 at the end. */
function nextAtIndent(lines: readonly string[], from: number, indent: number): number {
  for (let i = from; i < lines.length; i += 1) {
    const line = lines[i] ?? "";
    if (line.trim() !== "" && indentOf(line) <= indent) {
      return i;
    }
  }
  return -1;
}

/** The last line of the function that starts on line `start`; -1 when none does. */
export function functionEnd(lines: readonly string[], start: number): number {
  const line = lines[start] ?? "";
  const text = line.trimStart();
  if (GROUP.test(text) || NO_FUNCTION.test(text)) {
    return -1;
  }
  const indent = indentOf(line);
  let body = start;
  if (!/=> \{$/.test(text)) {
    if (!DECLARATION.test(text)) {
      return -1;
    }
    if (!text.endsWith("{")) {
      body = nextAtIndent(lines, start + 1, indent);
      if (body === -1 || !/^\).*\{$/.test((lines[body] ?? "").trimStart())) {
        return -1;
      }
    }
  }
  const end = nextAtIndent(lines, body + 1, indent);
  return end !== -1 && (lines[end] ?? "").trimStart().startsWith("}") ? end : -1;
}

/** The comment lines directly above line `start`, joined. */
function commentAbove(lines: readonly string[], start: number): string {
  const found: string[] = [];
  for (let i = start - 1; i >= 0 && /^\s*(?:\/\/|\/\*|\*)/.test(lines[i] ?? ""); i -= 1) {
    found.unshift(lines[i] ?? "");
  }
  return found.join("\n");
}

function checkFunction(
  lines: readonly string[],
  start: number,
  exists: (path: string) => boolean,
): string | undefined {
  const end = functionEnd(lines, start);
  const length = end - start + 1;
  if (end === -1 || length <= FUNCTION_LINES_MAX) {
    return undefined;
  }
  const comment = commentAbove(lines, start);
  if (!comment.includes("// hot:")) {
    return (
      `a function of ${length} lines, ${FUNCTION_LINES_MAX} at most: split it, or put above it ` +
      "`// hot: bench/<file>.ts <why>` naming the benchmark that justifies it"
    );
  }
  const benches = comment.match(/bench\/[\w./-]+\.ts/g) ?? [];
  return benches.some(exists)
    ? undefined
    : "the comment `// hot:` must name a benchmark that exists, as bench/<file>.ts";
}

/** Everything wrong with one source; `exists` tells whether a path of the repository exists. */
export function checkSource(source: string, exists: (path: string) => boolean): Problem[] {
  const lines = source.split("\n");
  const problems: Problem[] = [];
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (count > FILE_LINES_MAX) {
    problems.push({
      line: FILE_LINES_MAX + 1,
      text: `${count} lines, ${FILE_LINES_MAX} at most: split the file by what its parts own`,
    });
  }
  for (const [index, line] of lines.entries()) {
    for (const text of [checkLine(line), checkFunction(lines, index, exists)]) {
      if (text !== undefined) {
        problems.push({ line: index + 1, text });
      }
    }
  }
  return problems;
}
