/**
 * One handle's end of the store's channel: what the threads of a server have in common, and what a
 * handle that came late asks of the others. Messages keep their order within each kind.
 */
import type { StoreChannel } from "../env/store-channel.ts";
import { Bus, type BusMessage } from "../server/bus.ts";
import type { StoreState } from "./handle.ts";

export type StoreMessage =
  | BusMessage
  /** Somebody lacks chunks or settings; H_WANTED says so too. */
  | { to: "wanted" }
  | { to: "state"; state: StoreState };

export class StoreBus {
  /** Chunks and the control log. */
  readonly common: Bus;
  private readonly channel: StoreChannel<StoreMessage>;
  /** While this handle joins: what others gave that it asked. */
  private states: StoreState[] | null = [];

  constructor(channel: StoreChannel<StoreMessage>) {
    this.channel = channel;
    this.common = new Bus({
      post: (message) => channel.post(message),
      take: () => this.takeCommon(),
    });
  }

  post(message: StoreMessage): void {
    this.channel.post(message);
  }

  accept(message: StoreMessage): void {
    if (message.to === "chunks" || message.to === "control") this.common.accept(message);
    else if (message.to === "state") this.acceptState(message.state);
  }

  private acceptState(state: StoreState): void {
    if (this.states === null) return;
    for (const chunk of state.chunks.chunks) this.common.accept({ to: "chunks", message: chunk });
    this.states.push(state);
  }

  /** The next message that is for the common part. */
  private takeCommon(): BusMessage | null {
    for (;;) {
      const message = this.channel.take();
      if (message === null || message.to === "chunks" || message.to === "control") return message;
      this.accept(message);
    }
  }

  /** What others gave since the last call. */
  takeStates(): StoreState[] {
    this.common.drain();
    return this.states?.splice(0) ?? [];
  }

  /** From now on, what others ask for is not for this handle. */
  joined(): void {
    this.states = null;
  }

  close(): void {
    this.channel.close();
    this.common.clear();
    this.states = null;
  }
}
