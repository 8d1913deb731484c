/**
 * The types of the embedded store's surface that its methods share. What is declared here, and the
 * classes an application gets, import nothing of the inside: their declarations are published.
 */

/** A key or a value; text stands for its UTF-8 bytes. */
export type Text = string | Uint8Array;
/** What `call` takes: numbers stand for their decimal text. */
export type Word = Text | number | bigint;

export type OptionValue = string | number | boolean;

/** Which keys go at `maxmemory`; "noeviction", the default, refuses writes instead. */
export type EvictionPolicy =
  | "noeviction"
  | "allkeys-lru"
  | "allkeys-lfu"
  | "allkeys-random"
  | "volatile-lru"
  | "volatile-lfu"
  | "volatile-random"
  | "volatile-ttl";

/** Directives in camelCase, with the values and units of redis.conf; yes and no may be booleans. */
export type StoreOptions = {
  /** Bytes for data ("256mb"); beyond it `maxmemoryPolicy` decides. 0 or nothing: no bound. */
  maxmemory?: OptionValue | undefined;
  maxmemoryPolicy?: EvictionPolicy | undefined;
  maxmemorySamples?: number | undefined;
  /** Databases that `db` and SELECT can reach; 16 if not said. */
  databases?: number | undefined;
  /** Locks over ranges of slots, a power of two from 4 to 1024 or "auto". */
  shards?: number | "auto" | undefined;
  /** Bytes of the shared buffers that memory is taken in; a small one gives more back. */
  memoryChunk?: OptionValue | undefined;
  /** Longest string, and longest argument of a connection of `listen`. */
  protoMaxBulkLen?: OptionValue | undefined;
  /** Connections of `listen`; 1000 if not said. */
  maxclients?: number | undefined;
  /** Seconds after which an idle connection of `listen` is closed; 0 is never. */
  timeout?: number | undefined;
  /** False lets `listen` serve clients of other hosts; there is no password. */
  protectedMode?: boolean | "yes" | "no" | undefined;
  /** Whether DEBUG is served; "local": to connections of this machine, of which a handle is one. */
  enableDebugCommand?: boolean | "yes" | "no" | "local" | undefined;
} & { [name in OtherOption]?: OptionValue | undefined };

/** Further directives that the embedded store takes. */
export type OtherOption =
  | "unixsocketperm"
  | "tcpBacklog"
  | "tcpKeepalive"
  | "clientOutputBufferLimit"
  | "clientQueryBufferLimit"
  | "maxmemoryEvictionTenacity"
  | "activeExpireEffort"
  | "hz"
  | "dynamicHz"
  | "activerehashing"
  | "lfuLogFactor"
  | "lfuDecayTime"
  | "lazyfreeLazyEviction"
  | "lazyfreeLazyExpire"
  | "lazyfreeLazyServerDel"
  | "lazyfreeLazyUserDel"
  | "lazyfreeLazyUserFlush"
  | "trackingTableMaxKeys"
  | "notifyKeyspaceEvents"
  | "activedefrag"
  | "activeDefragCycleMin"
  | "activeDefragCycleMax"
  | "activeDefragThresholdLower"
  | "activeDefragThresholdUpper"
  | "activeDefragIgnoreBytes"
  | "activeDefragMaxScanFields"
  | "jemallocBgThread"
  | "ioThreads"
  | "ioThreadsDoReads"
  | "hashMaxListpackEntries"
  | "hashMaxListpackValue"
  | "listMaxListpackSize"
  | "listCompressDepth"
  | "setMaxIntsetEntries"
  | "setMaxListpackEntries"
  | "setMaxListpackValue"
  | "zsetMaxListpackEntries"
  | "zsetMaxListpackValue"
  | "hllSparseMaxBytes"
  | "streamNodeMaxBytes"
  | "streamNodeMaxEntries"
  | "enableProtectedConfigs"
  | "latencyMonitorThreshold"
  | "latencyTracking"
  | "latencyTrackingInfoPercentiles";

/** Goes to other threads as it is; what is in it is the store's own business. */
export type StoreHandle = {
  /** Version of the package; threads of one store must have the same. */
  readonly zerohop: string;
};

export type OpenOptions = StoreOptions | { handle: StoreHandle };

/** Where `listen` is to listen: on `path` if it is given, else on `host` and `port`. */
export type ListenOptions = {
  /** 0, and if not said: a port that the system chooses. */
  port?: number | undefined;
  /** "127.0.0.1" if not said. */
  host?: string | undefined;
  /** Path of a unix socket; one that nobody listens on any more is removed. */
  path?: string | undefined;
};

export type ListenAddress = {
  /** Empty for a unix socket. */
  readonly host: string;
  /** 0 for a unix socket. */
  readonly port: number;
  /** Of a unix socket only. */
  readonly path?: string;
  /** redis://host:port or unix:///path, as clients take it. */
  readonly url: string;
};
