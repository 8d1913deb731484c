/**
 * What the embedded store throws. A command's own error is Redis's text, whose first word is the
 * code; errors of the store itself have codes of their own.
 */

/** An error of a command or of the store; `code` is the first word of the message. */
export class StoreError extends Error {
  readonly code: string;

  /** `text` is a code word, a blank and a sentence. */
  constructor(text: string, options?: { cause?: unknown }) {
    super(text, options);
    const space = text.indexOf(" ");
    this.code = space < 0 ? text : text.slice(0, space);
    this.name = "StoreError";
  }
}

/**
 * The store cannot be used any more: a thread was terminated while it changed data, or something
 * failed inside. Every later call on every handle throws it. Its code is "BROKEN".
 */
export class StoreBroken extends StoreError {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(`BROKEN ${reason}`, options);
    this.name = "StoreBroken";
  }
}

export const CLOSED = "CLOSED The store is closed";
