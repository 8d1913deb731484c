/** More words than an unknown command shows. */
const MANY_WORDS = [
  "a".repeat(30),
  "b".repeat(34),
  "c".repeat(30),
  "d".repeat(24),
  "e".repeat(21),
  "f".repeat(15),
  "ggggggggg",
].join(" ");

/** CONFIG INFO COMMAND TIME SHUTDOWN CLUSTER and what else concerns the process. */
export const SERVER: string = String.raw`
# CONFIG GET
CONFIG GET maxmemory
CONFIG GET MAXMEMORY
CONFIG GET maxmemory timeout
CONFIG GET timeout timeout
CONFIG GET nosuch
CONFIG GET nosuch maxmemory
CONFIG GET max*entries-nothing
CONFIG GET databases
CONFIG GET save
CONFIG GET appendonly
CONFIG GET maxclients
CONFIG GET tcp-keepalive
CONFIG GET timeout
CONFIG GET tcp-backlog
CONFIG GET protected-mode
CONFIG GET proto-max-bulk-len
CONFIG GET client-query-buffer-limit
CONFIG GET client-output-buffer-limit
CONFIG GET maxmemory-policy
CONFIG GET unixsocket
CONFIG GET unixsocketperm
CONFIG GET loglevel
CONFIG GET logfile
CONFIG GET enable-debug-command
CONFIG GET bind
CONFIG GET tcp-*
CONFIG GET ti?eout
CONFIG GET [t]imeout
CONFIG GET ""
CONFIG GET
CONFIG
CONFIG FOO
CONFIG FOO bar
config get timeout

# CONFIG SET of values with a NUL
CONFIG SET maxmemory "1mb\x00x"
CONFIG GET maxmemory
CONFIG SET maxmemory "\x00"
CONFIG GET maxmemory
CONFIG SET maxmemory-clients "5mb\x00%"
CONFIG GET maxmemory-clients
CONFIG SET maxmemory-clients "5%\x00x"
CONFIG SET maxmemory-clients 0
CONFIG SET timeout "5\x00"
CONFIG SET hz "10\x00x"
CONFIG SET lazyfree-lazy-eviction "yes\x00x"
CONFIG GET lazyfree-lazy-eviction
CONFIG SET lazyfree-lazy-eviction "\x00yes"
CONFIG SET lazyfree-lazy-eviction no
CONFIG SET maxmemory-policy "allkeys-lru\x00x"
CONFIG GET maxmemory-policy
CONFIG SET maxmemory-policy noeviction
CONFIG SET oom-score-adj-values "\x00 1\x00 2"
CONFIG GET oom-score-adj-values
CONFIG SET oom-score-adj-values "0 200 800"
CONFIG SET client-output-buffer-limit "\x00"
CONFIG SET client-output-buffer-limit "normal\x00x 1mb\x00 2 3\x00"
CONFIG GET client-output-buffer-limit
CONFIG SET client-output-buffer-limit "normal 0 0 0"
CONFIG SET latency-tracking-info-percentiles "50\x00x"
CONFIG SET cluster-announce-hostname "ho\x00!"
CONFIG GET cluster-announce-hostname
CONFIG SET cluster-announce-hostname ""
CONFIG SET save "\x00"
CONFIG GET save

# CONFIG SET of supported directives
CONFIG SET timeout 100
CONFIG GET timeout
CONFIG SET TIMEOUT 0
CONFIG GET timeout
CONFIG SET maxclients 1000
CONFIG GET maxclients
CONFIG SET maxclients 10000
CONFIG SET tcp-keepalive 60
CONFIG GET tcp-keepalive
CONFIG SET tcp-keepalive 300
CONFIG SET loglevel debug
CONFIG GET loglevel
CONFIG SET loglevel notice
CONFIG SET maxmemory 100mb
CONFIG GET maxmemory
CONFIG SET maxmemory 1gb
CONFIG GET maxmemory
CONFIG SET maxmemory 1G
CONFIG GET maxmemory
CONFIG SET maxmemory 1k
CONFIG GET maxmemory
CONFIG SET maxmemory 0
CONFIG SET maxmemory 1000kb
CONFIG GET maxmemory
CONFIG SET maxmemory 0
CONFIG SET proto-max-bulk-len 1mb
CONFIG GET proto-max-bulk-len
CONFIG SET proto-max-bulk-len 512mb
CONFIG SET client-query-buffer-limit 2mb
CONFIG GET client-query-buffer-limit
CONFIG SET client-query-buffer-limit 1gb
CONFIG SET protected-mode no
CONFIG GET protected-mode
CONFIG SET protected-mode yes
CONFIG SET client-output-buffer-limit "normal 0 0 0"
CONFIG SET client-output-buffer-limit "normal 1mb 2mb 60 replica 256mb 64mb 60 pubsub 32mb 8mb 60"
CONFIG GET client-output-buffer-limit
CONFIG SET client-output-buffer-limit "slave 268435456 67108864 60"
CONFIG SET client-output-buffer-limit "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"
CONFIG GET client-output-buffer-limit
CONFIG SET save ""
CONFIG GET save
CONFIG SET appendonly no

# Several at once
CONFIG SET timeout 10 tcp-keepalive 20
CONFIG GET timeout tcp-keepalive
CONFIG SET timeout 0 tcp-keepalive 300
CONFIG SET timeout 30 nosuch 1
CONFIG GET timeout
CONFIG SET timeout 30 tcp-keepalive abc
CONFIG GET timeout
CONFIG SET timeout 30 TIMEOUT 40
CONFIG GET timeout
CONFIG SET timeout 0

# CONFIG SET errors
CONFIG SET
CONFIG SET timeout
CONFIG SET timeout 1 maxclients
CONFIG SET nosuch 1
CONFIG SET "no\x00such" 1
CONFIG SET "no\r\nsuch" 1
CONFIG SET timeout abc
CONFIG SET timeout -1
CONFIG SET timeout 1.5
CONFIG SET timeout ""
CONFIG SET timeout 99999999999
CONFIG SET tcp-keepalive -1
CONFIG SET maxclients 0
CONFIG SET maxclients -1
CONFIG SET maxclients abc
CONFIG SET maxmemory abc
CONFIG SET maxmemory -1
CONFIG SET maxmemory 1xb
CONFIG SET maxmemory ""
CONFIG SET loglevel foo
CONFIG SET loglevel ""
CONFIG SET protected-mode maybe
CONFIG SET protected-mode ""
CONFIG SET databases 32
CONFIG SET unixsocket /tmp/x
CONFIG SET tcp-backlog 100
CONFIG SET enable-debug-command no
CONFIG SET proto-max-bulk-len 100
CONFIG SET proto-max-bulk-len abc
CONFIG SET client-query-buffer-limit 1
CONFIG SET client-output-buffer-limit abc
CONFIG SET client-output-buffer-limit "normal 1"
CONFIG SET client-output-buffer-limit "foo 0 0 0"
CONFIG SET client-output-buffer-limit "normal a b c"
CONFIG SET client-output-buffer-limit "normal 0 0 -1"
CONFIG SET client-output-buffer-limit ""
CONFIG SET maxmemory-policy foo
CONFIG SET save foo
CONFIG SET save "a b"
CONFIG SET save "100"
CONFIG SET save "-1 1"
CONFIG SET appendonly maybe

# CONFIG RESETSTAT, REWRITE, HELP
CONFIG RESETSTAT
CONFIG RESETSTAT x
CONFIG REWRITE
CONFIG REWRITE x
CONFIG HELP
CONFIG HELP x

# INFO
INFO nosuch
INFO keyspace
SET a 1
SET b 2 EX 1000
INFO keyspace
SELECT 5
SET c 1
INFO KEYSPACE
FLUSHALL
INFO Keyspace
INFO cluster
INFO CLUSTER
INFO modules
INFO server
INFO clients
INFO memory
INFO stats
INFO cpu
INFO server clients
INFO clients server
INFO nosuch cluster
INFO cluster cluster
INFO ""

# INFO commandstats counts calls, rejected and failed ones
CONFIG RESETSTAT
GET a
GET b
SET a x
INCR a
GET
SET a v FOO
CLIENT GETNAME
CLIENT SETNAME "a b"
config get timeout
NOSUCHCOMMAND
INFO commandstats

# TIME
TIME
TIME x

# COMMAND
COMMAND COUNT
COMMAND COUNT x
COMMAND LIST
COMMAND LIST FILTERBY
COMMAND LIST FILTERBY FOO
COMMAND LIST FILTERBY FOO bar
COMMAND LIST FILTERBY PATTERN getde*
COMMAND LIST FILTERBY pattern GETDE*
COMMAND LIST FILTERBY PATTERN nosuch*
COMMAND LIST FILTERBY ACLCAT nosuch
COMMAND LIST FILTERBY ACLCAT fast
COMMAND LIST FILTERBY MODULE nosuch
COMMAND LIST x
COMMAND FOO
COMMAND FOO bar
COMMAND GETKEYS
COMMAND GETKEYS GET
COMMAND GETKEYS GET a
COMMAND GETKEYS get a
COMMAND GETKEYS MSET a 1 b 2
COMMAND GETKEYS MGET a b c
COMMAND GETKEYS DEL a b
COMMAND GETKEYS RENAME a b
COMMAND GETKEYS COPY a b REPLACE
COMMAND GETKEYS SET k v EX 10
COMMAND GETKEYS PING
COMMAND GETKEYS NOSUCH a
COMMAND GETKEYS GET a b
COMMAND GETKEYS MSET a
COMMAND GETKEYS OBJECT ENCODING a
COMMAND GETKEYS OBJECT HELP
COMMAND GETKEYS MEMORY USAGE a
COMMAND GETKEYS CLIENT LIST
COMMAND GETKEYS MSET a 1 b
COMMAND GETKEYSANDFLAGS GET a
COMMAND GETKEYSANDFLAGS SET a v
COMMAND GETKEYSANDFLAGS MSET a 1 b 2
COMMAND GETKEYSANDFLAGS RENAME a b
COMMAND GETKEYSANDFLAGS DEL a
COMMAND GETKEYSANDFLAGS COPY a b
COMMAND GETKEYSANDFLAGS GETEX a
COMMAND GETKEYSANDFLAGS PING
COMMAND GETKEYSANDFLAGS
COMMAND INFO nosuch
COMMAND INFO nosuch nosuch2
COMMAND INFO get
COMMAND INFO nosuch client|id
COMMAND DOCS nosuch
COMMAND HELP
COMMAND HELP x

# Cluster support disabled
CLUSTER
CLUSTER INFO
CLUSTER SLOTS
CLUSTER SHARDS
CLUSTER NODES
CLUSTER MYID
CLUSTER KEYSLOT a
CLUSTER KEYSLOT
CLUSTER KEYSLOT a b
CLUSTER COUNTKEYSINSLOT 1
CLUSTER COUNTKEYSINSLOT abc
CLUSTER GETKEYSINSLOT 1 1
CLUSTER FOO
CLUSTER FOO bar
CLUSTER HELP
CLUSTER MEET 127.0.0.1 1
CLUSTER RESET
CLUSTER ADDSLOTS
CLUSTER ADDSLOTS 1
CLUSTER SETSLOT 1 NODE x
CLUSTER REPLICAS x
CLUSTER LINKS
CLUSTER FAILOVER
CLUSTER FLUSHSLOTS x
CLUSTER NODES x
CLUSTER MYID x
READONLY
READWRITE
ASKING
READONLY x
READWRITE x
ASKING x
cluster info

# SHUTDOWN does not end the server when its options are wrong
SHUTDOWN FOO
SHUTDOWN NOSAVE SAVE
SHUTDOWN SAVE NOSAVE
SHUTDOWN NOW FOO
SHUTDOWN ABORT
SHUTDOWN ABORT NOW
SHUTDOWN ABORT SAVE
shutdown abort foo

# Arity is checked before everything else of the command
GET
get
Set a
MSET
CONFIG GET
OBJECT ENCODING
DEBUG
SELECT
ECHO
CLIENT SETNAME
client setname

# Unknown commands show at most 128 bytes of arguments
foo
FOO a b c
foo "with space" "and\r\nnewline"
foo ${"a".repeat(172)} b c
foo ${MANY_WORDS}
${"a".repeat(172)} b
""
"" a
"\x00"
"a b"
`;
