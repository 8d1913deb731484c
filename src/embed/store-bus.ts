/**
 * One handle's end of the store's channel: chunks, the control log, and what a handle that came
 * late asks of the others. Messages keep their order within each kind.
 */
import type { StoreChannel } from "../env/store-channel.ts";
import type { ChunkMessage } from "../memory/pool.ts";
import type { ControlEntry } from "../server/control-entry.ts";
import type { StoreState } from "./handle.ts";

export type StoreMessage =
  | { to: "chunks"; message: ChunkMessage }
  | { to: "control"; entry: ControlEntry }
  /** Somebody lacks chunks or settings; H_WANTED says so too. */
  | { to: "wanted" }
  | { to: "state"; state: StoreState };

export class StoreBus {
  private readonly channel: StoreChannel<StoreMessage>;
  private readonly chunks: ChunkMessage[] = [];
  private readonly control: ControlEntry[] = [];
  /** While this handle joins: what others gave that it asked. */
  private states: StoreState[] | null = [];

  constructor(channel: StoreChannel<StoreMessage>) {
    this.channel = channel;
  }

  post(message: StoreMessage): void {
    this.channel.post(message);
  }

  accept(message: StoreMessage): void {
    if (message.to === "chunks") this.chunks.push(message.message);
    else if (message.to === "control") this.control.push(message.entry);
    else if (message.to === "state" && this.states !== null) {
      this.chunks.push(...message.state.chunks.chunks);
      this.states.push(message.state);
    }
  }

  private drain(): void {
    for (;;) {
      const message = this.channel.take();
      if (message === null) return;
      this.accept(message);
    }
  }

  nextChunk(): ChunkMessage | null {
    this.drain();
    return this.chunks.shift() ?? null;
  }

  takeControl(): ControlEntry[] {
    this.drain();
    return this.control.splice(0);
  }

  /** What others gave since the last call. */
  takeStates(): StoreState[] {
    this.drain();
    return this.states?.splice(0) ?? [];
  }

  /** From now on, what others ask for is not for this handle. */
  joined(): void {
    this.states = null;
  }

  close(): void {
    this.channel.close();
    this.chunks.length = 0;
    this.control.length = 0;
    this.states = null;
  }
}
