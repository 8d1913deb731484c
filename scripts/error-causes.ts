/**
 * Every error text that the server sends, and why. The texts are those of the sources, with "…" for
 * what is put in; a test holds the two equal. A text that ends in " …" here stands for a longer one.
 */

export type ErrorCause = readonly [text: string, cause: string];

export const CAUSES: readonly ErrorCause[] = [
  // Any command.
  [
    "ERR unknown command '…', with args beginning with: …",
    "There is no such command, or not yet: see [limits](../limits.md#not-there-yet).",
  ],
  ["ERR unknown subcommand '…'. Try … HELP.", "The container has no such subcommand, or not yet."],
  [
    "ERR unknown subcommand or wrong number of arguments for '…'. Try … HELP.",
    "As above, from `DEBUG` and others that look at their words themselves.",
  ],
  [
    "ERR wrong number of arguments for '…' command",
    "Too few or too many words, or a key without its value in `MSET` and `MSETNX`.",
  ],
  [
    "ERR syntax error",
    "A word that the command does not know, or options that exclude each other.",
  ],
  [
    "ERR Protocol error: …",
    "The bytes are no request; the connection is closed. The reasons: `invalid multibulk length`, " +
      "`invalid bulk length` (beyond `proto-max-bulk-len` too), `expected '$', got '…'`, `too big " +
      "inline request`, `too big mbulk count string`, `too big bulk count string`, `unbalanced " +
      "quotes in request`, `unauthenticated multibulk length`, `unauthenticated bulk length`.",
  ],
  [
    'ERR … command not allowed. If the enable-…-command option is set to "local", …',
    "`DEBUG` is off: `enable-debug-command`.",
  ],
  ["ERR max number of clients reached", "There are `maxclients` connections. This one is closed."],
  [
    "DENIED Redis is running in protected mode …",
    "The client is on another machine and `protected-mode` is on. The connection is closed.",
  ],
  [
    "OOM command not allowed when used memory > 'maxmemory'.",
    "The command may need memory, and `maxmemory`, the limit of the control group or the heap of 32 " +
      "chunks is used up; see [memory](../operate/memory.md).",
  ],

  // Values.
  [
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "The key holds a value of another type than the command is for.",
  ],
  [
    "ERR value is not an integer or out of range",
    "An argument or a stored value is no integer of 64 bits.",
  ],
  [
    "ERR value is out of range, value must between -2147483648 and 2147483647",
    "The number of a database does not fit 32 bits.",
  ],
  [
    "ERR value is not a valid float",
    "`INCRBYFLOAT`: an argument or the stored value is no number.",
  ],
  ["ERR increment or decrement would overflow", "The result does not fit 64 bits."],
  ["ERR decrement would overflow", "`DECRBY` by -9223372036854775808 has no opposite."],
  ["ERR increment would produce NaN or Infinity", "`INCRBYFLOAT` beyond what a float can be."],
  [
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)",
    "`APPEND` or `SETRANGE` would make a longer string than the directive allows.",
  ],
  ["ERR offset is out of range", "`SETRANGE` with a negative offset."],
  ["ERR The specified keys must contain string values", "`LCS` of a key that is no string."],
  [
    "ERR If you want both the length and indexes, please just use IDX.",
    "`LCS` with `LEN` and `IDX`.",
  ],
  [
    "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len",
    "The strings are so long that the table of `LCS` would pass the directive.",
  ],
  [
    "ERR Insufficient memory, failed allocating transient memory for LCS",
    "The system has no memory for the table of `LCS`.",
  ],

  // Keys.
  ["ERR no such key", "`RENAME`, `RENAMENX` or `DEBUG OBJECT` of a key that does not exist."],
  ["ERR source and destination objects are the same", "`COPY` or `MOVE` of a key onto itself."],
  ["BUSYKEY Target key name already exists.", "`RESTORE` without `REPLACE` of a key that exists."],
  ["ERR invalid expire time in '…' command", "The time is not positive, or too far away."],
  [
    "ERR Unsupported option …",
    "`EXPIRE` and its kin with another word than `NX`, `XX`, `GT`, `LT`.",
  ],
  [
    "ERR NX and XX, GT or LT options at the same time are not compatible",
    "`EXPIRE` and its kin: `NX` stands alone.",
  ],
  [
    "ERR GT and LT options at the same time are not compatible",
    "`EXPIRE` and its kin: one of them.",
  ],
  ["ERR invalid cursor", "`SCAN` with a cursor that is no number."],
  ["ERR NOVALUES option can only be used in HSCAN", "`SCAN` with `NOVALUES`."],
  [
    "ERR An LFU maxmemory policy is not selected, access frequency not tracked.",
    "`OBJECT FREQ` under a policy without frequencies.",
  ],
  [
    "ERR An LFU maxmemory policy is selected, idle time not tracked.",
    "`OBJECT IDLETIME` under a policy with frequencies.",
  ],
  ["ERR DUMP payload version or checksum are wrong", "`RESTORE`: the payload is damaged or newer."],
  ["ERR Bad data format", "`RESTORE`: the payload's checksum fits, its contents do not."],
  ["ERR Invalid TTL value, must be >= 0", "`RESTORE` with a negative time to live."],
  ["ERR Invalid IDLETIME value, must be >= 0", "`RESTORE` with a negative `IDLETIME`."],
  ["ERR Invalid FREQ value, must be >= 0 and <= 255", "`RESTORE` with a `FREQ` that is no byte."],
  ["ERR RESTORE of a … is not supported yet", "`RESTORE` of a type that does not exist here yet."],

  // Databases.
  ["ERR DB index is out of range", "There are `databases` of them, from 0 on."],
  ["ERR invalid first DB index", "`SWAPDB`: the first argument is no number."],
  ["ERR invalid second DB index", "`SWAPDB`: the second argument is no number."],

  // Waiting.
  [
    "UNBLOCKED client unblocked via CLIENT UNBLOCK",
    "The command waited, and somebody has ended that with `CLIENT UNBLOCK … ERROR`.",
  ],
  ["ERR timeout is not an integer or out of range", "`WAIT` or `WAITAOF`."],
  ["ERR timeout is negative", "`WAIT` or `WAITAOF`."],
  ["ERR timeout is out of range", "`WAIT` or `WAITAOF`: the time would end beyond 64 bits."],
  [
    "ERR value is out of range, value must between 0 and 1",
    "`WAITAOF`: the number of local copies.",
  ],
  ["ERR value is out of range, must be positive", "`WAITAOF`: the number of replicas."],
  [
    "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
    "`WAITAOF` for a local copy, and there is no log of commands.",
  ],

  // Connections.
  ["NOPROTO unsupported protocol version", "`HELLO` with another version than 2 or 3."],
  ["ERR Protocol version is not an integer or out of range", "`HELLO` with no number."],
  ["ERR Syntax error in HELLO option '…'", "A word that `HELLO` does not know, or one too few."],
  [
    "WRONGPASS invalid username-password pair or user is disabled.",
    "`AUTH` or `HELLO … AUTH` as another user than `default`, who has no password.",
  ],
  [
    "ERR AUTH <password> called without any password configured for the default user. Are you sure " +
      "your configuration is correct?",
    "`AUTH` with a password alone: there is none.",
  ],
  [
    "ERR Client names cannot contain spaces, newlines or special characters.",
    "`CLIENT SETNAME`, `HELLO … SETNAME`.",
  ],
  [
    "ERR … cannot be longer than … bytes",
    "`CLIENT SETNAME`, `CLIENT SETINFO`: rows of clients have a fixed size; see " +
      "[limits](../limits.md#sizes).",
  ],
  ["ERR Unrecognized option '…'", "`CLIENT SETINFO` of something else than `LIB-NAME`, `LIB-VER`."],
  ["ERR … cannot contain spaces, newlines or special characters.", "`CLIENT SETINFO`."],
  ["ERR No such client", "`CLIENT KILL` of an address where nobody is."],
  ["ERR No such user '…'", "`CLIENT KILL USER`: the only user is `default`."],
  ["ERR Unknown client type '…'", "`CLIENT LIST` and `CLIENT KILL` with `TYPE`."],
  ["ERR Invalid client ID", "`CLIENT LIST ID` with no positive number."],
  ["ERR client-id should be greater than 0", "`CLIENT KILL ID`."],
  ["ERR maxage is not an integer or out of range", "`CLIENT KILL MAXAGE`."],
  ["ERR maxage should be greater than 0", "`CLIENT KILL MAXAGE`."],
  ["ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR", "`CLIENT UNBLOCK` with another word."],
  ["ERR CLIENT PAUSE mode must be WRITE or ALL", "`CLIENT PAUSE` with another word."],
  ["ERR CLIENT TRACKING ON is not supported yet", "Nobody can be told of changed keys."],
  [
    "ERR A client can only redirect to a single other client",
    "`CLIENT TRACKING` with two `REDIRECT`.",
  ],
  ["ERR The client ID you want redirect to does not exist", "`CLIENT TRACKING ... REDIRECT`."],
  ["ERR PREFIX option requires BCAST mode to be enabled", "`CLIENT TRACKING ON PREFIX`."],
  ["ERR OPTIN and OPTOUT are not compatible with BCAST", "`CLIENT TRACKING ON BCAST`."],
  ["ERR You can't specify both OPTIN mode and OPTOUT mode", "`CLIENT TRACKING ON`."],
  [
    "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT " +
      "mode enabled",
    "`CLIENT CACHING`, since nobody tracks.",
  ],
  [
    "ERR Replica can't interact with the keyspace",
    "A connection that has said `MONITOR` may not read or write keys; `RESET` ends it.",
  ],

  // The server.
  ["ERR Unknown option or number of arguments for CONFIG SET - '…'", "There is no such directive."],
  [
    "ERR CONFIG SET failed (possibly related to argument '…') - …",
    "The rest says why: `can't set immutable config`, `can't set protected config`, `duplicate " +
      "parameter`, a value of the wrong kind or range, or one that is not supported yet; " +
      "or the system refuses it, as a port that is in use: then the log says why. Nothing of the " +
      "call has been changed.",
  ],
  [
    "ERR The server is running without a config file",
    "`CONFIG REWRITE` has nothing to write into.",
  ],
  ["ERR Rewriting config file: …", "The file cannot be written; the system's reason follows."],
  ["ERR Invalid command specified", "`COMMAND GETKEYS` of a command that does not exist."],
  ["ERR The command has no key arguments", "`COMMAND GETKEYS` of such a command."],
  [
    "ERR Invalid number of arguments specified for command",
    "`COMMAND GETKEYS` of a call that is too short or too long.",
  ],
  [
    "ERR Invalid arguments specified for command",
    "`COMMAND GETKEYS` of a call whose keys cannot be told.",
  ],
  ["ERR count should be greater than or equal to -1", "`SLOWLOG GET` with a count below -1."],
  ["ERR No samples available for event '…'", "`LATENCY GRAPH` of an event that never was."],
  ["ERR No shutdown in progress.", "`SHUTDOWN ABORT`."],
  [
    "ERR Errors trying to SHUTDOWN. Check logs.",
    "`SHUTDOWN SAVE`: there is no snapshot. With `FORCE` the server ends all the same.",
  ],
  ["ERR DEBUG RELOAD is not supported yet: there is no snapshot", "There are no files."],
  ["ERR DEBUG LOADAOF is not supported yet: there is no log of commands", "There are no files."],
  [
    "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.",
    "Another option of `DEBUG RELOAD`.",
  ],
  [
    "ERR CONFIG-REWRITE-FORCE-ALL failed: …",
    "`DEBUG CONFIG-REWRITE-FORCE-ALL` could not write; the system's words follow.",
  ],
  ["ERR Not an sds encoded string.", "`DEBUG SDSLEN` of a number."],
  ["ERR Out of range database", "`DEBUG HTSTATS` of a database that is not there."],
  ["ERR Wrong protocol type name. …", "`DEBUG PROTOCOL` of an unknown type."],
  ["ERR RESP2 is not supported by this command", "`DEBUG PROTOCOL push` in RESP2."],
  ["ERR …", "`DEBUG HEAP-CHECK` has found a fault of ours; the text says what and where."],

  // Clusters.
  ["ERR This instance has cluster support disabled", "`CLUSTER` without shard owners."],
  ["MOVED … …:…", "On an owner's port: the key's slot belongs to the owner at that address."],
  [
    "CROSSSLOT Keys in request don't hash to the same slot",
    "On an owner's port: keys of several slots, and `shard-owners-cross-slot` is `no`.",
  ],
  ["CLUSTERDOWN Hash slot not served", "The slot has no owner."],
  [
    "ERR This layout follows from shard-owners and cannot be changed by CLUSTER …",
    "Slots and nodes follow from the settings.",
  ],
  ["ERR Unknown node …", "`CLUSTER` with an id that no owner has."],
  ["ERR Invalid slot", "`CLUSTER` with a slot that is none."],
  ["ERR Invalid or out of range slot", "`CLUSTER` with a slot beyond 16383."],
  ["ERR Invalid slot or number of keys", "`CLUSTER GETKEYSINSLOT`."],
  ["ERR Start slot number … is greater than end slot number …", "`CLUSTER SLOT-STATS`."],
  [
    "ERR Limit has to lie in between 1 and 16384 (maximum number of slots).",
    "`CLUSTER SLOT-STATS ORDERBY`.",
  ],
  ["ERR Unrecognized sort metric for ORDERBY.", "`CLUSTER SLOT-STATS ORDERBY`."],
  ["ERR Multiple filters of the same type are disallowed.", "`CLUSTER SLOT-STATS`."],
  ["ERR SELECT is not allowed in cluster mode", "On an owner's port there is only database 0."],
  ["ERR MOVE is not allowed in cluster mode", "On an owner's port there is only database 0."],
  ["ERR SWAPDB is not allowed in cluster mode", "On an owner's port there is only database 0."],
  [
    "ERR Copying to another database is not allowed in cluster mode",
    "On an owner's port there is only database 0.",
  ],
];

/** True if `cause` is about an error text of the sources. */
export function covers([shown]: ErrorCause, text: string): boolean {
  return shown.endsWith(" …") && shown.length > "ERR …".length && text.length > shown.length
    ? text.startsWith(shown.slice(0, -1))
    : text === shown;
}
