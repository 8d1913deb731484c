/** A seed is a run: the same one gives the same trace, another one another, and none a fault. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "./world.ts";

const STEPS = 2000;

/** A run to its end, where the world has compared all keys and checked the heap. */
function run(seed: number): { hash: string; replies: number } {
  const world = new World(seed);
  world.run(STEPS);
  world.finish();
  return { hash: world.hash(), replies: world.replies };
}

const hashes = new Map<string, number>();

for (const seed of [1, 2, 3]) {
  test(`seed ${seed}: twice the same, and unlike the others`, () => {
    const first = run(seed);
    assert.deepEqual(run(seed), first);
    assert.ok(first.replies > STEPS / 10, `${first.replies} replies`);
    assert.equal(hashes.get(first.hash), undefined, `seed ${seed}: the hash of another seed`);
    hashes.set(first.hash, seed);
  });
}

test("the model would notice a wrong reply", () => {
  const world = new World(4);
  world.run(STEPS);
  for (const entry of world.model.keys.values()) entry.value += "!";
  assert.throws(() => world.finish(), /seed 4, step 2000: client \d: .* instead of /s);
});
