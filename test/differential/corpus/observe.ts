/** SLOWLOG, LATENCY, MEMORY and what else tells of the process. */
export const OBSERVE: string = String.raw`
# SLOWLOG of everything
CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 128
SLOWLOG RESET
SLOWLOG LEN
SET a 1
GET a
get A
INCR a
GET
NOSUCH a b
SET a x EX nope
CONFIG GET timeout
SLOWLOG LEN
SLOWLOG GET
SLOWLOG GET 3
SLOWLOG GET 0
SLOWLOG GET -1
SLOWLOG GET 100
slowlog get 2
CONFIG SET slowlog-log-slower-than 10000

# SLOWLOG shows so many arguments and so much of each
CONFIG SET slowlog-log-slower-than 0
SLOWLOG RESET
SET a ${"v".repeat(128)}
SET a ${"v".repeat(129)}
SET a ${"v".repeat(5000)}
SET b "\x00\xff\r\n"
MGET a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5
MGET a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6
MGET a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6 7 8 9
SLOWLOG GET -1
CONFIG SET slowlog-log-slower-than 10000

# SLOWLOG of large values
CONFIG SET slowlog-log-slower-than 0
SLOWLOG RESET
SET big ${"w".repeat(70000)}
SET big ${"x".repeat(70000)} XX
APPEND big ${"y".repeat(70000)}
SLOWLOG GET -1
CONFIG SET slowlog-log-slower-than 10000

# SLOWLOG keeps secrets
CONFIG SET slowlog-log-slower-than 0
SLOWLOG RESET
AUTH secret
AUTH user secret
HELLO 3 AUTH user secret
HELLO 3 AUTH user secret SETNAME x
HELLO 3 AUTH user
CONFIG SET requirepass ""
CONFIG SET timeout 0 masterauth ""
SLOWLOG GET -1
CONFIG SET slowlog-log-slower-than 10000

# SLOWLOG names the client
CONFIG SET slowlog-log-slower-than 0
SLOWLOG RESET
CLIENT SETNAME one
2> CLIENT SETNAME two
2> PING
PING
3> PING
SLOWLOG GET -1
CONFIG SET slowlog-log-slower-than 10000

# SLOWLOG keeps as many as it may
CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 128
SLOWLOG RESET
GET a
GET b
GET c
CONFIG SET slowlog-max-len 2
SLOWLOG LEN
GET d
SLOWLOG GET -1
CONFIG SET slowlog-log-slower-than -1
CONFIG SET slowlog-max-len 1
SLOWLOG LEN
GET e
SLOWLOG LEN
CONFIG SET slowlog-log-slower-than 10000 slowlog-max-len 128

# SLOWLOG of slow calls only
CONFIG SET slowlog-log-slower-than 40000
SLOWLOG RESET
DEBUG SLEEP 0.05
PING
SLOWLOG GET
CONFIG SET slowlog-log-slower-than 10000

# SLOWLOG errors
SLOWLOG
SLOWLOG FOO
SLOWLOG GET x
SLOWLOG GET -2
SLOWLOG GET 1.5
SLOWLOG GET ""
SLOWLOG GET 9223372036854775808
SLOWLOG GET 1 2
SLOWLOG LEN x
SLOWLOG RESET x
SLOWLOG HELP
SLOWLOG HELP x
CONFIG SET slowlog-log-slower-than -2
CONFIG SET slowlog-max-len -1

# LATENCY while it is off
CONFIG SET latency-monitor-threshold 0
LATENCY RESET
LATENCY LATEST
LATENCY HISTORY command
LATENCY HISTORY nosuch
LATENCY GRAPH command
LATENCY GRAPH "no\nsuch"
LATENCY DOCTOR
LATENCY RESET nosuch
LATENCY RESET command nosuch

# LATENCY while nothing was slow
CONFIG SET latency-monitor-threshold 100000
LATENCY LATEST
LATENCY DOCTOR
CONFIG SET latency-monitor-threshold 0

# LATENCY of slow calls
LATENCY RESET
CONFIG SET latency-monitor-threshold 150
DEBUG SLEEP 0.2
CONFIG SET latency-monitor-threshold 0
LATENCY LATEST
LATENCY HISTORY command
LATENCY GRAPH command
LATENCY DOCTOR
LATENCY RESET fast-command
LATENCY RESET nosuch command
LATENCY LATEST

# LATENCY errors
LATENCY
LATENCY FOO
LATENCY HISTORY
LATENCY HISTORY a b
LATENCY GRAPH
LATENCY LATEST x
LATENCY DOCTOR x
LATENCY HELP
LATENCY HELP x

# LATENCY HISTOGRAM counts every call
CONFIG RESETSTAT
SET a x
SET b y
GET a
INCR a
CLIENT GETNAME
CLIENT ID
CLIENT ID
CONFIG GET timeout
GET
NOSUCH
LATENCY HISTOGRAM
LATENCY HISTOGRAM set
LATENCY HISTOGRAM SET get nosuch incr
LATENCY HISTOGRAM client
LATENCY HISTOGRAM client|id
LATENCY HISTOGRAM strlen
LATENCY HISTOGRAM nosuch

# LATENCY HISTOGRAM and INFO latencystats while tracking is off
CONFIG RESETSTAT
CONFIG SET latency-tracking yes
SET a b
CONFIG SET latency-tracking no
SET a b
GET a
INFO latencystats
LATENCY HISTOGRAM set get
CONFIG SET latency-tracking yes
GET a
LATENCY HISTOGRAM set get
INFO latencystats
CONFIG SET latency-tracking-info-percentiles "0 99.9 100"
INFO latencystats
CONFIG SET latency-tracking-info-percentiles ""
INFO latencystats
CONFIG SET latency-tracking-info-percentiles "50 99 99.9"

# MEMORY
MEMORY
MEMORY FOO
MEMORY STATS
SET a 1
SELECT 2
SET a 1
MEMORY STATS
MEMORY STATS x
MEMORY PURGE
MEMORY PURGE x
MEMORY DOCTOR
MEMORY DOCTOR x
MEMORY MALLOC-STATS
MEMORY MALLOC-STATS x
MEMORY USAGE
MEMORY USAGE a
MEMORY USAGE nosuch
MEMORY USAGE a SAMPLES
MEMORY USAGE a SAMPLES 0
MEMORY USAGE a SAMPLES -1
MEMORY USAGE a SAMPLES x
MEMORY USAGE a FOO 1
MEMORY HELP
MEMORY HELP x

# A master without replicas
ROLE
role
ROLE x
LASTSAVE
LASTSAVE x

# LOLWUT
LOLWUT
LOLWUT VERSION
LOLWUT foo
LOLWUT VERSION x
LOLWUT VERSION 99
LOLWUT VERSION 5 x
LOLWUT VERSION 5 10 x
LOLWUT VERSION 5 10 2 x
LOLWUT VERSION 5 10 2 2
LOLWUT VERSION 5
LOLWUT version 5 -10 0 0
`;
