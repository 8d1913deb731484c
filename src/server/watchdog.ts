/**
 * Names locks that are held for long: their shards, the thread that holds them, how long. It only
 * reads: a lock with the same owner at two looks in a row, between which its shard recorded no
 * command, has been held all the while. What a thread holds is one line, however many shards it is.
 */
import { H_SHARDS, LOCK_OWNER, S_RECORDER_AT, shardRow } from "../memory/layout.ts";

/** Looks in a row before a line is written: a long but lawful command fills no log. */
const LOOKS = 10;

export class Watchdog {
  private readonly control: Int32Array;
  private readonly report: (text: string) => void;
  private readonly owners: Int32Array;
  private readonly places: Int32Array;
  private readonly looks: Int32Array;

  constructor(control: Int32Array, report: (text: string) => void) {
    const shards = control[H_SHARDS] as number;
    this.control = control;
    this.report = report;
    this.owners = new Int32Array(shards);
    this.places = new Int32Array(shards);
    this.looks = new Int32Array(shards);
  }

  /** Called at a fixed interval. */
  look(): void {
    const late = new Map<number, number[]>();
    for (let shard = 0; shard < this.owners.length; shard++) {
      const row = shardRow(shard);
      const owner = this.control[row + LOCK_OWNER] as number;
      const place = this.control[row + S_RECORDER_AT] as number;
      const same = owner !== 0 && owner === this.owners[shard] && place === this.places[shard];
      this.looks[shard] = same ? (this.looks[shard] as number) + 1 : 0;
      this.owners[shard] = owner;
      this.places[shard] = place;
      if (this.looks[shard] === LOOKS) late.set(owner, [...(late.get(owner) ?? []), shard]);
    }
    for (const [owner, shards] of late) this.report(lineOf(owner - 1, shards));
  }
}

function lineOf(thread: number, shards: readonly number[]): string {
  const first = shards[0] as number;
  const which =
    shards.length === 1 ? `lock of shard ${first} has` : `locks of ${rangeOf(shards)} have`;
  return `The ${which} been held by thread ${thread} for ${LOOKS} looks`;
}

function rangeOf(shards: readonly number[]): string {
  return `${shards.length} shards (${shards[0]} to ${shards[shards.length - 1]})`;
}
