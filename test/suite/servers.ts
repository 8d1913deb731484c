/**
 * Servers as programs: to be started by us for one unit, or to stand in for the runner's own. The
 * runner configures what it starts with a file in which a few directives are Valkey's alone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { executable } from "../support/build.ts";
import { requireTool } from "../support/environment.ts";
import { freePort, removeFolder, temporaryFolder } from "../support/ports.ts";
import type { ServerName } from "./options.ts";

const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 15_000;
const LOG_TAIL_BYTES = 4000;

/** What the runner's own servers are configured with, as far as both servers know it. */
const DIRECTIVES: readonly (readonly [string, string])[] = [
  ["bind", "127.0.0.1"],
  ["save", ""],
  ["appendonly", "no"],
  ["databases", "16"],
  ["latency-monitor-threshold", "1"],
  ["loglevel", "verbose"],
  ["enable-debug-command", "yes"],
  ["enable-protected-configs", "yes"],
];

const VALKEY_ONLY: readonly string[] = [
  "cluster-ping-interval",
  "enable-debug-assert",
  "hide-user-data-from-log",
  "propagation-error-behavior",
  "unixsocketgroup",
];

/** Directives of the runner's configuration that are taken out of it: they are not known. */
const NOT_KNOWN: Readonly<Record<ServerName, readonly string[]>> = {
  "redis-server": VALKEY_ONLY,
  zerohop: [...VALKEY_ONLY, "notify-keyspace-events"],
};

export type RunningServer = {
  port: number;
  /** Null while it runs; else how it ended, with the end of its log. */
  ended(): string | null;
  stop(): Promise<void>;
};

/** Program and first arguments of a server. */
async function programOf(name: ServerName, threads: number | null): Promise<string[]> {
  if (name === "redis-server") return [requireTool("redis-server")];
  const words = [process.execPath, await executable()];
  return threads === null ? words : [...words, "--threads", String(threads)];
}

export async function startServer(
  name: ServerName,
  threads: number | null,
): Promise<RunningServer> {
  const [program, ...first] = (await programOf(name, threads)) as [string, ...string[]];
  const folder = temporaryFolder();
  const port = await freePort();
  const words = DIRECTIVES.flatMap(([directive, value]) => [`--${directive}`, value]);
  const child = spawn(program, [...first, "--port", String(port), "--dir", folder, ...words], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  let exit: string | null = null;
  const exited = new Promise<void>((resolve) => {
    child.on("close", (code, signal) => {
      exit = `${name} ended, code ${code}, signal ${signal}:\n${log.slice(-LOG_TAIL_BYTES)}`;
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name}: not ready\n${log}`)), START_LIMIT_MS);
    const onOutput = (chunk: Buffer): void => {
      log = (log + chunk.toString("latin1")).slice(-4 * LOG_TAIL_BYTES);
      if (!/[Rr]eady to accept connections/.test(log)) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout.on("data", onOutput);
    child.stderr.on("data", onOutput);
    void exited.then(() => reject(new Error(exit ?? "")));
  });
  return { port, ended: () => exit, stop: () => stop(child, exited, folder) };
}

async function stop(child: ChildProcess, exited: Promise<void>, folder: string): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await exited;
  clearTimeout(timer);
  removeFolder(folder);
}

/**
 * Puts a script in the place of src/valkey-server in a copied checkout. The process that the runner
 * starts becomes the server, so that the process id it knows is the right one. A refusal to start
 * gets the words by which the runner knows that it need not wait.
 */
export async function writeStandIn(
  checkout: string,
  name: ServerName,
  threads: number | null,
): Promise<void> {
  const [program, ...first] = await programOf(name, null);
  const quoted = [program, ...first].map((word) => `'${word}'`).join(" ");
  const more = name === "zerohop" && threads !== null ? ` --threads ${threads}` : "";
  const drop = NOT_KNOWN[name].map((directive) => `-e '/^${directive} /d'`).join(" ");
  const mark = "sed -u 's/^zerohop: /FATAL CONFIG FILE ERROR: /'";
  const lines = [
    "#!/bin/bash",
    `if [ -f "$1" ]; then sed -i ${drop} "$1"; fi`,
    `exec ${quoted} "$@"${more} 2> >(${mark} >&2)`,
  ];
  const file = path.join(checkout, "src", "valkey-server");
  writeFileSync(file, `${lines.join("\n")}\n`);
  chmodSync(file, 0o755);
}
