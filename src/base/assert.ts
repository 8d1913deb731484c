/**
 * Programmer errors. An assertion states what must hold whatever a client or a disk does; a false
 * one ends the process and is never turned into a reply. Assertions stay on in production.
 *
 * The error is a class of our own, so that the few places that contain a failure can tell a broken
 * invariant from an error of the system.
 */

export class AssertionError extends Error {
  override readonly name: string = "AssertionError";
}

export function assert(condition: boolean, message?: string): asserts condition {
  if (!condition) fail(message ?? "assertion failed");
}

/** Marks a place that no input can reach. */
// Kept out of `assert`, so that the check itself stays small enough to be inlined everywhere.
function fail(message: string): never {
  throw new AssertionError(message);
}
