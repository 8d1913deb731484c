/**
 * The pictures of LOLWUT, as text in UTF-8 bytes: after Georg Nees, squares that lose their order
 * from row to row, in Braille characters of 2 x 4 dots; and a city at night in grey blocks.
 */
import type { RandomSource } from "../env/env.ts";

const BRAILLE = 0x2800;
/** Bit of each dot of a character, rows from the top, left and right. */
const DOT_BITS: readonly (readonly [number, number])[] = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

/** The UTF-8 bytes of a character below U+10000 that needs three. */
function utf8(code: number): string {
  return String.fromCharCode(
    0xe0 | (code >> 12),
    0x80 | ((code >> 6) & 0x3f),
    0x80 | (code & 0x3f),
  );
}

class Canvas {
  readonly width: number;
  readonly height: number;
  readonly #dots: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#dots = new Uint8Array(width * height);
  }

  dot(x: number, y: number): void {
    const inside = x >= 0 && x < this.width && y >= 0 && y < this.height;
    if (inside) this.#dots[y * this.width + x] = 1;
  }

  line(x0: number, y0: number, x1: number, y1: number): void {
    const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0), 1);
    for (let n = 0; n <= steps; n++) {
      this.dot(Math.round(x0 + ((x1 - x0) * n) / steps), Math.round(y0 + ((y1 - y0) * n) / steps));
    }
  }

  /** A square around a point, turned by an angle. */
  square(x: number, y: number, side: number, angle: number): void {
    const radius = side / Math.SQRT2;
    const corners = [0, 1, 2, 3, 4].map((n): [number, number] => {
      const turned = angle + Math.PI / 4 + (n * Math.PI) / 2;
      return [Math.round(x + Math.sin(turned) * radius), Math.round(y + Math.cos(turned) * radius)];
    });
    for (let n = 0; n < 4; n++) {
      const [from, to] = [corners[n], corners[n + 1]] as [[number, number], [number, number]];
      this.line(...from, ...to);
    }
  }

  text(): string {
    const rows: string[] = [];
    for (let y = 0; y < this.height; y += 4) {
      let row = "";
      for (let x = 0; x < this.width; x += 2) row += utf8(BRAILLE + this.#group(x, y));
      rows.push(`${row}\n`);
    }
    return rows.join("");
  }

  #group(x: number, y: number): number {
    let bits = 0;
    for (const [dy, [left, right]] of DOT_BITS.entries()) {
      const at = (y + dy) * this.width + x;
      if (y + dy >= this.height) break;
      if (this.#dots[at] === 1) bits |= left;
      if (x + 1 < this.width && this.#dots[at + 1] === 1) bits |= right;
    }
    return bits;
  }
}

/** A number from -1 to 1. */
function either(random: RandomSource): number {
  return random.u32() / 2 ** 31 - 1;
}

/** So many columns of text; squares per row and per column. */
export function schotter(
  random: RandomSource,
  columns: number,
  perRow: number,
  perColumn: number,
): string {
  const width = columns * 2;
  const padding = columns > 4 ? 2 : 0;
  const side = Math.max((width - padding * 2) / perRow, 1);
  const canvas = new Canvas(width, Math.floor(side * perColumn) + padding * 2);
  for (let row = 0; row < perColumn; row++) {
    const disorder = row > 1 ? row / perColumn : 0;
    for (let column = 0; column < perRow; column++) {
      const x = (column + 0.5) * side + padding + (either(random) * disorder * side) / 3;
      const y = (row + 0.5) * side + padding + (either(random) * disorder * side) / 3;
      canvas.square(x, y, side, either(random) * disorder);
    }
  }
  return canvas.text();
}

/** Foreground and background of the sky and of three distances. */
const SHADES = ["0;97;107m", "0;37;47m", "0;90;100m", "0;30;40m"];
const BLOCK = " ";
const ESCAPE = "\x1b[";

function cell(shade: number): string {
  return `${ESCAPE}${SHADES[shade]}${BLOCK}${ESCAPE}0m`;
}

/** Rows of houses, the nearest dark and with lit windows; so many columns and rows of text. */
export function city(random: RandomSource, columns: number, rows: number): string {
  const picture: Picture = { shades: new Uint8Array(columns * rows), columns, rows };
  for (let distance = 1; distance < SHADES.length; distance++) {
    let from = -random.below(6);
    while (from < columns) {
      const width = 6 + random.below(10);
      const height = Math.floor(rows * (1 - distance * 0.25)) - 1 + random.below(4);
      house(picture, { from, width, height: Math.min(height, rows), distance });
      from += width + random.below(8);
    }
  }
  let text = "";
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) text += cell(picture.shades[y * columns + x] as number);
    text += "\n";
  }
  return text;
}

type Picture = { shades: Uint8Array; columns: number; rows: number };
type House = { from: number; width: number; height: number; distance: number };

function house({ shades, columns, rows }: Picture, { from, width, height, distance }: House): void {
  const isNear = distance === SHADES.length - 1;
  for (let y = rows - height; y < rows; y++) {
    for (let x = Math.max(from, 0); x < Math.min(from + width, columns); x++) {
      const isWindow = isNear && (x - from) % 4 === 2 && (rows - y) % 3 === 2;
      shades[y * columns + x] = isWindow ? 1 : distance;
    }
  }
}
