/** The commands on keys of any type and on databases, in one list. */
import type { CommandSpec } from "../../command/spec.ts";
import { DBSIZE, FLUSHALL, FLUSHDB, RANDOMKEY, SWAPDB } from "./database-commands.ts";
import { DEL, EXISTS, TOUCH, TYPE, UNLINK } from "./delete-commands.ts";
import { DUMP, RESTORE, RESTORE_ASKING } from "./dump-commands.ts";
import { EXPIRE, EXPIREAT, PERSIST, PEXPIRE, PEXPIREAT } from "./expire-commands.ts";
import {
  MEMORY,
  MEMORY_HELP,
  MEMORY_USAGE,
  OBJECT,
  OBJECT_ENCODING,
  OBJECT_FREQ,
  OBJECT_HELP,
  OBJECT_IDLETIME,
  OBJECT_REFCOUNT,
} from "./object-commands.ts";
import { COPY, MOVE, RENAME, RENAMENX } from "./rename-commands.ts";
import { KEYS, SCAN } from "./scan-commands.ts";
import { EXPIRETIME, PEXPIRETIME, PTTL, TTL } from "./ttl-commands.ts";
import { WAIT, WAITAOF } from "./wait-commands.ts";

export const KEY_COMMANDS: readonly CommandSpec[] = [
  COPY,
  DBSIZE,
  DEL,
  DUMP,
  EXISTS,
  EXPIRE,
  EXPIREAT,
  EXPIRETIME,
  FLUSHALL,
  FLUSHDB,
  KEYS,
  MEMORY,
  MEMORY_HELP,
  MEMORY_USAGE,
  MOVE,
  OBJECT,
  OBJECT_ENCODING,
  OBJECT_FREQ,
  OBJECT_HELP,
  OBJECT_IDLETIME,
  OBJECT_REFCOUNT,
  PERSIST,
  PEXPIRE,
  PEXPIREAT,
  PEXPIRETIME,
  PTTL,
  RANDOMKEY,
  RENAME,
  RENAMENX,
  RESTORE,
  RESTORE_ASKING,
  SCAN,
  SWAPDB,
  TOUCH,
  TTL,
  TYPE,
  UNLINK,
  WAIT,
  WAITAOF,
];
