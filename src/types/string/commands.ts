/** The string commands, in one list. */
import type { CommandSpec } from "../../command/spec.ts";
import { APPEND, SETRANGE } from "./append-commands.ts";
import { DECR, DECRBY, INCR, INCRBY, INCRBYFLOAT } from "./counter-commands.ts";
import { GET, GETDEL, GETEX, GETRANGE, GETSET, MGET, STRLEN, SUBSTR } from "./get-commands.ts";
import { LCS } from "./lcs-command.ts";
import { MSET, MSETNX, PSETEX, SET, SETEX, SETNX } from "./set-commands.ts";

export const STRING_COMMANDS: readonly CommandSpec[] = [
  APPEND,
  DECR,
  DECRBY,
  GET,
  GETDEL,
  GETEX,
  GETRANGE,
  GETSET,
  INCR,
  INCRBY,
  INCRBYFLOAT,
  LCS,
  MGET,
  MSET,
  MSETNX,
  PSETEX,
  SET,
  SETEX,
  SETNX,
  SETRANGE,
  STRLEN,
  SUBSTR,
];
