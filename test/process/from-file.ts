/** Starts our server by arguments that `startZeroHop` does not make: files, input, environment. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { executable } from "../support/build.ts";
import { until } from "../support/owners.ts";
import { removeFolder, temporaryFolder } from "../support/ports.ts";
import { deferred } from "../support/resp.ts";
import { type Exit, Server } from "../support/servers.ts";

export async function startFromFile(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  stdin = "",
  logfile?: string,
): Promise<Server> {
  const folder = temporaryFolder();
  const child = spawn(process.execPath, [await executable(), ...args], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output: string[] = [];
  const exited = deferred<Exit>();
  let ended = false;
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  child.on("close", (code, signal) => {
    ended = true;
    exited.resolve({ code, signal });
  });
  child.stdin.end(stdin);
  const log = (): string => {
    if (logfile === undefined) return output.join("");
    return existsSync(logfile) ? readFileSync(logfile, "utf8") : "";
  };
  await until("the ready line", () => {
    if (ended) throw new Error(`the server ended at start:\n${output.join("")}`);
    return /Ready to accept connections.*\n/.test(log());
  });
  const tcp = /tcp=([\d.]+):(\d+)/.exec(log());
  if (tcp === null) {
    child.kill("SIGKILL");
    removeFolder(folder);
    throw new Error(`no TCP address in:\n${log()}`);
  }
  const address = { host: tcp[1] as string, port: Number(tcp[2]) };
  const listeners = new Map([["tcp", `${tcp[1]}:${tcp[2]}`]]);
  const started = { child, folder, ownsFolder: true, listeners, output, exited: exited.promise };
  return new Server(started, address);
}
