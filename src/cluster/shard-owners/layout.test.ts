import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { OWNERS_MAX, PORT_MAX, SLOTS } from "../../limits.ts";
import { rowNode, rowState, SLOT_STABLE } from "../../server/topology.ts";
import { fillSlots, NODE_ID_PATTERN, ownerNodes } from "./layout.ts";

const NODE_ID = "07c37dfeb235213a872192d90877d0cd55635b91";

test("ranges are contiguous, cover every slot and are the inverse of the slot's owner", () => {
  for (let owners = 1; owners <= OWNERS_MAX; owners++) {
    const nodes = ownerNodes(NODE_ID, owners, 7000);
    const slots = new Int32Array(SLOTS);
    fillSlots(slots, nodes);
    assert.equal(nodes.length, owners);
    let next = 0;
    for (const { index, firstSlot, lastSlot } of nodes) {
      assert.equal(firstSlot, next, `owner ${index} of ${owners}`);
      assert.ok(lastSlot >= firstSlot);
      next = lastSlot + 1;
    }
    assert.equal(next, SLOTS);
    for (let slot = 0; slot < SLOTS; slot++) {
      const row = slots[slot] as number;
      const node = nodes[rowNode(row)];
      const owner = (slot * owners) >> 14;
      const isRight =
        rowState(row) === SLOT_STABLE &&
        node?.index === owner &&
        slot >= node.firstSlot &&
        slot <= node.lastSlot;
      if (!isRight) assert.fail(`slot ${slot} of ${owners} owners: row ${row}`);
    }
  }
});

test("the shares of owners differ by one slot at most", () => {
  for (let owners = 1; owners <= OWNERS_MAX; owners++) {
    const sizes = ownerNodes(NODE_ID, owners, 7000).map((node) => node.lastSlot - node.firstSlot);
    assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${owners} owners`);
  }
});

test("ranges of 3 and 4 owners", () => {
  const ranges = (owners: number): number[][] =>
    ownerNodes(NODE_ID, owners, 7000).map(({ firstSlot, lastSlot }) => [firstSlot, lastSlot]);
  assert.deepEqual(ranges(1), [[0, 16383]]);
  assert.deepEqual(ranges(3), [
    [0, 5461],
    [5462, 10922],
    [10923, 16383],
  ]);
  assert.deepEqual(ranges(4), [
    [0, 4095],
    [4096, 8191],
    [8192, 12287],
    [12288, 16383],
  ]);
});

test("ids follow from the node id and the owner alone", () => {
  const nodes = ownerNodes(NODE_ID, OWNERS_MAX, 7000);
  assert.equal(nodes[0]?.id, NODE_ID);
  for (const { index, id } of nodes.slice(1)) {
    const expected = createHash("sha1").update(`${NODE_ID}:${index}`).digest("hex");
    assert.equal(id, expected);
  }
  assert.equal(new Set(nodes.map(({ id }) => id)).size, OWNERS_MAX);
  assert.ok(nodes.every(({ id }) => NODE_ID_PATTERN.test(id)));
  const fewer = ownerNodes(NODE_ID, 3, 9000).map(({ id }) => id);
  assert.deepEqual(
    fewer,
    nodes.slice(0, 3).map(({ id }) => id),
  );
});

test("ports and epochs count up, to the last port there is", () => {
  const nodes = ownerNodes(NODE_ID, 4, PORT_MAX - 3);
  assert.deepEqual(
    nodes.map(({ port }) => port),
    [65532, 65533, 65534, 65535],
  );
  assert.deepEqual(
    nodes.map(({ configEpoch }) => configEpoch),
    [1, 2, 3, 4],
  );
  assert.throws(() => ownerNodes(NODE_ID, 4, PORT_MAX - 2));
  assert.throws(() => ownerNodes("x", 4, 7000));
  assert.throws(() => ownerNodes(NODE_ID, 0, 7000));
});
