import assert from "node:assert/strict";
import { test } from "node:test";
import { DIRECTIVES, directiveNames, FAMILIES, findDirective } from "./table.ts";

test("every name and alias is found in any letter case and leads to one row", () => {
  const names = [...directiveNames()];
  assert.equal(new Set(names.map(({ name }) => name)).size, names.length);
  for (const named of names) assert.equal(findDirective(named.name.toUpperCase()), named);
  assert.equal(findDirective("slaveof")?.row, findDirective("replicaof")?.row);
  assert.equal(findDirective("replicaof "), undefined);
});

test("families hold every row once", () => {
  const rows = FAMILIES.flatMap((family) => family.rows);
  assert.deepEqual(rows, DIRECTIVES);
  assert.equal(new Set(FAMILIES.map((family) => family.title)).size, FAMILIES.length);
});

test("only what works lists values, and the default is among them", () => {
  for (const row of DIRECTIVES) {
    if (row.only === undefined) continue;
    assert.equal(row.support, "works", row.name);
    assert.ok(row.only.includes(row.default), row.name);
  }
});
