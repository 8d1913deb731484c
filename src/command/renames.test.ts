import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandNames } from "./renames.ts";

test("lines apply one after another, in any letter case", () => {
  const names = new CommandNames(["GET", "SET", "append", "del", "config"]);
  assert.deepEqual(names.renames(), []);
  for (const [from, to] of [
    ["get", "FETCH"],
    ["Set", "GET"],
    ["CONFIG", ""],
    ["fetch", "f \xC4x"],
    ["append", "x"],
    ["X", "append"],
  ] as const) {
    assert.equal(names.rename(from, to), null);
  }
  assert.deepEqual(names.renames(), [
    ["get", "f \xC4x"],
    ["set", "get"],
    ["config", ""],
  ]);
});

test("a name that is not called, or is taken", () => {
  const names = new CommandNames(["get", "set"]);
  for (const name of ["nope", "config|get", ""]) {
    assert.equal(names.rename(name, "x"), "No such command in rename-command");
  }
  assert.equal(names.rename("get", "SET"), "Target command name already exists");
  const gone = new CommandNames(["get", "set"]);
  assert.equal(gone.rename("get", ""), null);
  assert.equal(gone.rename("get", "x"), "No such command in rename-command");
  assert.equal(gone.rename("set", "get"), null);
});
