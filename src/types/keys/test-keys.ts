/** What the tests of key commands share: stores with strings, and their garbage. */
import type { Args } from "../../base/args.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { freeGarbageSlice, type ShardLocks } from "../../keyspace/garbage.ts";
import type { Store } from "../../keyspace/store.ts";
import { STRING_COMMANDS } from "../string/commands.ts";
import { TestStore, type TestStoreOptions } from "../test-support.ts";
import { KEY_COMMANDS } from "./commands.ts";

/** How many shards the tests of replies run with. */
export const SHARD_COUNTS: readonly number[] = [1, 4];

export function keyStore(options: Partial<TestStoreOptions> = {}): TestStore {
  return new TestStore({ commands: [...STRING_COMMANDS, ...KEY_COMMANDS], ...options });
}

/** Locks that are always free. */
export function freeLocks(store: Store): ShardLocks {
  return {
    tryShard(shard, run) {
      store.enterShard(shard);
      run();
      store.heap.work.settle(true);
      return true;
    },
  };
}

/** Frees all garbage, `limit` records at a time. Returns how many records those were. */
export function freeGarbage(store: Store, limit: number = 100): number {
  const before = store.stats.sum("lazyfreed_objects");
  while (freeGarbageSlice(store, freeLocks(store), limit) > 0);
  return store.stats.sum("lazyfreed_objects") - before;
}

/** Words of a reply that is an array of bulk strings. */
export function bulksOf(reply: string): string[] {
  const words: string[] = [];
  let at = reply.indexOf("\r\n") + 2;
  while (at < reply.length) {
    const end = reply.indexOf("\r\n", at);
    const length = Number(reply.slice(at + 1, end));
    words.push(reply.slice(end + 2, end + 2 + length));
    at = end + 4 + length;
  }
  return words;
}

/** Runs a command that needs no key in the way its tests can: without a session. */
export function callDetached(t: TestStore, spec: CommandSpec, args: Args): string {
  if (spec.locks !== "none") throw new Error(`${spec.name} takes locks`);
  const session = { server: { store: t.store }, mayBlock: false };
  spec.run(session as unknown as Parameters<typeof spec.run>[0], args, t.reply);
  const text = String.fromCharCode(...t.reply.buffer.subarray(0, t.reply.length));
  t.reply.length = 0;
  return text;
}
