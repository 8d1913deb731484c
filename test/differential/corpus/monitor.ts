/** Scripts that a monitor looks on at, and scripts that a monitor runs itself. */

function script(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Run by one connection while another one monitors. */
export const MONITORED: readonly (readonly string[])[] = [
  script(String.raw`
    SET k v
    get K
    GeT k
    SET "" ""
    SET k "a b\"c\\d" EX 100 GET
    ECHO "\x00\x01\x07\b\t\n\r\x1b\x7f\x80\xff"
    MSET a 1 b 2 c 3
    INCRBYFLOAT a 1.5
    EXPIRE k 100
    PEXPIREAT k 99999999999999
    SELECT 5
    SET k in5
    SELECT 99
    SELECT 0
    DEL k a b c none
    PING
    PING hello
    FLUSHALL
    DBSIZE
    KEYS *
    SCAN 0 MATCH x*
    OBJECT ENCODING k
    OBJECT HELP
    MEMORY USAGE k
    COMMAND COUNT
    COMMAND GETKEYS GET k
    WAIT 0 10
    SWAPDB 0 1
    RESET
    READONLY
  `),
  // Errors of what ran are shown, what did not run is not.
  script(`
    INCR
    NOSUCH a b
    SET k v
    INCR k
    SETRANGE k -1 x
    GETRANGE k a b
    OBJECT NOSUCH k
    SET k v EX 0
    CLIENT NOSUCH
    CLIENT SETNAME "a b"
  `),
  // What administers is not shown.
  script(`
    CONFIG GET port
    CONFIG SET maxmemory-samples 5
    CONFIG HELP
    CLIENT LIST
    CLIENT KILL ID 123456789
    CLIENT NO-EVICT on
    CLIENT PAUSE 0
    CLIENT UNPAUSE
    CLIENT UNBLOCK 1
    CLIENT ID
    CLIENT GETNAME
    CLIENT SETNAME me
    CLIENT INFO
    CLIENT TRACKINGINFO
    CLIENT GETREDIR
    CLIENT HELP
    CLIENT REPLY ON
    DEBUG SLEEP 0
    INFO commandstats
    TIME
  `),
  script(String.raw`
    AUTH secret
    AUTH default secret
    AUTH nobody secret
    auth "se\ncret"
    HELLO 2 AUTH default secret
    HELLO 2 AUTH nobody secret SETNAME x
    HELLO 2 SETNAME x AUTH default secret
    HELLO 2 SETNAME y
    HELLO
  `),
];

/** Run by one connection that sends MONITOR on the way. */
export const OWN_COMMANDS: readonly (readonly string[])[] = [
  script(String.raw`
    PING before
    MONITOR
    PING
    SELECT 3
    GET k
    SET k v
    MONITOR
    NOSUCH
    CLIENT ID x
    ECHO "a\x00b"
    CLIENT SETNAME me
    CLIENT TRACKINGINFO
    PING "last line"
  `),
  script(`
    MONITOR
    CLIENT REPLY SKIP
    PING one
    PING two
    CLIENT REPLY OFF
    PING three
    CLIENT REPLY ON
    CLIENT REPLY SKIP
    MONITOR
    PING four
    RESET
    PING "last line"
  `),
  script(`
    CLIENT REPLY OFF
    MONITOR
    PING
    CLIENT REPLY ON
    PING
    RESET
    GET k
    MONITOR
    RESET
    PING "last line"
  `),
];
