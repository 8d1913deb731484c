/**
 * Row `startup`: from starting the process to its first PONG. Ours is what a user gets: the packed
 * tarball, installed into an empty folder, started by its bin; redis-server stands beside it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Control } from "../control.ts";
import { type Options, UsageError } from "../options.ts";
import { progress, type Row } from "../row.ts";
import { exited, findRoot, freePort, trackChild } from "../server.ts";
import { alternate, pairedRatio, type Summary, summarize } from "../stats.ts";
import { formatRatio, formatSummary, type Table } from "../table.ts";

const FIRST_PONG_TIMEOUT_MS = 20_000;
const RETRY_MS = 1;

/** Packs `dist` as it is and installs the tarball; returns the installed bin. */
export function installTarball(root: string, folder: string): string {
  if (!existsSync(join(root, "dist", "main.js"))) {
    throw new UsageError(`${join(root, "dist", "main.js")} is missing: npm run build`);
  }
  const packArgs = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const listing = execFileSync("npm", packArgs, { cwd: root, stdio: "pipe" }).toString("utf8");
  const packed = JSON.parse(listing) as { filename: string }[];
  const target = join(folder, "consumer");
  mkdirSync(target);
  writeFileSync(join(target, "package.json"), '{ "name": "consumer", "private": true }\n');
  const tarball = join(folder, packed[0]?.filename ?? "");
  const installArgs = ["install", tarball, "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", installArgs, { cwd: target, stdio: "pipe" });
  return join(target, "node_modules", ".bin", "zerohop");
}

async function firstPong(child: ChildProcess, port: number, began: number): Promise<number> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    if (performance.now() - began > FIRST_PONG_TIMEOUT_MS) throw new Error("no PONG in time");
    try {
      const control = await Control.connect(port);
      try {
        if ((await control.call("PING")) === "PONG") return performance.now() - began;
      } finally {
        control.close();
      }
    } catch {
      // Refused: not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Milliseconds from the start of `command` to the first PONG. */
async function timeStart(command: readonly string[], node: string): Promise<number> {
  const port = await freePort(0);
  const folder = mkdtempSync(join(tmpdir(), "zerohop-bench-"));
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder];
  args.push("--save", "", "--appendonly", "no");
  const path = `${dirname(node)}${delimiter}${process.env["PATH"] ?? ""}`;
  const began = performance.now();
  const child = spawn(command[0] as string, [...command.slice(1), ...args], {
    cwd: folder,
    env: { ...process.env, PATH: path },
    stdio: "ignore",
  });
  trackChild(child);
  try {
    return await firstPong(child, port, began);
  } finally {
    child.kill("SIGKILL");
    await exited(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface StartupResult {
  readonly subject: Summary;
  readonly peer: Summary;
  readonly ratio: Summary;
}

export async function measureStartup(options: Options): Promise<StartupResult> {
  const folder = mkdtempSync(join(tmpdir(), "zerohop-pack-"));
  try {
    const bin = options.subject === "zerohop" ? installTarball(findRoot(), folder) : "redis-server";
    const subject = (): Promise<number> => timeStart([bin], options.node);
    const peer = (): Promise<number> => timeStart(["redis-server"], options.node);
    await subject();
    const { first, second } = await alternate(options.pairs, subject, peer);
    return {
      subject: summarize(first),
      peer: summarize(second),
      ratio: pairedRatio(first, second),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const startup: Row = {
  name: "startup",
  summary: "first PONG of the packed, installed package",
  defaults: { pairs: 10 },
  async run(options): Promise<Table> {
    progress("startup: pack, install, start");
    const found = await measureStartup(options);
    return {
      title: `startup: ${options.subject} beside redis-server, ${options.pairs} pairs`,
      columns: ["first PONG ms", "redis ms", "ratio"],
      rows: [[formatSummary(found.subject), formatSummary(found.peer), formatRatio(found.ratio)]],
      notes: [`Node of our server: ${options.node}. One start before the pairs warms the caches.`],
    };
  },
};
