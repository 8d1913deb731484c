#!/usr/bin/env node
/**
 * The `zerohop` executable: configuration, shared memory, threads. What goes wrong before the
 * server is ready is one line on standard error and exit status 1.
 */
import { openSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fillSlots, ownerNodes } from "./cluster/shard-owners/layout.ts";
import { loadOrMakeNodeId } from "./cluster/shard-owners/meta-file.ts";
import { CommandNames } from "./command/renames.ts";
import type { ServerFacts } from "./command/session.ts";
import { COMMAND_NAMES } from "./command-names.ts";
import { memoryLimit } from "./env/cgroup.ts";
import { errorText, systemConfigHost, toPath } from "./env/config-host.ts";
import { entropy, randomHex } from "./env/entropy.ts";
import { lockFolder } from "./env/folder-lock.ts";
import { writeLog, writeLogPicture } from "./env/log.ts";
import { systemOomScore } from "./env/oom-score.ts";
import { isChecked, processFacts } from "./env/process-facts.ts";
import { addressSpaceLeft, openFilesMax } from "./env/process-limits.ts";
import { connectionsRefusal } from "./env/stream-binding.ts";
import { makeSharedBuffer, SystemClock, systemRandom, systemWaiting } from "./env/system.ts";
import {
  CHUNKS_MAX,
  CLIENT_ROWS,
  DESCRIPTORS_OWN,
  DESCRIPTORS_PER_THREAD,
  HEAP_SHARE,
  HEAP_SHARE_LEAST,
  HTTP_CONNECTIONS_MAX,
  MAXMEMORY_SENSIBLE_BYTES,
  SERVER_BYTES,
  THREAD_ADDRESS_BYTES,
  THREAD_ADDRESS_BYTES_22,
  THREAD_BYTES,
} from "./limits.ts";
import type { Config } from "./server/config/config.ts";
import { load } from "./server/config/load.ts";
import { logo } from "./server/logo.ts";
import { applyOomScore } from "./server/oom-score.ts";
import {
  type Chunks,
  firstChunk,
  makeSharedState,
  type SharedState,
} from "./server/shared-state.ts";
import { BindError } from "./server/thread-listeners.ts";
import { type AdminPort, type AdminView, Supervisor } from "./server/thread-supervisor.ts";
import { REDIS_VERSION, VERSION } from "./version.ts";

/** `text` may hold bytes of the command line or of a file. */
function fail(text: string): never {
  process.stderr.write(`${text}\n`, "latin1");
  process.exit(1);
}

/** As `fail`, also into the log if that is a file, since the reason is looked for there. */
function failStarting(config: Config, reason: string): never {
  if (config.logfile !== "") writeLog(config, "warning", reason);
  fail(`zerohop: ${reason}`);
}

function loadConfig(names: CommandNames): Config {
  const source = {
    ...systemConfigHost(),
    argv: process.argv.slice(2).map((word) => Buffer.from(word, "utf8").toString("latin1")),
    env: process.env,
    version: `ZeroHop server v=${VERSION} redis=${REDIS_VERSION} node=${process.versions.node}`,
  };
  const loaded = load(source, (from, to) => names.rename(from, to));
  if (loaded.kind === "print") {
    process.stdout.write(loaded.text);
    process.exit(0);
  }
  if (loaded.kind === "error") fail(loaded.message);
  if (connectionsRefusal !== null) fail(`zerohop: ${connectionsRefusal}`);
  return loaded.config;
}

/** Goes to `dir` and makes sure that the log can be written. */
function prepareFiles(config: Config): void {
  try {
    process.chdir(toPath(config.dir));
  } catch (error) {
    fail(`zerohop: dir ${config.dir}: ${errorText(error)}`);
  }
  try {
    if (config.logfile !== "") openSync(toPath(config.logfile), "a");
  } catch (error) {
    fail(`zerohop: logfile ${config.logfile}: ${errorText(error)}`);
  }
}

/**
 * Holds the process id from when every port is bound, so that a start that fails leaves the file of
 * the server that has the ports, until the process ends. A server can do without: it only warns.
 */
function writePidFile(config: Config): void {
  if (config.pidfile === "") return;
  const path = resolve(toPath(config.pidfile));
  try {
    writeFileSync(path, `${process.pid}\n`);
  } catch (error) {
    writeLog(config, "warning", `Failed to write PID file ${config.pidfile}: ${errorText(error)}`);
    return;
  }
  process.on("exit", () => rmSync(path, { force: true }));
}

/** Redis's picture or, where no terminal shows the log, its line. */
function logMode(config: Config): void {
  const mode = config.port === 0 && config.owners > 0 ? "cluster" : "standalone";
  const port = Math.max(config.port, 0);
  if (config.flag("always-show-logo") || (config.logfile === "" && process.stdout.isTTY)) {
    const facts = { version: VERSION, redisVersion: REDIS_VERSION, mode, port };
    writeLogPicture(config, logo({ ...facts, processId: process.pid }));
  } else {
    writeLog(config, "notice", `Running mode=${mode}, port=${port}.`);
  }
}

/** Applies `oom-score-adj`; the score from before, null if it is as it was. */
function startOomScore(config: Config): number | null {
  const result = applyOomScore(systemOomScore, config, [], null);
  if ("before" in result) return result.before;
  writeLog(config, "warning", `Unable to write oom_score_adj: ${result.error}`);
  return null;
}

/** What the wildcards of `bind` stand for: the ready line has room for one address. */
function logWildcards(config: Config): void {
  const words = config.bind.map((word) => word.replace(/^-/, ""));
  const kinds: string[] = [];
  if (words.includes("*") || words.includes("0.0.0.0")) kinds.push("IPv4");
  if (words.includes("::*") || words.includes("::")) kinds.push("IPv6");
  const shown = (name: string): number => Number(config.get([name])[1]);
  const plain = shown("port");
  const first = config.owners === 0 ? 0 : shown("shard-owners-port");
  const ports: string[] = plain === 0 || plain === first ? [] : [`port ${plain}`];
  if (first > 0) ports.push(`owners' ports ${first}-${first + config.owners - 1}`);
  if (kinds.length === 0 || ports.length === 0) return;
  const addresses = `every ${kinds.join(" and ")} address of this machine`;
  const refused = config.protectedMode ? "; protected-mode refuses clients of other hosts" : "";
  writeLog(config, "notice", `Listening on ${addresses}, ${ports.join(", ")}${refused}`);
}

/** Bytes of a control group's memory that the heap may take; 0 when only the machine limits it. */
function heapLimit(threads: number): number {
  const limit = memoryLimit();
  const rest = Math.min(limit * HEAP_SHARE, limit - SERVER_BYTES - threads * THREAD_BYTES);
  return Math.floor(Math.max(rest, limit * HEAP_SHARE_LEAST));
}

/** The memory that threads share beside the heap. */
function sharedState(config: Config, options: Parameters<typeof makeSharedState>[0]): SharedState {
  try {
    return makeSharedState(options);
  } catch (error) {
    if (error instanceof RangeError) {
      failStarting(config, "the system has no memory for the tables of clients and counters");
    }
    throw error;
  }
}

/**
 * The first chunk. Where the address space is bounded it is made smaller, so that the threads have
 * room: Node ends the process where it finds none for one of them.
 */
function firstChunks(config: Config, shared: SharedState): Chunks {
  const perThread = nodeVersion() >= 2200 ? THREAD_ADDRESS_BYTES_22 : THREAD_ADDRESS_BYTES;
  const room = addressSpaceLeft() - shared.threads * perThread;
  const makeBuffer = (bytes: number): SharedArrayBuffer | null =>
    bytes > room ? null : makeSharedBuffer(bytes);
  const chunks = firstChunk(shared, { waiting: systemWaiting, makeBuffer });
  if (chunks === null) {
    const limited = Number.isFinite(room) ? `, with ulimit -v and ${shared.threads} threads` : "";
    failStarting(config, `memory-chunk: the system has no memory for a first chunk${limited}`);
  }
  return chunks;
}

/** 2212 is 22.12. */
function nodeVersion(): number {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major * 100 + minor;
}

function sharedPort(): boolean {
  return process.platform === "linux" && nodeVersion() >= 2212;
}

/** Two servers with one identity would be one node of the cluster with two addresses. */
async function lockDir(config: Config): Promise<void> {
  const lock = await lockFolder(toPath(config.dir));
  if (lock.kind === "held") {
    process.on("exit", () => lock.release());
  } else if (lock.kind === "used") {
    const owner = `a different server with shard-owners (process ${lock.processId})`;
    failStarting(
      config,
      `Sorry, the directory ${config.dir} is already used by ${owner}. ` +
        "Please make sure that different servers use different directories (dir).",
    );
  } else {
    const reason = `dir ${config.dir} cannot be locked: ${lock.error}`;
    writeLog(config, "warning", `${reason}. No other server with shard-owners may use it.`);
  }
}

async function nodeIdOf(config: Config): Promise<string> {
  if (config.owners === 0) return randomHex(20);
  await lockDir(config);
  const id = loadOrMakeNodeId(systemConfigHost(), config.dir, randomHex);
  if (!id.ok) failStarting(config, id.error);
  return id.nodeId;
}

/** What is odd about maxmemory, or nothing: Redis's words, and what the heap cannot have. */
function maxmemoryWarning(config: Config): string {
  const { maxmemory, memoryChunk } = config;
  if (maxmemory > 0 && maxmemory < MAXMEMORY_SENSIBLE_BYTES) {
    return (
      "WARNING: You specified a maxmemory value that is less than 1MB (current value is " +
      `${maxmemory} bytes). Are you sure this is what you really want?`
    );
  }
  if (maxmemory <= CHUNKS_MAX * memoryChunk) return "";
  return (
    `WARNING: maxmemory (${maxmemory} bytes) is more than ${CHUNKS_MAX} chunks of ${memoryChunk} ` +
    "bytes can hold: writes are answered with -OOM before anything is evicted."
  );
}

/** How many clients there are descriptors for; lowers `maxclients` to that, as Redis does. */
function clientPlaces(config: Config): { most: number; warning: string } {
  const files = openFilesMax();
  const admin = config.adminPort === 0 ? 0 : HTTP_CONNECTIONS_MAX;
  const own = DESCRIPTORS_OWN + DESCRIPTORS_PER_THREAD * config.threads + config.owners + admin;
  const most = files - own;
  if (most < 1) {
    failStarting(config, `the system allows ${files} open files, and ${own + 1} are needed`);
  }
  if (config.maxclients <= most) return { most, warning: "" };
  const warning =
    `Current maximum open files is ${files}. maxclients has been reduced to ${most} to compensate ` +
    "for low ulimit. If you need higher maxclients increase 'ulimit -n'.";
  config.apply([{ name: "maxclients", text: String(most) }]);
  return { most, warning };
}

/** Another bundle of the package. */
function bundle(name: string): URL {
  return new URL(name, import.meta.url);
}

/** Loads what answers on the admin port; without one it is never read. */
async function openAdmin(
  config: Config,
  clock: SystemClock,
  shared: SharedState,
  chunks: Chunks,
  view: AdminView,
): Promise<AdminPort> {
  const admin = (await import(bundle("admin.js").href)) as typeof import("./admin.ts");
  return admin.openAdmin({
    figures: {
      shared,
      chunks,
      config,
      commands: COMMAND_NAMES,
      versions: {
        version: VERSION,
        redis_version: REDIS_VERSION,
        node_version: process.versions.node,
      },
      clock,
      random: systemRandom(),
      startedMs: clock.unixMs,
      nextChunk: () => view.nextChunk(),
      nodes: () => view.nodes(),
    },
    notReady: () => view.notReady(),
    log: (level, text) => writeLog(config, level, text),
  });
}

function takeSignals(supervisor: Supervisor): void {
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => supervisor.end(`Received ${signal} scheduling shutdown...`));
  }
  // As in Redis: whoever closes the terminal ends no server.
  process.on("SIGHUP", () => undefined);
  // Node would open its debugger, through which every user of the machine could run code in here.
  process.on("SIGUSR1", () => undefined);
}

async function main(): Promise<void> {
  const names = new CommandNames(COMMAND_NAMES.filter((name) => !name.includes("|")));
  const config = loadConfig(names);
  prepareFiles(config);
  const nodeId = await nodeIdOf(config);
  const clock = new SystemClock();
  const places = clientPlaces(config);
  const clientRows = Math.min(Math.max(config.maxclients, CLIENT_ROWS), places.most);
  const shared = sharedState(config, {
    threads: config.threads,
    shards: config.shards,
    commands: COMMAND_NAMES.length,
    clientRows,
    owners: config.owners,
    chunkBytes: config.memoryChunk,
    memoryLimit: heapLimit(config.threads),
    unixMs: clock.unixMs,
    random: entropy,
    checked: isChecked(),
  });
  const chunks = firstChunks(config, shared);
  const oomScoreBefore = startOomScore(config);
  const identity = { runId: randomHex(20), nodeId, startedMs: clock.unixMs, oomScoreBefore };
  const supervisor = new Supervisor({
    config,
    shared,
    chunks,
    threadUrl: bundle("thread.cjs"),
    renames: names.renames(),
    reusePort: sharedPort(),
    facts: (tcpPort, ownerPorts, acceptMode): ServerFacts => ({
      version: VERSION,
      redisVersion: REDIS_VERSION,
      ...identity,
      ...processFacts(),
      archBits: 64,
      tcpPort,
      ownerPorts,
      acceptMode,
    }),
    nodes(ownerPorts) {
      if (config.owners === 0) return null;
      const nodes = ownerNodes(nodeId, config.owners, ownerPorts[0] ?? 0);
      fillSlots(new Int32Array(shared.slots), nodes);
      return nodes;
    },
    bound: () => writePidFile(config),
    openAdmin:
      config.adminPort === 0
        ? null
        : (view) => openAdmin(config, new SystemClock(), shared, chunks, view),
  });
  takeSignals(supervisor);
  supervisor.log(
    "notice",
    `ZeroHop ${VERSION} (Redis ${REDIS_VERSION}), ${config.threads} threads, ${config.shards} shards`,
  );
  if (places.warning !== "") supervisor.log("warning", places.warning);
  logMode(config);
  supervisor.log("notice", "Server initialized");
  const memoryWarning = maxmemoryWarning(config);
  if (memoryWarning !== "") supervisor.log("warning", memoryWarning);
  try {
    await supervisor.start();
  } catch (error) {
    if (error instanceof BindError) failStarting(config, error.message);
    throw error;
  }
  logWildcards(config);
}

await main();
