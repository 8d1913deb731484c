/**
 * Starts servers as processes: ours from its bundle, and a real redis-server to compare with. A
 * start waits for the ready line of the log, never for time to pass. Each server has a folder of
 * its own, which goes when it stops. A server that ends without having been told to fails the test
 * that owns it, with the end of its log.
 */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { after } from "node:test";
import { executable } from "./build.ts";
import { requireTool, subjectRedis } from "./environment.ts";
import { freePort, removeFolder, temporaryFolder } from "./ports.ts";
import { type Address, deferred, RespClient, within } from "./resp.ts";

/** Directives as on the command line; an array is several values of one directive. */
export type Options = { [directive: string]: string | number | readonly (string | number)[] };

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

export type RunResult = Exit & { stdout: string; stderr: string };

/** Who takes longer hangs. */
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 60_000;
const RUN_LIMIT_MS = 180_000;
const READY = /[Rr]eady to accept connections(.*)/;

/** Directives of ours that a redis-server in our place would not know. */
const OURS_ONLY = ["threads", "shards", "memory-chunk"];

const running = new Set<ChildProcess>();
const connected = new Set<RespClient>();

// What a failed test leaves behind would keep the process, and with it the run, from ending.
after(() => {
  for (const client of connected) client.close();
  for (const child of running) child.kill("SIGKILL");
});
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export class Server {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly exited: Promise<Exit>;
  /** What the ready line said: tcp, owners, unix. */
  readonly listeners: ReadonlyMap<string, string>;
  readonly address: Address;
  readonly #output: string[];
  readonly #ownsFolder: boolean;
  readonly #clients: RespClient[] = [];
  #exit: Exit | undefined;

  constructor(started: Started, address: Address) {
    this.child = started.child;
    this.folder = started.folder;
    this.listeners = started.listeners;
    this.address = address;
    this.#output = started.output;
    this.#ownsFolder = started.ownsFolder;
    this.exited = started.exited.then((exit) => {
      this.#exit = exit;
      return exit;
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** The plain TCP port. */
  get port(): number {
    if ("path" in this.address) throw new Error("this server has no TCP port");
    return this.address.port;
  }

  /** The owners' ports, in order. */
  get ownerPorts(): number[] {
    const range = /:(\d+)(?:-(\d+))?$/.exec(this.listeners.get("owners") ?? "");
    if (range === null) throw new Error(`no owner ports in the ready line:\n${this.output()}`);
    const first = Number(range[1]);
    const last = Number(range[2] ?? range[1]);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  }

  output(): string {
    return this.#output.join("");
  }

  async connect(address: Address = this.address): Promise<RespClient> {
    const client = await RespClient.connect(address);
    this.#clients.push(client);
    connected.add(client);
    void client.closed.then(() => connected.delete(client));
    return client;
  }

  connectTo(port: number, host = "127.0.0.1"): Promise<RespClient> {
    return this.connect({ host, port });
  }

  /** Ends the server as an operator would and checks that it went well. */
  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    const early = this.#exit;
    this.child.kill("SIGTERM");
    const inTime = await within(this.exited, STOP_LIMIT_MS);
    if (!inTime) this.child.kill("SIGKILL");
    const exit = await this.exited;
    if (this.#ownsFolder) removeFolder(this.folder);
    if (early !== undefined) throw new Error(`the server ended by itself: ${this.#tail(early)}`);
    if (!inTime) throw new Error(`no end ${STOP_LIMIT_MS} ms after SIGTERM: ${this.#tail(exit)}`);
    if (exit.code !== 0) throw new Error(`SIGTERM did not give exit code 0: ${this.#tail(exit)}`);
  }

  /** For a server that the test itself brings to an end. */
  async end(signal: NodeJS.Signals | undefined, limitMs: number = STOP_LIMIT_MS): Promise<Exit> {
    if (signal !== undefined) this.child.kill(signal);
    const inTime = await within(this.exited, limitMs);
    if (!inTime) this.child.kill("SIGKILL");
    const exit = await this.exited;
    for (const client of this.#clients) client.close();
    if (this.#ownsFolder) removeFolder(this.folder);
    if (!inTime) throw new Error(`the server did not end in ${limitMs} ms: ${this.#tail(exit)}`);
    return exit;
  }

  #tail(exit: Exit): string {
    return `code ${exit.code}, signal ${exit.signal}\n${this.output().slice(-4000)}`;
  }
}

export type Launch = {
  environment?: NodeJS.ProcessEnv;
  /** A program and arguments that in turn start node, such as one that sets limits. */
  through?: readonly string[];
};

type Started = {
  child: ChildProcess;
  folder: string;
  ownsFolder: boolean;
  listeners: Map<string, string>;
  output: string[];
  exited: Promise<Exit>;
};

/** Starts our server, or what ZEROHOP_TEST_SUBJECT puts in its place. */
export async function startZeroHop(options: Options = {}, launch: Launch = {}): Promise<Server> {
  if (subjectRedis !== undefined) {
    const known = Object.entries(options).filter(([name]) => !OURS_ONLY.includes(name));
    return startRedis(Object.fromEntries(known), subjectRedis);
  }
  const main = await executable();
  const withPort = "port" in options ? options : { port: "auto", ...options };
  const [program, ...before] = launch.through ?? [];
  const command = program === undefined ? [] : [...before, process.execPath];
  const started = await startProcess(
    program ?? process.execPath,
    [...command, main],
    withPort,
    launch.environment,
  );
  return new Server(started, addressOf(started, options));
}

/** Starts a redis-server without persistence. */
export async function startRedis(options: Options = {}, binary?: string): Promise<Server> {
  const program = binary ?? requireTool("redis-server");
  for (let attempt = 0; ; attempt++) {
    const port = await freePort();
    const defaults = { port, bind: "127.0.0.1", save: "", appendonly: "no" };
    const all: Options = { ...defaults, ...options };
    if (all["port"] === "auto") all["port"] = port;
    try {
      const started = await startProcess(program, [], all);
      const unixPath = options["unixsocket"];
      const byPath = all["port"] === 0 && unixPath !== undefined;
      const tcp = { host: "127.0.0.1", port: Number(all["port"]) };
      return new Server(started, byPath ? { path: String(unixPath) } : tcp);
    } catch (error) {
      const taken = (error as Error).message.includes("Address already in use");
      if (!taken || attempt === 5) throw error;
    }
  }
}

/** Runs our server in the expectation that it ends by itself. */
export async function runZeroHop(
  args: readonly string[],
  settings: { environment?: NodeJS.ProcessEnv; folder?: string; stdin?: string } = {},
): Promise<RunResult> {
  const main = subjectRedis ?? (await executable());
  const program = subjectRedis ?? process.execPath;
  const before = subjectRedis === undefined ? [main] : [];
  return runProgram(program, [...before, ...args], settings);
}

/** Runs a program to its end and returns all that it wrote. */
export function runProgram(
  program: string,
  args: readonly string[],
  settings: {
    environment?: NodeJS.ProcessEnv;
    folder?: string;
    stdin?: string | Buffer;
    limitMs?: number;
  } = {},
): Promise<RunResult> {
  const limitMs = settings.limitMs ?? RUN_LIMIT_MS;
  const { promise, resolve, reject } = deferred<RunResult>();
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "pipe"],
    ...(settings.folder === undefined ? {} : { cwd: settings.folder }),
    env: { ...process.env, ...settings.environment },
  });
  running.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("latin1")));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("latin1")));
  child.stdin.on("error", () => {
    // The program may end without reading its input; its exit code tells the rest.
  });
  child.stdin.end(settings.stdin ?? "");
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    const shown = `${stdout.slice(-2000)}\n${stderr.slice(-2000)}`;
    reject(new Error(`${program} ${args.join(" ")}: no end in ${limitMs} ms\n${shown}`));
  }, limitMs);
  child.on("error", reject);
  child.on("close", (code, signal) => {
    clearTimeout(timer);
    running.delete(child);
    resolve({ code, signal, stdout, stderr });
  });
  return promise;
}

export function commandLine(options: Options): string[] {
  const args: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    const values = Array.isArray(value) ? value : [value];
    args.push(`--${name}`, ...values.map(String));
  }
  return args;
}

async function startProcess(
  program: string,
  before: readonly string[],
  options: Options,
  environment: NodeJS.ProcessEnv = {},
): Promise<Started> {
  const ownsFolder = !("dir" in options);
  const folder = ownsFolder ? temporaryFolder() : String(options["dir"]);
  const child = spawn(program, [...before, ...commandLine({ dir: folder, ...options })], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const output: string[] = [];
  const ready = deferred<Map<string, string>>();
  const exit = deferred<Exit>();
  const onOutput = (chunk: Buffer): void => {
    output.push(chunk.toString("utf8"));
    const line = READY.exec(output.join(""));
    if (line !== null && output.join("").includes("\n", line.index)) {
      ready.resolve(parseListeners(line[1] ?? ""));
    }
  };
  child.stdout.on("data", onOutput);
  child.stderr.on("data", (chunk: Buffer) => output.push(chunk.toString("utf8")));
  child.on("error", (error) => ready.reject(error));
  child.on("close", (code, signal) => {
    running.delete(child);
    exit.resolve({ code, signal });
    ready.reject(new Error(`${program} ended at start, code ${code}:\n${output.join("")}`));
  });
  const started = ready.promise.then(
    (listeners) => ({ child, folder, ownsFolder, listeners, output, exited: exit.promise }),
    (error: Error) => {
      if (ownsFolder) removeFolder(folder);
      throw error;
    },
  );
  if (!(await within(started, START_LIMIT_MS))) {
    child.kill("SIGKILL");
    throw new Error(`${program}: no ready line in ${START_LIMIT_MS} ms:\n${output.join("")}`);
  }
  return started;
}

function parseListeners(rest: string): Map<string, string> {
  const listeners = new Map<string, string>();
  for (const [, name, value] of rest.matchAll(/(\w+)=(\S+)/g)) {
    if (name !== undefined && value !== undefined) listeners.set(name, value);
  }
  return listeners;
}

/** Where the test connects: the first TCP address, else the unix socket, else the first owner. */
function addressOf(started: Started, options: Options): Address {
  const tcp = started.listeners.get("tcp")?.split(",")[0];
  if (tcp !== undefined) return parseAddress(tcp);
  if (options["unixsocket"] !== undefined) {
    return { path: path.resolve(started.folder, String(options["unixsocket"])) };
  }
  const owners = started.listeners.get("owners");
  if (owners === undefined) throw new Error(`nothing to connect to:\n${started.output.join("")}`);
  return parseAddress(owners.replace(/-\d+$/, ""));
}

/** `127.0.0.1:6379`, `[::1]:6379`; a wildcard is reached by loopback. */
function parseAddress(text: string): Address {
  const colon = text.lastIndexOf(":");
  const bare = text.slice(0, colon).replace(/^\[|\]$/g, "");
  const host = bare === "0.0.0.0" || bare === "*" || bare === "" ? "127.0.0.1" : bare;
  return { host: host === "::" ? "::1" : host, port: Number(text.slice(colon + 1)) };
}
