/**
 * Every maximum and every default that is not a directive. What a user can set is in
 * `server/config/`; what only the code relies on is here, with its unit in the name.
 *
 * Relations between limits are asserted in `limits.test.ts`, not by their readers.
 */

// Keys and slots.

/** Slots of the keyspace, as in Redis Cluster. */
export const SLOTS = 16384;
/** A string longer than this is a block of its own and may be pinned while it is written out. */
export const BIG_STRING_BYTES: number = 64 * 1024;

// The heap.

/** Pointers count units of this many bytes. */
export const UNIT_BYTES = 8;
/** The largest chunk: no typed-array index may reach 2^31, and a pointer has 27 bits for it. */
export const CHUNK_BYTES_MAX: number = 1024 * 1024 * 1024;
/** The smallest chunk: its page table must be a small part of it. */
export const CHUNK_BYTES_MIN: number = 4 * 1024 * 1024;
/** Chunks that a pointer's upper 5 bits can name. */
export const CHUNKS_MAX = 32;
/** Part of a control group's memory that the heap may take; the rest is for everything else. */
export const HEAP_SHARE = 0.9;
/** What it may take of a small one, however many threads there are. */
export const HEAP_SHARE_LEAST = 0.1;
/** Of a control group's memory, what a server needs for itself, and for each of its threads. */
export const SERVER_BYTES: number = 80 * 1024 * 1024;
export const THREAD_BYTES: number = 60 * 1024 * 1024;
/** A smaller `maxmemory` is warned of, as in Redis. */
export const MAXMEMORY_SENSIBLE_BYTES: number = 1024 * 1024;
/** Allocators take spans of this size from the common pool; a chunk is a multiple of it. */
export const SPAN_BYTES: number = 64 * 1024;

// Threads, shards, owners, databases.

export const THREADS_MAX = 128;
/** Shards are a power of two, so that a slot's shard is a shift. */
export const SHARDS_MAX = 1024;
/** With fewer a shard would have more slots than may be visited under its lock: 4,096. */
export const SHARDS_MIN = 4;
/** Shards when `shards` is auto: this many a thread ... */
export const SHARDS_PER_THREAD = 16;
/** ... and at least this many. */
export const SHARDS_AUTO_MIN = 64;
/** Handles of an embedded store that are open at once. */
export const HANDLES_MAX = 64;
/** Owner ports of one process. */
export const OWNERS_MAX = 256;
/** Every database has a root in shared memory, so their count is bounded. */
export const DATABASES_MAX = 1024;

// Ports.

export const PORT_MAX = 65535;
/** `quorum-port` when it is 0: the client port plus this. */
export const QUORUM_PORT_OFFSET = 200;
/** `cluster-port` when it is 0: the client port plus this. */
export const CLUSTER_PORT_OFFSET = 10000;
/** Where `shard-owners-port auto` looks. */
export const OWNER_PORTS_FROM = 10240;
export const OWNER_PORTS_TO = 32768;
/** Blocks of ports tried for `shard-owners-port auto`. */
export const OWNER_PORT_TRIES = 100;
/** What the system has room for in the address of a unix socket. */
export const UNIX_PATH_BYTES_MAX = 107;
/** Addresses in one `bind`. */
export const BIND_ADDRESSES_MAX = 16;

// Requests.

/** Longest inline request, and longest line of a multibulk header. */
export const INLINE_MAX: number = 64 * 1024;
/** Arguments of one request. */
export const MULTIBULK_MAX = 0x7fffffff;
/** Most bytes of replies that are not sent yet; a command that answers more closes its client. */
export const REPLY_BYTES_MAX: number = 2 ** 31 - 1;
/**
 * Most bytes that are kept of what a client has sent: of the arguments of one request that have no
 * heap block, and of what came while nothing could be run. `client-query-buffer-limit` may be less.
 */
export const QUERY_BYTES_MAX: number = 1024 * 1024 * 1024;
/** An argument longer than this is received straight into a heap block. */
export const BIG_ARGUMENT_BYTES: number = 64 * 1024;
/** Most bytes of an argument that an error, a line of the log or a comparison with a name reads. */
export const ARGUMENT_SHOWN_BYTES_MAX: number = 64 * 1024;

// Threads among themselves, clients.

/** Bytes of messages that a thread keeps for another that takes none; then they are lost. */
export const MAILBOX_WAITING_MAX: number = 256 * 1024 * 1024;
/** Longest line of MONITOR; whoever would see a longer one is disconnected. */
export const MONITOR_LINE_MAX: number = 1024 * 1024 * 1024;
/** `maxmemory-clients` below this counts as this, as in Redis. */
export const CLIENT_MEMORY_MIN: number = 128 * 1024;
/** Who wants a folder looks again at another that wants it too, and waits so long for answers. */
export const FOLDER_LOCK_LOOK_MS = 20;
export const FOLDER_LOCK_ANSWER_MS = 5000;
/** Descriptors that a process needs besides those of its clients: so many and so many a thread. */
export const DESCRIPTORS_OWN = 32;
export const DESCRIPTORS_PER_THREAD = 12;
/** Address space that a thread's JavaScript heap, code and stack need at its start. */
export const THREAD_ADDRESS_BYTES: number = 192 * 1024 * 1024;
/** The same since Node 22. */
export const THREAD_ADDRESS_BYTES_22: number = 416 * 1024 * 1024;
/** Most machine code of a thread; V8 reserves half a gigabyte of address space if not told. */
export const THREAD_CODE_MB = 64;
/**
 * Young generation of a thread's JavaScript heap: three half spaces. V8 lets it grow to 48 MiB a
 * thread if not told, which a small control group has not; commands leave next to nothing in it.
 */
export const THREAD_YOUNG_MB = 12;
/** Rows of the client table; `maxclients` may be set up to this without a restart. */
export const CLIENT_ROWS = 65536;

// The admin port.

/** Bytes of a request's line and headers; requests have no body. */
export const HTTP_HEADER_BYTES_MAX: number = 8 * 1024;
export const HTTP_CONNECTIONS_MAX = 64;
/** The answer to the last one says that the connection ends. */
export const HTTP_CONNECTION_REQUESTS_MAX = 20;
/** How long a request may take to arrive. */
export const HTTP_REQUEST_MS = 5000;
/** How long a client may take nothing of an answer. */
export const HTTP_SEND_MS = 10_000;
/** How long a connection is kept between requests: longer than Prometheus usually waits. */
export const HTTP_IDLE_MS = 75_000;
/** How often it is looked for requests that take too long. */
export const HTTP_CHECK_MS = 1000;

// Configuration.

/** How deep `include` may nest. */
export const INCLUDE_DEPTH_MAX = 16;
/** `hz` is capped to this range, not refused. */
export const HZ_MIN = 1;
export const HZ_MAX = 500;
/** Bytes of `cluster-announce-hostname`, exclusive. */
export const HOSTNAME_BYTES_MAX = 256;

/** Stars that a glob pattern may go on behind, as in Redis: with more nothing matches. */
export const GLOB_STARS_MAX = 1000;

// RDB files and DUMP payloads.

/** The largest double below 2^63: later times of expiry are kept as this. */
export const EXPIRY_MS_MAX: number = 2 ** 63 - 1024;

/** `rdb-write-version` when it is not said: what Redis 7.0 and later load. */
export const RDB_VERSION_DEFAULT = 10;
/** The latest version that is read: Redis 7.4's. */
export const RDB_VERSION_MAX = 12;

// What is remembered of slow commands.

/** Bytes of the slow log; `slowlog-max-len` counts as far as its entries fit. */
export const SLOW_LOG_BYTES: number = 16 * 1024 * 1024;
// An application may have many embedded stores; the tables of each are a few MiB.
export const STORE_SLOW_LOG_BYTES: number = 1024 * 1024;
/** Of the ring of messages that each handle has. */
export const STORE_RING_BYTES: number = 16 * 1024;
/** Arguments of a logged command; the last one tells how many more there were. */
export const SLOW_LOG_ARGUMENTS_MAX = 32;
/** Bytes of a logged argument. */
export const SLOW_LOG_ARGUMENT_BYTES_MAX = 128;
/** Samples of each event that LATENCY HISTORY shows. */
export const LATENCY_SAMPLES = 160;
