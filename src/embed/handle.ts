/**
 * What a thread needs to open a store that another one made: a plain object that goes through
 * postMessage and workerData any number of times. It holds the shared memory itself, so the store's
 * memory stays as long as somebody holds a handle object or has the store open.
 */
import type { ServerFacts } from "../command/session.ts";
import type { ChunkMessage } from "../memory/pool.ts";
import type { ControlEntry } from "../server/control-entry.ts";
import type { SharedState } from "../server/shared-state.ts";
import type { StoreHandle } from "./types.ts";

/** What changes while the store lives; a thread that comes later needs it as of then. */
export type StoreState = {
  readonly chunks: { version: number; chunks: ChunkMessage[] };
  /** What the control log came to, and the H_CONTROL_SERIAL at least up to which. */
  readonly settings: ControlEntry[];
  readonly controlSerial: number;
};

/** What stays the same as long as the store lives. */
export type StoreShared = StoreHandle & {
  readonly shared: SharedState;
  readonly members: SharedArrayBuffer;
  readonly channel: string;
  readonly facts: ServerFacts;
};

export type WholeHandle = StoreShared & StoreState;

/** Without the chunks, which would keep the memory of a closed store. */
export function sharedOf(handle: WholeHandle): StoreShared {
  const { zerohop, shared, members, channel, facts } = handle;
  return { zerohop, shared, members, channel, facts };
}

/** True for what `Store.handle` gave, here or on another thread. */
export function isWholeHandle(value: unknown): value is WholeHandle {
  const handle = value as Partial<WholeHandle> | null;
  return (
    typeof handle === "object" &&
    handle !== null &&
    typeof handle.zerohop === "string" &&
    handle.members instanceof SharedArrayBuffer
  );
}
