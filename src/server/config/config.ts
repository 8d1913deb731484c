/**
 * The values of all directives on one thread.
 *
 * A value is kept as its text, the one CONFIG GET shows; what hot code reads is in plain fields
 * that are computed again after each change. `set` decides and changes nothing: it gives a list of
 * changes that every thread, this one included, is sent in one order and takes by `apply`. So all
 * threads hold the same values after the same changes, and a CONFIG SET happens whole or not at
 * all.
 */
import { assert } from "../../base/assert.ts";
import { lowerText } from "../../base/bytes.ts";
import { globMatchText } from "../../base/glob.ts";
import { SHARDS_AUTO_MIN, SHARDS_MAX, SHARDS_PER_THREAD, THREADS_MAX } from "../../limits.ts";
import { cString } from "../../protocol/errors.ts";
import { type Directive, type ParseContext, parseWords, refusal } from "./directive.ts";
import type { ConfigHost } from "./host.ts";
import { DIRECTIVES, directiveNames, findDirective, type Named } from "./table.ts";

/** `port`, `ownersPort` or `adminPort` when the system is to choose. */
export const AUTO_PORT = -1;

/** One value of one directive, by its own name. Lists of these can be posted to other threads. */
export type Change = {
  name: string;
  text: string;
  /** Shown by CONFIG GET instead of the value, which a rewritten file keeps: `port auto`. */
  shownOnly?: true;
};

export type SetResult = { ok: true; changes: Change[] } | { ok: false; error: string };

export type OutputLimit = { hardBytes: number; softBytes: number; softSeconds: number };
export type Allowed = "no" | "yes" | "local";
export type EndpointType = "ip" | "hostname" | "unknown-endpoint";
export type LogLevel = "debug" | "verbose" | "notice" | "warning" | "nothing";

const NO_LIMIT: OutputLimit = { hardBytes: 0, softBytes: 0, softSeconds: 0 };

export class Config {
  readonly host: ConfigHost;
  /** Counts the calls of `apply`. */
  generation = 0;
  /** Absolute path of the file it was loaded from, or empty. */
  file = "";
  /** Connections the server has room for; CONFIG SET maxclients may not go beyond. */
  clientsMax: number = Number.POSITIVE_INFINITY;

  port = 0;
  bind: readonly string[] = [];
  unixsocket = "";
  unixsocketPerm = 0;
  /** 0: no admin port. */
  adminPort = 0;
  tcpBacklog = 0;
  tcpKeepalive = 0;
  timeout = 0;
  maxclients = 0;
  protectedMode = false;
  normalLimit: OutputLimit = NO_LIMIT;
  replicaLimit: OutputLimit = NO_LIMIT;
  pubsubLimit: OutputLimit = NO_LIMIT;
  queryBufferMax = 0;
  bulkMax = 0;

  threads = 0;
  shards = 0;
  memoryChunk = 0;
  maxmemory = 0;
  /** Bytes that all clients may take, 0 if there is no bound. */
  clientMemoryMax = 0;
  maxmemoryPolicy = "";
  databases = 0;
  hz = 0;
  activeExpireEffort = 1;

  rdbCompression = false;
  rdbWriteVersion = 0;

  /** 0: no shard owners. */
  owners = 0;
  ownersPort = 0;
  /** 0: as bound. */
  ownersAnnouncePort = 0;
  ownersCrossSlot = false;
  /** Keyspace commands on an owner's port see everything, not only that owner's slots. */
  ownersSeeAll = false;
  announceIp = "";
  announceHostname = "";
  endpointType: EndpointType = "ip";

  dir = "";
  logfile = "";
  logLevel: LogLevel = "notice";
  pidfile = "";
  debugCommand: Allowed = "no";
  protectedConfigs: Allowed = "no";

  /** Microseconds; negative: never. */
  slowlogUsec = 0;
  slowlogLength = 0;
  /** 0: off. */
  latencyThresholdMs = 0;
  latencyTracking = false;
  latencyPercentiles: readonly number[] = [];

  readonly #texts = new Map<string, string>();
  readonly #shown = new Map<string, string>();

  constructor(host: ConfigHost) {
    this.host = host;
    for (const row of DIRECTIVES) this.#texts.set(row.name, row.default);
    this.#texts.set("dir", host.cwd);
    this.#refresh();
  }

  /** The value of a directive, by its own name. */
  text(name: string): string {
    const text = this.#texts.get(name);
    assert(text !== undefined, `no directive ${name}`);
    return text;
  }

  /** As a number; beyond 2^53 - 1 it is that. */
  number(name: string): number {
    return Math.min(Number(this.text(name)), Number.MAX_SAFE_INTEGER);
  }

  flag(name: string): boolean {
    return this.text(name) === "yes";
  }

  /** Values that differ from the defaults, to make another thread's Config equal to this one. */
  changes(): Change[] {
    const list: Change[] = [];
    for (const row of DIRECTIVES) {
      const text = this.text(row.name);
      if (text !== row.default) list.push({ name: row.name, text });
    }
    for (const [name, text] of this.#shown) list.push({ name, text, shownOnly: true });
    return list;
  }

  /** Takes changes that `set` or `load` found valid. */
  apply(changes: readonly Change[]): void {
    for (const { name, text, shownOnly } of changes) {
      assert(this.#texts.has(name), `no directive ${name}`);
      if (shownOnly === true) {
        this.#shown.set(name, text);
      } else {
        this.#texts.set(name, text);
        this.#shown.delete(name);
      }
    }
    this.#refresh();
    this.generation += 1;
  }

  /**
   * CONFIG GET: names and values in turn. A name without wildcards is shown as it was given.
   */
  get(patterns: readonly string[]): string[] {
    const found = new Map<string, { shown: string; row: Directive }>();
    for (const pattern of patterns) {
      if (!/[[*?]/.test(pattern)) {
        const named = findDirective(pattern);
        const key = lowerText(pattern);
        if (named !== undefined && !found.has(key)) found.set(key, { ...named, shown: pattern });
        continue;
      }
      for (const { name, row } of directiveNames()) {
        if (row.hidden === true || found.has(name) || !globMatchText(pattern, name, true)) continue;
        found.set(name, { shown: name, row });
      }
    }
    const pairs: string[] = [];
    for (const { shown, row } of found.values()) {
      pairs.push(shown, this.#shown.get(row.name) ?? this.text(row.name));
    }
    return pairs;
  }

  /**
   * CONFIG SET of names and values in turn. Errors are Redis's, in its order: names first, from
   * left to right, then values.
   */
  set(words: readonly string[], mayProtected: boolean): SetResult {
    if (words.length % 2 !== 0) return failed("ERR syntax error");
    const settings: { named: Named; value: string }[] = [];
    for (let i = 0; i < words.length; i += 2) {
      const given = words[i] as string;
      const named = findDirective(given);
      if (named === undefined) {
        const shown = cString(given);
        return failed(`ERR Unknown option or number of arguments for CONFIG SET - '${shown}'`);
      }
      const reason = unsettable(named, mayProtected, settings);
      if (reason !== null) return failedAt(given, reason);
      settings.push({ named, value: words[i + 1] as string });
    }
    return this.#check(settings);
  }

  #check(settings: readonly { named: Named; value: string }[]): SetResult {
    const staged = new Map<string, string>();
    for (const { named, value } of settings) {
      const { name, row } = named;
      const values = row.type.several ? splitAtBlanks(value) : [value];
      const current = staged.get(row.name) ?? this.text(row.name);
      const parsed = parseWords(row.type, values, this.parseContext(current, false));
      if (!parsed.ok) return failedAt(name, parsed.error);
      const refused = refusal(row, parsed.text);
      if (refused !== null) return failedAt(name, refused);
      staged.set(row.name, parsed.text);
    }
    if (Number(staged.get("maxclients") ?? 0) > this.clientsMax) {
      return failedAt(
        "maxclients",
        "The operating system is not able to handle the specified number of clients, " +
          `try with ${this.clientsMax}`,
      );
    }
    const changes: Change[] = [];
    for (const [name, text] of staged) {
      if (text !== this.text(name)) changes.push({ name, text });
    }
    return { ok: true, changes };
  }

  parseContext(current: string, adding: boolean, dir: string = this.dir): ParseContext {
    return {
      current,
      adding,
      directoryError: (path) => this.host.directoryError(path),
      resolve: (path) => this.host.resolvePath(dir, path),
    };
  }

  #refresh(): void {
    this.#refreshNetwork();
    this.#refreshMemory();
    this.#refreshOwners();
    this.#refreshTimes();
    this.dir = this.text("dir");
    this.logfile = this.text("logfile");
    this.logLevel = this.text("loglevel") as LogLevel;
    this.pidfile = this.text("pidfile");
    this.debugCommand = this.text("enable-debug-command") as Allowed;
    this.protectedConfigs = this.text("enable-protected-configs") as Allowed;
  }

  #refreshNetwork(): void {
    this.port = this.#portNumber("port");
    this.bind = splitAtBlanks(this.text("bind"));
    this.unixsocket = this.text("unixsocket");
    this.unixsocketPerm = Number.parseInt(this.text("unixsocketperm"), 8);
    this.adminPort = this.#portNumber("admin-port");
    this.tcpBacklog = this.number("tcp-backlog");
    this.tcpKeepalive = this.number("tcp-keepalive");
    this.timeout = this.number("timeout");
    this.maxclients = this.number("maxclients");
    this.protectedMode = this.flag("protected-mode");
    const limits = this.text("client-output-buffer-limit").split(" ");
    this.normalLimit = outputLimit(limits, 0);
    this.replicaLimit = outputLimit(limits, 1);
    this.pubsubLimit = outputLimit(limits, 2);
    this.queryBufferMax = this.number("client-query-buffer-limit");
    this.bulkMax = this.number("proto-max-bulk-len");
  }

  #refreshMemory(): void {
    const threads = this.text("threads");
    const shards = this.text("shards");
    const cores = Math.max(1, Math.min(this.host.parallelism, THREADS_MAX));
    this.threads = threads === "auto" ? cores : Number(threads);
    this.shards = shards === "auto" ? automaticShards(this.threads) : Number(shards);
    this.memoryChunk = this.number("memory-chunk");
    this.maxmemory = this.number("maxmemory");
    this.clientMemoryMax = clientMemory(this.text("maxmemory-clients"), this.maxmemory);
    this.maxmemoryPolicy = this.text("maxmemory-policy");
    this.databases = this.number("databases");
    this.hz = this.number("hz");
    this.activeExpireEffort = this.number("active-expire-effort");
    this.rdbCompression = this.flag("rdbcompression");
    this.rdbWriteVersion = this.number("rdb-write-version");
  }

  #refreshOwners(): void {
    const owners = this.text("shard-owners");
    this.owners = owners === "no" ? 0 : owners === "yes" ? this.threads : Number(owners);
    const first = this.#portNumber("shard-owners-port");
    const follows = this.port > 0 ? this.port + 1 : this.port;
    this.ownersPort = first === 0 ? follows : first;
    this.ownersAnnouncePort = this.number("shard-owners-announce-port");
    this.ownersCrossSlot = this.flag("shard-owners-cross-slot");
    this.ownersSeeAll = this.text("shard-owners-keyspace") === "all";
    this.announceIp = this.text("cluster-announce-ip");
    this.announceHostname = this.text("cluster-announce-hostname");
    this.endpointType = this.text("cluster-preferred-endpoint-type") as EndpointType;
  }

  #refreshTimes(): void {
    this.slowlogUsec = this.number("slowlog-log-slower-than");
    this.slowlogLength = this.number("slowlog-max-len");
    this.latencyThresholdMs = this.number("latency-monitor-threshold");
    this.latencyTracking = this.flag("latency-tracking");
    const percentiles = this.text("latency-tracking-info-percentiles");
    this.latencyPercentiles = splitAtBlanks(percentiles).map(Number);
  }

  #portNumber(name: string): number {
    return this.text(name) === "auto" ? AUTO_PORT : this.number(name);
  }
}

/** A percentage is one of maxmemory; of none it is no bound. */
function clientMemory(text: string, maxmemory: number): number {
  if (!text.endsWith("%")) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  return Math.floor((maxmemory * Number(text.slice(0, -1))) / 100);
}

function outputLimit(words: readonly string[], at: number): OutputLimit {
  const [hard, soft, seconds] = words.slice(at * 4 + 1, at * 4 + 4);
  return { hardBytes: Number(hard), softBytes: Number(soft), softSeconds: Number(seconds) };
}

/** The next power of two, so that a slot's shard stays a shift. */
function automaticShards(threads: number): number {
  let shards = SHARDS_AUTO_MIN;
  while (shards < threads * SHARDS_PER_THREAD) shards *= 2;
  return Math.min(shards, SHARDS_MAX);
}

/** As Redis cuts a CONFIG SET value of several words: at single blanks, without quotes. */
export function splitAtBlanks(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}

/** Why this name cannot be set now, or null. An alias beside its own name is no duplicate. */
function unsettable(
  named: Named,
  mayProtected: boolean,
  earlier: readonly { named: Named }[],
): string | null {
  if (named.row.set === "fixed") return "can't set immutable config";
  if (named.row.set === "protected" && !mayProtected) return "can't set protected config";
  return earlier.some((setting) => setting.named === named) ? "duplicate parameter" : null;
}

function failed(error: string): SetResult {
  return { ok: false, error };
}

function failedAt(name: string, reason: string): SetResult {
  return failed(setError(name, reason));
}

/** The reply to a CONFIG SET that one of its directives is to blame for. */
export function setError(name: string, reason: string): string {
  return `ERR CONFIG SET failed (possibly related to argument '${name}') - ${reason}`;
}
