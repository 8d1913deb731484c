/**
 * The last commands of every shard that a thread has locked, for the report of its death.
 */
import type { CommandTable } from "../command/lookup.ts";
import {
  H_SHARDS,
  LOCK_OWNER,
  RECORDER_ENTRIES,
  S_RECORDER,
  S_RECORDER_AT,
  shardRow,
} from "../memory/layout.ts";

export function flightRecord(
  control: Int32Array,
  thread: number,
  commands: CommandTable,
): string[] {
  const lines: string[] = [];
  const shards = control[H_SHARDS] as number;
  for (let shard = 0; shard < shards; shard++) {
    const row = shardRow(shard);
    if (control[row + LOCK_OWNER] !== thread + 1) continue;
    lines.push(`shard ${shard} is locked by this thread; its last commands, newest first:`);
    lines.push(...entries(control, row, commands));
  }
  if (lines.length === 0) lines.push("this thread holds no shard");
  return lines;
}

function entries(control: Int32Array, row: number, commands: CommandTable): string[] {
  const { list } = commands;
  const lines: string[] = [];
  const next = control[row + S_RECORDER_AT] as number;
  for (let n = 1; n <= Math.min(next >>> 0, RECORDER_ENTRIES); n++) {
    const word = control[row + S_RECORDER + ((next - n) & (RECORDER_ENTRIES - 1))] as number;
    const name = list[(word >>> 22) - 1]?.name ?? "?";
    lines.push(`  ${name} slot ${(word & 0x7fff) - 1} thread ${(word >>> 15) & 0x7f}`);
  }
  return lines;
}
