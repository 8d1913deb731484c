/**
 * A link for tests whose peer takes all at once and closes nothing: what there is to a link beside
 * what becomes of the bytes.
 */
import type { Link } from "./env.ts";

export abstract class TakingLink implements Link {
  readonly remote: string;
  readonly local: string;
  readonly descriptor: number = -1;

  constructor(remote = "127.0.0.1:50000", local = "127.0.0.1:6379") {
    this.remote = remote;
    this.local = local;
  }

  abstract write(source: Uint8Array, start: number, end: number): boolean;

  writeShared(chunk: Uint8Array, done: () => void): void {
    this.write(chunk, 0, chunk.length);
    done();
  }

  unsent(): number {
    return 0;
  }

  pending(): number {
    return 0;
  }

  pause(): void {}
  resume(): void {}

  end(): void {
    this.destroy();
  }

  destroy(): void {}
}
