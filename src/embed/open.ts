/**
 * Makes a store, or joins one that another thread made.
 */
import type { CommandTable } from "../command/lookup.ts";
import { memoryLimit } from "../env/cgroup.ts";
import { entropy, randomHex } from "../env/entropy.ts";
import { isChecked, processFacts } from "../env/process-facts.ts";
import { hasAddresses, makeSharedBuffer, SystemClock, systemWaiting } from "../env/system.ts";
import { HANDLES_MAX, HEAP_SHARE, STORE_RING_BYTES, STORE_SLOW_LOG_BYTES } from "../limits.ts";
import type { Config } from "../server/config/config.ts";
import { firstChunk, makeSharedState, type SharedState } from "../server/shared-state.ts";
import { REDIS_VERSION, VERSION } from "../version.ts";
import { kindOf } from "./checks.ts";
import { StoreError } from "./errors.ts";
import { isWholeHandle, type WholeHandle } from "./handle.ts";
import { membersBytes } from "./members.ts";
import { configOf } from "./options.ts";
import { Store } from "./store.ts";
import { asOfNow, StoreThread } from "./store-thread.ts";
import type { OpenOptions, StoreOptions } from "./types.ts";

const WRITE_HANDLE = "OPTION handle: write open({ handle: store.handle })";

export function openStore(options: OpenOptions, commands: CommandTable): Store {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const example = 'open({ maxmemory: "64mb" }) or open({ handle })';
    throw new TypeError(`options are ${kindOf(options)}: write them as in ${example}`);
  }
  if (options instanceof Store || isWholeHandle(options)) throw new StoreError(WRITE_HANDLE);
  // A handle that got lost on its way must not make another store, empty and shared by nobody.
  const whole = "handle" in options ? given(options, options.handle) : newStore(options, commands);
  return new Store(new StoreThread(whole, commands));
}

function given(options: object, handle: unknown): WholeHandle {
  if (handle instanceof Store) throw new StoreError(WRITE_HANDLE);
  if (!isWholeHandle(handle)) {
    const way = "it goes by workerData or postMessage to threads of the same process";
    throw new StoreError(`OPTION handle: is ${kindOf(handle)}, not what store.handle gave; ${way}`);
  }
  const other = Object.keys(options).find((name) => name !== "handle");
  if (other !== undefined) {
    throw new StoreError(`OPTION ${other}: a store that is open has its options already`);
  }
  if (handle.zerohop !== VERSION) {
    const versions = `${handle.zerohop}, and this thread has ${VERSION}`;
    throw new StoreError(`OPTION handle: the store was made by version ${versions}`);
  }
  return asOfNow(handle);
}

const NO_TABLES = "OOM The system has no memory for the tables of a store";

/**
 * The tables of a store, of which those of connections are as long as `maxclients` says; `clients`
 * is what the caller said of it.
 */
function tablesOf(
  config: Config,
  clients: StoreOptions["maxclients"],
  unixMs: number,
  commands: CommandTable,
): SharedState {
  if (!hasAddresses(0)) throw new StoreError(NO_TABLES);
  try {
    return makeSharedState({
      threads: HANDLES_MAX,
      shards: config.shards,
      commands: commands.list.length,
      clientRows: config.maxclients + HANDLES_MAX,
      owners: 0,
      chunkBytes: config.memoryChunk,
      memoryLimit: Math.floor(memoryLimit() * HEAP_SHARE),
      unixMs,
      random: entropy,
      checked: isChecked(),
      slowLogBytes: STORE_SLOW_LOG_BYTES,
      ringBytes: STORE_RING_BYTES,
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StoreError(
      clients === undefined
        ? NO_TABLES
        : `OPTION maxclients: the system has no memory for ${clients} connections`,
    );
  }
}

function newStore(options: StoreOptions, commands: CommandTable): WholeHandle {
  const config = configOf(options);
  const clock = new SystemClock();
  const shared = tablesOf(config, options.maxclients, clock.unixMs, commands);
  const chunks = firstChunk(shared, { waiting: systemWaiting, makeBuffer: makeSharedBuffer });
  if (chunks === null) throw new StoreError("OOM The system has no memory for a first chunk");
  const runId = randomHex(20);
  return {
    zerohop: VERSION,
    shared,
    members: new SharedArrayBuffer(membersBytes()),
    channel: `zerohop ${runId}`,
    chunks,
    settings: [{ kind: "config", changes: config.changes() }],
    controlSerial: 0,
    facts: {
      version: VERSION,
      redisVersion: REDIS_VERSION,
      runId,
      nodeId: randomHex(20),
      startedMs: clock.unixMs,
      ...processFacts(),
      archBits: 64,
      tcpPort: 0,
      ownerPorts: [],
      acceptMode: "embedded",
      oomScoreBefore: null,
    },
  };
}
