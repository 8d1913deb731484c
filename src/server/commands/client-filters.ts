/**
 * What CLIENT LIST and CLIENT KILL are asked for: the arguments as a filter, and which clients it
 * lets through. All clients are of the user `default`.
 */

import type { Args } from "../../base/args.ts";
import { ARGUMENT_SHOWN_BYTES_MAX } from "../../limits.ts";
import { cString, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import {
  CLASS_MASTER,
  CLASS_NORMAL,
  CLASS_PUBSUB,
  CLASS_REPLICA,
  type ClientRow,
} from "../client-table.ts";
import { DEFAULT_USER } from "./client-names.ts";

const TYPES: readonly (readonly [name: string, kind: number])[] = [
  ["NORMAL", CLASS_NORMAL],
  ["MASTER", CLASS_MASTER],
  ["SLAVE", CLASS_REPLICA],
  ["REPLICA", CLASS_REPLICA],
  ["PUBSUB", CLASS_PUBSUB],
];

/** Position of the first argument behind the two words of the command. */
const REST = 2;

export type KillFilter = {
  /** 0: any. */
  id: number;
  /** A CLASS constant, or -1: any. */
  kind: number;
  /** As CLIENT LIST shows it. */
  address: string | null;
  localAddress: string | null;
  /** Seconds that the client must have been connected for; 0: any. */
  ageSeconds: number;
  skipsCaller: boolean;
};

function textOf(args: Args, i: number): string {
  return cString(args.head(i, ARGUMENT_SHOWN_BYTES_MAX));
}

/** The class of clients that argument `i` names, -1 if none. */
function kindOf(args: Args, i: number): number {
  for (const [name, kind] of TYPES) if (args.is(i, name)) return kind;
  return -1;
}

function unknownType(args: Args, i: number): string {
  return `ERR Unknown client type '${textOf(args, i)}'`;
}

/** The class that argument `i` names, or -1 with the error written. */
export function kindOrReply(args: Args, i: number, reply: Reply): number {
  const kind = kindOf(args, i);
  if (kind < 0) reply.error(unknownType(args, i));
  return kind;
}

/** The client ids from argument `first` on, or null with the error written. */
export function idsOrReply(args: Args, first: number, reply: Reply): number[] | null {
  const ids: number[] = [];
  for (let i = first; i < args.count; i++) {
    const id = args.integer(i);
    if (id === null) {
      reply.error("ERR Invalid client ID");
      return null;
    }
    ids.push(id);
  }
  return ids;
}

/** The filter of CLIENT KILL, or null with the error written. */
export function killFilterOrReply(args: Args, reply: Reply): KillFilter | null {
  const filter: KillFilter = {
    id: 0,
    kind: -1,
    address: null,
    localAddress: null,
    ageSeconds: 0,
    skipsCaller: true,
  };
  if (args.count === REST + 1) {
    // The old form names one address, and the caller's own will do.
    filter.address = textOf(args, REST);
    filter.skipsCaller = false;
    return filter;
  }
  for (let i = REST; i < args.count; i += 2) {
    const error = i + 1 < args.count ? readOption(args, i, filter) : SYNTAX_ERROR;
    if (error === null) continue;
    reply.error(error);
    return null;
  }
  return filter;
}

/** Reads the option at `i` and its value into the filter. Returns what is wrong, or null. */
function readOption(args: Args, i: number, filter: KillFilter): string | null {
  const at = i + 1;
  if (args.is(i, "ID")) return readId(args, at, filter);
  if (args.is(i, "MAXAGE")) return readAge(args, at, filter);
  if (args.is(i, "TYPE")) {
    filter.kind = kindOf(args, at);
    if (filter.kind < 0) return unknownType(args, at);
  } else if (args.is(i, "ADDR")) {
    filter.address = textOf(args, at);
  } else if (args.is(i, "LADDR")) {
    filter.localAddress = textOf(args, at);
  } else if (args.is(i, "USER")) {
    const user = args.head(at, ARGUMENT_SHOWN_BYTES_MAX);
    if (user !== DEFAULT_USER) return `ERR No such user '${cString(user)}'`;
  } else if (args.is(i, "SKIPME")) {
    if (!args.is(at, "YES") && !args.is(at, "NO")) return SYNTAX_ERROR;
    filter.skipsCaller = args.is(at, "YES");
  } else {
    return SYNTAX_ERROR;
  }
  return null;
}

function readId(args: Args, i: number, filter: KillFilter): string | null {
  const id = args.integer(i);
  if (id === null || id < 1) return "ERR client-id should be greater than 0";
  filter.id = id;
  return null;
}

function readAge(args: Args, i: number, filter: KillFilter): string | null {
  const age = args.integer(i);
  if (age === null) return "ERR maxage is not an integer or out of range";
  if (age <= 0) return "ERR maxage should be greater than 0";
  filter.ageSeconds = age;
  return null;
}

/** True if the client is one to be killed, the caller not looked at. */
export function isMeant(filter: KillFilter, client: ClientRow, nowMs: number): boolean {
  if (filter.address !== null && filter.address !== client.remote) return false;
  if (filter.localAddress !== null && filter.localAddress !== client.local) return false;
  if (filter.kind >= 0 && client.kind !== filter.kind) return false;
  if (filter.id !== 0 && filter.id !== client.id) return false;
  const age = Math.floor((nowMs - client.createdMs) / 1000);
  return filter.ageSeconds === 0 || age >= filter.ageSeconds;
}
