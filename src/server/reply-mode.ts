/**
 * CLIENT REPLY of one session: whether replies are sent (ON), thrown away until ON (OFF), or thrown
 * away for the next request (SKIP). What Redis does in the corners holds:
 *
 *   - the mode after a command decides about its own reply, so ON answers and OFF does not;
 *   - any next request uses a SKIP up, an empty one, a refused one and another SKIP too;
 *   - OFF is stronger than SKIP; RESET ends OFF, but its own reply can be skipped.
 */
export type ReplySetting = "on" | "off" | "skip";

export class ReplyMode {
  /** The reply of the request that ends now, and lines of MONITOR, are thrown away. */
  isMuted = false;
  private isOff = false;
  private skips = false;
  private skipsNext = false;

  /** Something is not as it is for most clients. */
  get isUnusual(): boolean {
    return this.isMuted || this.skipsNext;
  }

  set(setting: ReplySetting): void {
    if (setting === "skip") {
      if (!this.isOff) this.skipsNext = true;
      return;
    }
    this.isOff = setting === "off";
    if (setting === "on") this.skips = false;
    this.isMuted = this.isOff || this.skips;
  }

  /** RESET. */
  reset(): void {
    this.isOff = false;
    this.skipsNext = false;
    this.isMuted = this.skips;
  }

  /** A request has ended. */
  requestDone(): void {
    this.skips = this.skipsNext;
    this.skipsNext = false;
    this.isMuted = this.isOff || this.skips;
  }
}
