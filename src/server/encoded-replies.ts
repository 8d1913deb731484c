/**
 * Replies that are the same for everybody who asks in the same way, kept as bytes: thousands of
 * clients ask for the cluster's map at once when it changes.
 */
import type { Reply } from "../protocol/reply.ts";

/** Ways to ask that are kept: protocol, address, port. More start over. */
const KEPT_MAX = 64;

export class EncodedReplies {
  readonly #kept = new Map<string, Uint8Array>();
  #generation = -1;

  /**
   * Writes what `write` writes. What it wrote for the same key and generation is taken from memory;
   * another generation forgets all. The key names everything else that the reply depends on.
   */
  put(reply: Reply, generation: number, key: string, write: () => void): void {
    if (generation !== this.#generation) {
      this.#kept.clear();
      this.#generation = generation;
    }
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      reply.raw(kept);
      return;
    }
    const from = reply.length;
    write();
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    this.#kept.set(key, reply.buffer.slice(from, reply.length));
  }
}
