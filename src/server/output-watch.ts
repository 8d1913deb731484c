/**
 * Whether a client leaves more output untaken than `client-output-buffer-limit` lets its class:
 * the hard limit holds at once, the soft one when it has been reached for so many whole seconds.
 */
import type { OutputLimit } from "./config/config.ts";

export class OutputWatch {
  /** Unix second since which the soft limit has been reached, 0 if it is not. */
  private softSince = 0;

  /** True if the client must go. */
  isOver(limit: OutputLimit, pendingBytes: number, unixMs: number): boolean {
    const { hardBytes, softBytes, softSeconds } = limit;
    if (hardBytes !== 0 && pendingBytes >= hardBytes) return true;
    if (softBytes === 0 || pendingBytes < softBytes) {
      this.softSince = 0;
      return false;
    }
    const now = Math.floor(unixMs / 1000);
    if (this.softSince === 0) this.softSince = now;
    return now - this.softSince > softSeconds;
  }
}
