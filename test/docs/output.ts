/** Compares what was printed with what a page shows. */

/** Null when it fits, else both, for an error message. */
export function mismatch(shown: string, printed: string): string | null {
  const actual = tidied(printed);
  if (pattern(shown).test(`${actual}\n`)) return null;
  return `the page shows\n${quoted(tidied(shown))}\nand it printed\n${quoted(actual)}`;
}

/** No colours, no blanks at the ends of lines, no empty lines at either end. */
function tidied(text: string): string {
  const lines = text.replace(/\r|\u001b\[[0-9;]*m/g, "").split("\n");
  return lines
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\n+|\n+$/g, "");
}

function pattern(shown: string): RegExp {
  const lines = tidied(shown)
    .split("\n")
    .map((line) => {
      if (line.trim() === "…") return "(?:.*\n)*?";
      const parts = line.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
      return `${parts.join(".*")}\n`;
    });
  return new RegExp(`^${lines.join("")}$`);
}

function quoted(text: string): string {
  return text.replace(/^/gm, "  | ");
}
