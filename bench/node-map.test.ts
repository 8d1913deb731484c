import assert from "node:assert/strict";
import { test } from "node:test";
import { Control } from "./control.ts";
import { nodeMap, withNodeMap } from "./node-map.ts";

test("the nodes of a map share a port and have every slot once", () => {
  const lines = nodeMap(7000, 3).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => line.split(" ").slice(1, 2).concat(line.split(" ").slice(8)).join(" ")),
    ["0-5461", "5462-10922", "10923-16383"].map((range) => `127.0.0.1:7000@7000 ${range}`),
  );
  assert.equal(new Set(lines.map((line) => line.split(" ")[0])).size, 3);
  assert.ok(!lines.some((line) => line.includes("myself")));
});

test("the stand-in answers CLUSTER NODES and nothing else", async () => {
  const answers = await withNodeMap(7001, 2, async (port) => {
    const control = await Control.connect(port);
    try {
      const map = await control.call("CLUSTER", "NODES");
      return [map, await control.call("PING").catch((error: Error) => error.message)];
    } finally {
      control.close();
    }
  });
  assert.equal(answers[0], nodeMap(7001, 2));
  assert.match(String(answers[1]), /only CLUSTER NODES/);
});
