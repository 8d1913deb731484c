/**
 * How a handle that comes late gets what it has missed: it listens to the channel first, compares
 * what the handle object told it with the shared memory, and asks the other handles for the rest.
 * Those answer in their next call or from their event loop.
 */
import { block, systemWaiting } from "../env/system.ts";
import { H_ATTENTION, H_CONTROL_SERIAL, H_WANTED } from "../memory/layout.ts";
import type { ChunkPool } from "../memory/pool.ts";
import { StoreError } from "./errors.ts";
import type { StoreState } from "./handle.ts";
import type { StoreBus } from "./store-bus.ts";
import { throwIfBroken } from "./waiting.ts";

const ANSWER_MS_MAX = 5000;

/** Brings the pool up to date and returns the settings to begin with, or throws after a while. */
export function catchUp(
  control: Int32Array,
  pool: ChunkPool,
  bus: StoreBus,
  known: StoreState,
): StoreState {
  // Every entry behind this one is in the channel.
  const serial = Atomics.load(control, H_CONTROL_SERIAL);
  let state = known;
  const isEnough = (): boolean => pool.isComplete() && state.controlSerial >= serial;
  if (!isEnough()) {
    Atomics.add(control, H_WANTED, 1);
    Atomics.add(control, H_ATTENTION, 1);
    bus.post({ to: "wanted" });
    const began = systemWaiting.now();
    while (!isEnough()) {
      throwIfBroken(control);
      if (systemWaiting.now() - began > ANSWER_MS_MAX) {
        throw new StoreError(
          `TIMEOUT No thread that has the store open has answered for ${ANSWER_MS_MAX} ms; ` +
            "take store.handle anew, or let one of them run",
        );
      }
      block(1);
      for (const given of bus.takeStates()) {
        if (given.controlSerial > state.controlSerial) state = given;
      }
    }
  }
  bus.joined();
  return state;
}
