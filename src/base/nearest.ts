/**
 * The name that was probably meant: for error texts, where time does not matter.
 */

/** A word of this many letters may be the beginning of a name. */
const PREFIX_LETTERS = 4;

/**
 * The one of `names` that is nearest to `word` in single edits, if that is near enough; else the
 * first that begins with it.
 */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  const given = word.toLowerCase();
  let most = Math.max(1, Math.floor(given.length / 3));
  let found: string | undefined;
  let longer: string | undefined;
  for (const name of names) {
    if (given.length >= PREFIX_LETTERS && name.toLowerCase().startsWith(given)) longer ??= name;
    const away = edits(given, name.toLowerCase(), most);
    if (away > most || (away === most && found !== undefined)) continue;
    most = away;
    found = name;
  }
  return found ?? longer;
}

/**
 * Letters put in, left out, changed, or exchanged with the next, that make `b` of `a`; any number
 * over `most` if it takes more.
 */
function edits(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + same);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) least = Math.min(least, at(before, j - 2) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], i: number): number {
  return row[i] as number;
}
