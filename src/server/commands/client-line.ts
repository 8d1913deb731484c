/**
 * One client as CLIENT LIST and CLIENT INFO show it: the fields of Redis 7.4 in its order. What is
 * kept in no row is shown as a client has it that does nothing: subscriptions and transactions. The
 * buffers for replies belong to the thread, so no client has one of its own (rbs, rbp, obl).
 */
import type { Server } from "../../command/session.ts";
import { rowMemory } from "../client-memory.ts";
import {
  type ClientRow,
  FLAG_BLOCKED,
  FLAG_CLOSING,
  FLAG_DEAF,
  FLAG_MONITOR,
  FLAG_NO_EVICT,
  FLAG_NO_TOUCH,
  FLAG_READONLY,
  FLAG_UNBLOCKED,
  FLAG_UNIX,
} from "../client-table.ts";
import { DEFAULT_USER } from "./client-names.ts";

const FLAG_LETTERS: readonly (readonly [flag: number, letter: string])[] = [
  [FLAG_MONITOR, "O"],
  [FLAG_BLOCKED, "b"],
  [FLAG_CLOSING, "c"],
  [FLAG_UNBLOCKED, "u"],
  [FLAG_UNIX, "U"],
  [FLAG_READONLY, "r"],
  [FLAG_NO_EVICT, "e"],
  [FLAG_NO_TOUCH, "T"],
];

function flagLetters(flags: number): string {
  let letters = "";
  for (const [flag, letter] of FLAG_LETTERS) if ((flags & flag) !== 0) letters += letter;
  return letters === "" ? "N" : letters;
}

function events({ flags, outputBytes }: ClientRow): string {
  return ((flags & FLAG_DEAF) === 0 ? "r" : "") + (outputBytes > 0 ? "w" : "");
}

function seconds(fromMs: number, toMs: number): number {
  return Math.max(0, Math.floor((toMs - fromMs) / 1000));
}

/** The line of a client, without its line end. */
export function clientLine(server: Server, client: ClientRow): string {
  const now = server.store.clock.unixMs;
  const command = server.commands.list[client.command];
  const { queryBytes, queryFreeBytes, outputBytes, argumentBytes } = client;
  return [
    `id=${client.id}`,
    `addr=${client.remote}`,
    `laddr=${client.local}`,
    `fd=${client.descriptor}`,
    `name=${client.name}`,
    `age=${seconds(client.createdMs, now)}`,
    `idle=${seconds(client.lastMs, now)}`,
    `flags=${flagLetters(client.flags)}`,
    `db=${client.db}`,
    "sub=0 psub=0 ssub=0 multi=-1 watch=0",
    `qbuf=${queryBytes}`,
    `qbuf-free=${queryFreeBytes}`,
    `argv-mem=${argumentBytes}`,
    "multi-mem=0 rbs=0 rbp=0 obl=0",
    `oll=${outputBytes > 0 ? 1 : 0}`,
    `omem=${outputBytes}`,
    `tot-mem=${rowMemory(client)}`,
    `events=${events(client)}`,
    `cmd=${command === undefined ? "NULL" : command.name}`,
    `user=${DEFAULT_USER} redir=-1`,
    `resp=${client.proto}`,
    `lib-name=${client.libName}`,
    `lib-ver=${client.libVersion}`,
  ].join(" ");
}
