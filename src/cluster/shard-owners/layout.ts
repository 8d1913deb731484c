/**
 * The layout of shard owners: what follows from the node id, the number of owners and the first
 * port, and from nothing else, so that it is the same after every start.
 *
 *   owner i of N owns the slots with  slot * N >> 14 === i
 *   its id is the node id for i = 0, else the first 40 hex digits of SHA-1("<node id>:<i>")
 *   its config epoch is i + 1
 */
import { assert } from "../../base/assert.ts";
import { latin1Bytes } from "../../base/bytes.ts";
import { sha1Hex } from "../../base/sha1.ts";
import { OWNERS_MAX, PORT_MAX, SLOTS } from "../../limits.ts";
import { SLOT_STABLE, slotRow, type TopologyNode } from "../../server/topology.ts";

export const NODE_ID_PATTERN: RegExp = /^[0-9a-f]{40}$/;

export function ownerNodes(nodeId: string, owners: number, firstPort: number): TopologyNode[] {
  assert(NODE_ID_PATTERN.test(nodeId), `node id ${nodeId}`);
  assert(owners >= 1 && owners <= OWNERS_MAX, `${owners} owners`);
  assert(firstPort + owners - 1 <= PORT_MAX, `owners from port ${firstPort} on`);
  const nodes: TopologyNode[] = [];
  for (let index = 0; index < owners; index++) {
    nodes.push({
      index,
      id: ownerId(nodeId, index),
      port: firstPort + index,
      firstSlot: firstSlotOf(index, owners),
      lastSlot: firstSlotOf(index + 1, owners) - 1,
      configEpoch: index + 1,
    });
  }
  return nodes;
}

export function ownerId(nodeId: string, index: number): string {
  return index === 0 ? nodeId : sha1Hex(latin1Bytes(`${nodeId}:${index}`));
}

/** The least slot with `slot * owners >> 14 === index`; `owners` gives one past the last slot. */
function firstSlotOf(index: number, owners: number): number {
  return Math.ceil((index * SLOTS) / owners);
}

/** Makes every node the stable owner of its slots. */
export function fillSlots(slots: Int32Array, nodes: readonly TopologyNode[]): void {
  for (const { index, firstSlot, lastSlot } of nodes) {
    slots.fill(slotRow(SLOT_STABLE, index, 0), firstSlot, lastSlot + 1);
  }
}
