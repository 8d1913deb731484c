import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nearest } from "./nearest.ts";

const NAMES = ["port", "bind", "threads", "maxmemory", "maxmemory-policy", "io-threads", "hz"];

describe("the name that was probably meant", () => {
  test("one letter put in, left out, changed, or exchanged", () => {
    for (const word of ["prot", "ports", "por", "pert", "PORT", "tport"]) {
      assert.equal(nearest(word, NAMES), "port", word);
    }
    assert.equal(nearest("thread", NAMES), "threads");
    assert.equal(nearest("maxmemory-polcy", NAMES), "maxmemory-policy");
    assert.equal(nearest("max-memory", NAMES), "maxmemory");
    assert.equal(nearest("maxMemroy", NAMES), "maxmemory");
  });

  test("the nearest of several, the first of those", () => {
    assert.equal(nearest("ab", ["abcd", "abc", "ac"]), "abc");
    assert.equal(nearest("ab", ["ac", "abc"]), "ac");
  });

  test("else one that begins with the word", () => {
    assert.equal(nearest("maxm", NAMES), "maxmemory");
    assert.equal(nearest("io-thr", NAMES), "io-threads");
    assert.equal(nearest("max", NAMES), undefined);
  });

  test("nothing when nothing is near", () => {
    for (const word of ["", "verbosity", "xxxx", "-p", "save-to"]) {
      assert.equal(nearest(word, NAMES), undefined, word);
    }
    assert.equal(nearest("port", []), undefined);
  });
});
