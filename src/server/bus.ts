/**
 * One thread's end of the channel that carries the control log and new chunks to all threads, in
 * one order. What is posted before a word in shared memory is raised can be taken by whoever sees
 * the word, at once and without an event loop.
 */
import type { ChunkMessage } from "../memory/pool.ts";
import type { ControlEntry } from "./control-entry.ts";

export type BusMessage =
  | { to: "chunks"; message: ChunkMessage }
  | { to: "control"; entry: ControlEntry };

/** A broadcast channel that can be read without waiting. */
export type Channel = {
  post(message: BusMessage): void;
  /** Next message from another thread, or null. */
  take(): BusMessage | null;
};

export class Bus {
  private readonly channel: Channel;
  private readonly chunks: ChunkMessage[] = [];
  private readonly control: ControlEntry[] = [];

  constructor(channel: Channel) {
    this.channel = channel;
  }

  postChunk(message: ChunkMessage): void {
    this.channel.post({ to: "chunks", message });
  }

  postControl(entry: ControlEntry): void {
    this.channel.post({ to: "control", entry });
  }

  /** A message that arrived by an event. */
  accept(message: BusMessage): void {
    if (message.to === "chunks") this.chunks.push(message.message);
    else this.control.push(message.entry);
  }

  /** Takes what has arrived. */
  drain(): void {
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

  /** Lets go of what nobody has taken. */
  clear(): void {
    this.chunks.length = 0;
    this.control.length = 0;
  }
}
