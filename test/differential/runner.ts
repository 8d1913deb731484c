/**
 * Runs a case on two servers and lists where they differ. A case runs in one of three ways:
 *
 *   step      each command waits for its reply
 *   pipeline  the whole case in one write; only cases with one connection and no <id:n>
 *   spread    each command on the next of three connections; only stateless cases
 */
import type net from "node:net";
import { type Address, encodeCommand, RespClient } from "../support/resp.ts";
import type { Frame, Reply } from "../support/resp-parser.ts";
import { integerOf, show } from "../support/resp-parser.ts";
import { allowed } from "./allowlist.ts";
import { ruleFor, type Side, type Span } from "./compare.ts";
import { type Case, commandLine, connectionCount, isStateless, type Step } from "./script.ts";

export type Protocol = 2 | 3;
export type Mode = "step" | "pipeline" | "spread";

type Outcome = Frame | "closed" | "silent" | "garbage";

/** What came of a command, and when it was at work. */
type Timed = { readonly outcome: Outcome; readonly span: Span };

export type Mismatch = { where: string; title: string; line: string; ours: string; redis: string };

const SPREAD_CONNECTIONS = 3;
const SILENCE_MS = 30_000;

/** What a socket says once the other side has gone. */
const CLOSED = /connection was closed|ECONNRESET|EPIPE|ended by the other party/;

/** One server with the connections of the case that is running. */
class Lane {
  readonly #address: Address;
  readonly #protocol: Protocol;
  readonly #silenceMs: number;
  #control: RespClient | undefined;
  #clients: RespClient[] = [];
  /** When this server was made ready for the case. */
  prepared: Span = { fromMs: 0, toMs: 0 };

  constructor(address: Address, protocol: Protocol, silenceMs: number) {
    this.#address = address;
    this.#protocol = protocol;
    this.#silenceMs = silenceMs;
  }

  /** An empty keyspace and `count` connections, fresh ones unless `reuse`. */
  async prepare(count: number, reuse: boolean): Promise<void> {
    const fromMs = Date.now();
    await this.#flush();
    if (!reuse) this.close();
    this.#clients = this.#clients.filter((client) => !client.isClosed);
    while (this.#clients.length < count) {
      const client = await RespClient.connect(this.#address);
      client.timeoutMs = this.#silenceMs;
      // Its answer comes before the next one connects, so that ids go up with the connections.
      await client.call("HELLO", String(this.#protocol));
      this.#clients.push(client);
    }
    this.prepared = { fromMs, toMs: Date.now() };
  }

  /** A case may kill every other connection, the one for this included. */
  async #flush(): Promise<void> {
    const before = this.#control;
    if (before !== undefined && !before.isClosed) {
      before.sendRaw(encodeCommand(["FLUSHALL"]));
      if (typeof (await outcome(before)) === "object") return;
    }
    this.#control = await RespClient.connect(this.#address);
    await this.#control.call("FLUSHALL");
  }

  close(): void {
    for (const client of this.#clients.splice(0)) client.close();
  }

  end(): void {
    this.close();
    this.#control?.close();
  }

  async call(connection: number, args: readonly string[]): Promise<Timed> {
    const client = this.#client(connection);
    const command = encodeCommand(await this.#resolve(args));
    const fromMs = Date.now();
    client.sendRaw(command);
    return timed(client, fromMs);
  }

  pipeline(commands: readonly (readonly string[])[]): Promise<Timed[]> {
    const client = this.#client(1);
    const fromMs = Date.now();
    client.sendRaw(Buffer.concat(commands.map(encodeCommand)));
    return Promise.all(commands.map(() => timed(client, fromMs)));
  }

  addresses(): string[] {
    return this.#clients.map(({ socket }) => localAddress(socket));
  }

  #client(connection: number): RespClient {
    return this.#clients[connection - 1] as RespClient;
  }

  /** Puts in the ids and addresses that a case asks for by `<id:n>` and `<addr:n>`. */
  async #resolve(args: readonly string[]): Promise<string[]> {
    const resolved: string[] = [];
    for (const arg of args) {
      const variable = /^<(id|addr|laddr):(\d)>$/.exec(arg);
      if (variable === null) resolved.push(arg);
      else resolved.push(await this.#variable(variable[1] as string, Number(variable[2])));
    }
    return resolved;
  }

  async #variable(name: string, connection: number): Promise<string> {
    const client = this.#client(connection);
    if (name === "id") return String(integerOf((await client.call("CLIENT", "ID")).reply));
    const { socket } = client;
    return name === "addr" ? localAddress(socket) : `${socket.remoteAddress}:${socket.remotePort}`;
  }
}

function localAddress(socket: net.Socket): string {
  return `${socket.localAddress}:${socket.localPort}`;
}

async function outcome(client: RespClient): Promise<Outcome> {
  try {
    return await client.next();
  } catch (error) {
    if (CLOSED.test((error as Error).message)) return "closed";
    return client.isClosed ? "garbage" : "silent";
  }
}

async function timed(client: RespClient, fromMs: number): Promise<Timed> {
  const came = await outcome(client);
  return { outcome: came, span: { fromMs, toMs: Date.now() } };
}

export class Differential {
  readonly #oracle: Lane;
  readonly #subject: Lane;
  readonly #protocol: Protocol;

  /** A connection on which nothing comes for `silenceMs` counts as silent. */
  constructor(
    oracle: Address,
    subject: Address,
    protocol: Protocol,
    silenceMs: number = SILENCE_MS,
  ) {
    this.#oracle = new Lane(oracle, protocol, silenceMs);
    this.#subject = new Lane(subject, protocol, silenceMs);
    this.#protocol = protocol;
  }

  close(): void {
    this.#oracle.end();
    this.#subject.end();
  }

  /** The ways in which a case can run. */
  static modes(one: Case): Mode[] {
    const hasVariables = one.steps.some((step) => /<(id|addr|laddr):\d>/.test(step.line));
    const modes: Mode[] = ["step"];
    if (connectionCount(one) === 1 && !hasVariables) modes.push("pipeline");
    if (isStateless(one)) modes.push("spread");
    return modes;
  }

  async run(one: Case, mode: Mode): Promise<Mismatch[]> {
    const reuse = isStateless(one);
    const count = mode === "spread" ? SPREAD_CONNECTIONS : connectionCount(one);
    const lanes = [this.#oracle, this.#subject] as const;
    await Promise.all(lanes.map((lane) => lane.prepare(count, reuse)));
    const [redis = [], ours = []] = await Promise.all(
      lanes.map((lane) => runSteps(lane, one.steps, mode)),
    );
    const where = `RESP${this.#protocol} ${mode}`;
    const found: Mismatch[] = [];
    for (const [index, step] of one.steps.entries()) {
      const upTo = index + 1;
      const difference = this.#judge(step, redis.slice(0, upTo), ours.slice(0, upTo));
      if (difference !== undefined) found.push({ where, title: one.name, ...difference });
    }
    if (!reuse) for (const lane of lanes) lane.close();
    return found;
  }

  /** Of the last one of each. */
  #judge(
    step: Step,
    redisTimed: readonly Timed[],
    oursTimed: readonly Timed[],
  ): Omit<Mismatch, "where" | "title"> | undefined {
    const redis = redisTimed.at(-1)?.outcome ?? "silent";
    const ours = oursTimed.at(-1)?.outcome ?? "silent";
    if (redis === ours) return undefined;
    if (typeof redis === "object" && typeof ours === "object") {
      if (redis.raw.equals(ours.raw)) return undefined;
      const oracleSide = sideOf(this.#oracle, redis.reply, redisTimed);
      const ourSide = sideOf(this.#subject, ours.reply, oursTimed);
      if (ruleFor(commandLine(step))?.same(oracleSide, ourSide) === true) return undefined;
      if (allowed(step, ours.reply)) return undefined;
    }
    return { line: step.line, ours: describe(ours), redis: describe(redis) };
  }
}

function sideOf(lane: Lane, reply: Reply, timedOnes: readonly Timed[]): Side {
  const spans = [lane.prepared, ...timedOnes.map((one) => one.span)];
  return { reply, addresses: lane.addresses(), spans };
}

async function runSteps(lane: Lane, steps: readonly Step[], mode: Mode): Promise<Timed[]> {
  if (mode === "pipeline") return lane.pipeline(steps.map((step) => step.args));
  const outcomes: Timed[] = [];
  for (const [index, step] of steps.entries()) {
    const connection = mode === "spread" ? 1 + (index % SPREAD_CONNECTIONS) : step.connection;
    outcomes.push(await lane.call(connection, step.args));
  }
  return outcomes;
}

function describe(outcome: Outcome): string {
  return typeof outcome === "string" ? `(${outcome})` : show(outcome.reply).slice(0, 1500);
}

/** One entry per difference, with all the ways in which it showed. */
export function report(mismatches: readonly Mismatch[]): string {
  const ways = new Map<string, string[]>();
  for (const { where, title, line, ours, redis } of mismatches) {
    const entry = `  ${title}\n    ${line}\n      ours:  ${ours}\n      redis: ${redis}`;
    ways.set(entry, [...(ways.get(entry) ?? []), where]);
  }
  const entries = [...ways].map(([entry, found]) => `${entry}\n      in:    ${found.join(", ")}`);
  return [`${entries.length} replies differ`, ...entries].join("\n");
}
