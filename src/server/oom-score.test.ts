import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSource } from "../../test/support/config-source.ts";
import { Config } from "./config/config.ts";
import { applyOomScore } from "./oom-score.ts";

test("the score follows the directive, and is what it was when that is off", () => {
  const config = new Config(new FakeSource());
  let score = 22;
  let refusal: string | null = null;
  const file = {
    read: () => score,
    write(to: number): string | null {
      if (refusal === null) score = to;
      return refusal;
    },
  };
  let before: number | null = null;
  const set = (...words: string[]): string | null => {
    const changes = words.flatMap((name, i) => (i % 2 ? [] : [{ name, text: words[i + 1] ?? "" }]));
    const result = applyOomScore(file, config, changes, before);
    if ("error" in result) return result.error;
    before = result.before;
    config.apply(changes);
    return null;
  };
  assert.equal(set("oom-score-adj-values", "10 20 30"), null);
  assert.equal(score, 22);
  set("oom-score-adj", "yes");
  assert.equal(score, 32);
  set("oom-score-adj-values", "-2000 0 0");
  assert.equal(score, -1000);
  set("oom-score-adj", "absolute", "oom-score-adj-values", "300 0 0");
  assert.equal(score, 300);
  refusal = "Permission denied";
  assert.equal(set("oom-score-adj", "no"), refusal);
  assert.equal(before, 22);
  refusal = null;
  set("oom-score-adj", "no");
  assert.equal(score, 22);
  assert.equal(before, null);
});
