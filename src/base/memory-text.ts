/** Amounts of memory as text: what a configuration file says, and what INFO shows to people. */

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["", 1n],
  ["b", 1n],
  ["k", 1000n],
  ["kb", 1024n],
  ["m", 1000n ** 2n],
  ["mb", 1024n ** 2n],
  ["g", 1000n ** 3n],
  ["gb", 1024n ** 3n],
]);

/** No amount has more digits, leading zeros included. */
const DIGITS_MAX = 127;

const UINT64_MAX = 2n ** 64n - 1n;

/**
 * Bytes of "100", "64k" (thousands), "64kb" (1024s), "1gb" and so on, in either case; undefined for
 * anything else. As in Redis no digits count as 0, digits beyond 64 bits as 2^64 - 1, and the
 * product with the unit wraps at 64 bits.
 */
export function parseMemory(text: string): bigint | undefined {
  const [, digits = "", unit = ""] = /^([0-9]*)(.*)$/s.exec(text) ?? [];
  const factor = UNITS.get(unit.toLowerCase());
  if (factor === undefined || digits.length > DIGITS_MAX) return undefined;
  const amount = BigInt(digits);
  return BigInt.asUintN(64, (amount > UINT64_MAX ? UINT64_MAX : amount) * factor);
}

/** A whole number of bytes as "512B", "1.50K", "12.00M", "3.10G", "1.00T" or "1.00P". */
export function humanBytes(bytes: number): string {
  if (bytes < 1024 || bytes >= 1024 ** 6) return `${BigInt(bytes)}B`;
  let exponent = 1;
  while (bytes >= 1024 ** (exponent + 1)) exponent++;
  // In hundredths and exact: printf rounds a half to the even neighbour, `toFixed` upwards.
  const scaled = BigInt(bytes) * 100n;
  const unit = 1024n ** BigInt(exponent);
  let hundredths = scaled / unit;
  const twice = (scaled % unit) * 2n;
  if (twice > unit || (twice === unit && hundredths % 2n === 1n)) hundredths++;
  const cents = String(hundredths % 100n).padStart(2, "0");
  return `${hundredths / 100n}.${cents}${"KMGTP"[exponent - 1]}`;
}
