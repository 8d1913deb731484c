/**
 * Starts and stops the servers under test: ours (`node dist/main.js`) and redis-server.
 *
 * Both get the same redis.conf options, a folder of their own and a free port; both are ready when
 * they print `Ready to accept connections`. Whatever was started is killed when the bench ends,
 * by its process id, also when the bench itself is interrupted; its folder goes with it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Options, type Subject, UsageError } from "./options.ts";

const READY = "Ready to accept connections";
const START_TIMEOUT_MS = 60_000;
const START_ATTEMPTS = 5;
const STOP_TIMEOUT_MS = 10_000;
/** Apart from the ports of test/support/ports.ts. */
const PORT_MIN = 12_000;
const PORT_MAX = 20_000;

export interface ServerPlan {
  readonly kind: Subject;
  readonly threads: number;
  /** Cores as `taskset -c` takes them; undefined is unpinned. */
  readonly cores: string | undefined;
  readonly node: string;
  readonly entry: string;
  /** More redis.conf options, as on the command line. */
  extra(port: number): readonly string[];
  /** Ports after the first one that the server will need (shard owners). */
  readonly morePorts: number;
}

export interface RunningServer {
  readonly kind: Subject;
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** The checkout this file belongs to, run from `bench/` or compiled from `build/bench/`. */
export function findRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest)) {
      const name = (JSON.parse(readFileSync(manifest, "utf8")) as { name?: string }).name;
      if (name === "zerohop") return folder;
    }
    if (folder === dirname(folder)) throw new Error(`no zerohop package around ${from}`);
  }
}

function entryOf(options: Options): string {
  return options.entry ?? join(findRoot(), "dist", "main.js");
}

/** The plan for one side of a comparison; refuses a subject that was not built. */
export function planServer(
  options: Options,
  kind: Subject,
  threads: number,
  cores: string | undefined,
): ServerPlan {
  const entry = entryOf(options);
  if (kind === "zerohop" && !existsSync(entry)) {
    throw new UsageError(`${entry} is missing: npm run build, or --subject redis-server`);
  }
  return { kind, threads, cores, node: options.node, entry, extra: () => [], morePorts: 0 };
}

function serverCommand(plan: ServerPlan, port: number, folder: string): string[] {
  const common = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder];
  common.push("--save", "", "--appendonly", "no", ...plan.extra(port));
  const command =
    plan.kind === "redis-server"
      ? ["redis-server", ...common]
      : [plan.node, plan.entry, ...common, "--threads", String(plan.threads)];
  return plan.cores === undefined ? command : ["taskset", "-c", plan.cores, ...command];
}

function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/** A port below the ephemeral range with `more` free ones behind it. */
export async function freePort(more: number): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(PORT_MIN, PORT_MAX - more);
    let free = true;
    for (let i = 0; i <= more && free; i++) free = await portIsFree(port + i);
    if (free) return port;
  }
  throw new Error(`no ${more + 1} free ports in a row between ${PORT_MIN} and ${PORT_MAX}`);
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();
let cleanupInstalled = false;

/** Children are killed by their own id when the bench exits for whatever reason. */
export function trackChild(child: ChildProcess): void {
  if (!cleanupInstalled) {
    cleanupInstalled = true;
    process.on("exit", () => {
      for (const one of running) one.kill("SIGKILL");
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => process.exit(130));
    }
  }
  running.add(child);
  child.once("exit", () => running.delete(child));
}

export function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

async function stopChild(child: ChildProcess): Promise<void> {
  const done = exited(child);
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await done;
  clearTimeout(timer);
}

/** Resolves once the ready line is out; rejects with the server's own last words. */
function waitForReady(child: ChildProcess, command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(new Error(`${command}: ${why}\n${log.slice(-2000)}`));
    };
    const timer = setTimeout(() => fail("not ready in time"), START_TIMEOUT_MS);
    const read = (chunk: string): void => {
      log = (log + chunk).slice(-8000);
      if (!log.includes(READY)) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", read);
    child.stderr?.setEncoding("utf8").on("data", read);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => fail(`ended at start (${code ?? signal})`));
  });
}

async function startOnce(plan: ServerPlan): Promise<RunningServer> {
  const port = await freePort(plan.morePorts);
  const folder = mkdtempSync(join(tmpdir(), "zerohop-bench-"));
  folders.add(folder);
  const command = serverCommand(plan, port, folder);
  const child = spawn(command[0] as string, command.slice(1), {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: folder,
  });
  trackChild(child);
  const stop = async (): Promise<void> => {
    await stopChild(child);
    rmSync(folder, { recursive: true, force: true });
    folders.delete(folder);
  };
  try {
    await waitForReady(child, command.join(" "));
  } catch (error) {
    await stop();
    throw error;
  }
  return { kind: plan.kind, pid: child.pid as number, port, stop };
}

/** Starts a server; once more, with other ports, when somebody took one in the meantime. */
export async function startServer(plan: ServerPlan): Promise<RunningServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(plan);
    } catch (error) {
      const taken = error instanceof Error && /already in use/i.test(error.message);
      if (!taken || attempt === START_ATTEMPTS) throw error;
    }
  }
}

/** Runs `use` with both servers up, and stops them whatever happens. */
export async function withServers<T>(
  plans: readonly ServerPlan[],
  use: (servers: readonly RunningServer[]) => Promise<T>,
): Promise<T> {
  const servers: RunningServer[] = [];
  try {
    for (const plan of plans) servers.push(await startServer(plan));
    return await use(servers);
  } finally {
    for (const server of servers) await server.stop();
  }
}
