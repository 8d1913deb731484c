/** A request as clients write it, as text with one character per byte; so are its words. */
export function requestText(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
}
