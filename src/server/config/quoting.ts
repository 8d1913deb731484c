/**
 * The word syntax of redis.conf: words parted by white space, "double quotes" with escapes,
 * 'single quotes' in which only \' is special. `splitWords` and `quote` are each other's reverse
 * for any bytes.
 *
 * Text is a binary string: one character per byte.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  a: "\x07",
};
const HEX_PAIR = /^[0-9a-fA-F]{2}$/;

/** C's isspace() in the C locale. */
function isSpace(char: string): boolean {
  return char === " " || (char >= "\t" && char <= "\r");
}

/** Where a word is closed: a quote must be followed by white space or the end. */
function endsWord(line: string, at: number): boolean {
  return at >= line.length || isSpace(line.charAt(at));
}

type Piece = { text: string; next: number };

/** The text of a quoted part whose opening quote is before `at`, or null if it is not closed. */
function readQuoted(line: string, at: number, quoteChar: string): Piece | null {
  let text = "";
  let i = at;
  while (i < line.length) {
    const char = line.charAt(i);
    if (char === quoteChar) return endsWord(line, i + 1) ? { text, next: i + 1 } : null;
    const following = line.charAt(i + 1);
    if (char !== "\\" || following === "" || (quoteChar === "'" && following !== "'")) {
      text += char;
      i += 1;
    } else if (following === "x" && HEX_PAIR.test(line.slice(i + 2, i + 4)) && quoteChar === '"') {
      text += String.fromCharCode(Number.parseInt(line.slice(i + 2, i + 4), 16));
      i += 4;
    } else {
      text += quoteChar === '"' ? (ESCAPES[following] ?? following) : following;
      i += 2;
    }
  }
  return null;
}

/** One word from `at`, which is not white space. A quote may begin in the middle of a word. */
function readWord(line: string, at: number): Piece | null {
  let text = "";
  let i = at;
  while (i < line.length) {
    const char = line.charAt(i);
    // Redis ends a bare word at these only; a vertical tab or form feed inside it belongs to it.
    if (char === " " || char === "\n" || char === "\r" || char === "\t") break;
    if (char === '"' || char === "'") {
      const quoted = readQuoted(line, i + 1, char);
      return quoted === null ? null : { text: text + quoted.text, next: quoted.next };
    }
    text += char;
    i += 1;
  }
  return { text, next: i };
}

/** The words of a line, or null if a quote is not closed or is followed by more text. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  // As in C, a NUL ends the line.
  const end = line.indexOf("\0");
  const text = end < 0 ? line : line.slice(0, end);
  let at = 0;
  for (;;) {
    while (at < text.length && isSpace(text.charAt(at))) at += 1;
    if (at >= text.length) return words;
    const word = readWord(text, at);
    if (word === null) return null;
    words.push(word.text);
    at = word.next;
  }
}

/** `text` in double quotes, such that `splitWords` gives it back. */
export function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    if (char === "\\" || char === '"') out += `\\${char}`;
    else if (char === "\n") out += "\\n";
    else if (char === "\r") out += "\\r";
    else if (char === "\t") out += "\\t";
    else if (char === "\x07") out += "\\a";
    else if (char === "\b") out += "\\b";
    else if (char >= " " && char <= "~") out += char;
    else out += `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  }
  return `${out}"`;
}

/** Cuts spaces, tabs, carriage returns and newlines off both ends, and nothing else. */
export function trimLine(line: string): string {
  return line.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
}
