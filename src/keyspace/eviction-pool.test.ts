/** The pool against a naive one: a list that is sorted and cut after every candidate. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import { EvictionPool, POOL_SIZE } from "./eviction-pool.ts";

type Candidate = {
  score: number;
  state: number;
  record: number;
  place: number;
};

class ModelPool {
  list: Candidate[] = [];

  offer(candidate: Candidate): void {
    this.list = this.list.filter(({ record }) => record !== candidate.record);
    if (this.list.length === POOL_SIZE && candidate.score <= (this.list[0] as Candidate).score) {
      return;
    }
    // Behind its equals, so that it goes first.
    this.list = [...this.list, candidate];
    this.list.sort((a, b) => a.score - b.score);
    this.list = this.list.slice(-POOL_SIZE);
  }

  drop(index: number): void {
    this.list.splice(index, 1);
  }
}

function contents(pool: EvictionPool): Candidate[] {
  return Array.from(pool.order.subarray(0, pool.length), (entry) => ({
    score: pool.scores[entry] as number,
    state: pool.states[entry] as number,
    record: pool.records[entry] as number,
    place: pool.places[entry] as number,
  }));
}

test("candidates come in and go as in a sorted list of sixteen", () => {
  const seed = testSeed(311);
  const random = new Random(seed);
  for (let round = 0; round < 50; round++) {
    const pool = new EvictionPool();
    const model = new ModelPool();
    const range = random.pick([3, 20, 1_000_000]);
    for (let step = 0; step < 400; step++) {
      if (model.list.length > 0 && random.chance(0.2)) {
        const index = random.chance(0.7) ? model.list.length - 1 : random.below(model.list.length);
        pool.drop(index);
        model.drop(index);
      } else {
        const candidate: Candidate = {
          score: random.below(range) - range / 2,
          state: random.below(1 << 24),
          record: 1 + random.below(200),
          place: random.below(512),
        };
        const { score, state, record, place } = candidate;
        const entry = pool.offer(score, state, record);
        if (entry >= 0) pool.places[entry] = place;
        model.offer(candidate);
      }
      assert.deepEqual(contents(pool), model.list, seedText(seed));
    }
    pool.clear();
    assert.equal(pool.length, 0);
  }
});

test("the pool says which scores it would take", () => {
  const pool = new EvictionPool();
  for (let i = 0; i < POOL_SIZE; i++) {
    assert.ok(pool.takes(Number.NEGATIVE_INFINITY));
    pool.offer(10 + i, 0, 100 + i);
  }
  assert.ok(!pool.takes(9));
  assert.ok(!pool.takes(10));
  assert.ok(pool.takes(10.5));
});
