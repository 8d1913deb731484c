/**
 * What CLUSTER tells of the nodes: SLOTS, SHARDS, NODES and INFO, byte for byte in Redis's shapes.
 * Owners have no bus, so its port is 0 and its figures are those of a node that never heard a ping.
 */
import type { Session } from "../command/session.ts";
import { SLOTS } from "../limits.ts";
import type { Reply } from "../protocol/reply.ts";
import type { Topology, TopologyNode } from "../server/topology.ts";

/** Array of [first, last, [endpoint, port, id, metadata]], in the order of the slots. */
export function writeSlots(topology: Topology, session: Session, reply: Reply): void {
  const endpoint = topology.endpoint(session);
  const metadata = slotsMetadata(topology, session);
  reply.array(topology.nodes.length);
  for (const node of topology.nodes) {
    reply.array(3);
    reply.integer(node.firstSlot);
    reply.integer(node.lastSlot);
    reply.array(4);
    if (endpoint === null) reply.nil();
    else reply.text(endpoint);
    reply.integer(topology.announcedPort(node));
    reply.text(node.id);
    reply.map(metadata.length);
    for (const [name, value] of metadata) {
      reply.text(name);
      reply.text(value);
    }
  }
}

/** What else there is to know of a node's address beside the preferred endpoint. */
function slotsMetadata(topology: Topology, session: Session): [name: string, value: string][] {
  const metadata: [string, string][] = [];
  const hostname = topology.hostname();
  if (topology.endpointType !== "ip") metadata.push(["ip", topology.ip(session)]);
  if (topology.endpointType !== "hostname" && hostname !== "") {
    metadata.push(["hostname", hostname]);
  }
  return metadata;
}

/** Array of maps `slots` and `nodes`; every shard has its master alone. */
export function writeShards(topology: Topology, session: Session, reply: Reply): void {
  const ip = topology.ip(session);
  const endpoint = topology.endpoint(session) ?? "";
  const hostname = topology.hostname();
  reply.array(topology.nodes.length);
  for (const node of topology.nodes) {
    reply.map(2);
    reply.text("slots");
    reply.array(2);
    reply.integer(node.firstSlot);
    reply.integer(node.lastSlot);
    reply.text("nodes");
    reply.array(1);
    reply.map(hostname === "" ? 7 : 8);
    reply.text("id");
    reply.text(node.id);
    reply.text("port");
    reply.integer(topology.announcedPort(node));
    reply.text("ip");
    reply.text(ip);
    reply.text("endpoint");
    reply.text(endpoint);
    if (hostname !== "") {
      reply.text("hostname");
      reply.text(hostname);
    }
    reply.text("role");
    reply.text("master");
    reply.text("replication-offset");
    reply.integer(0);
    reply.text("health");
    reply.text("online");
  }
}

/** One line a node: id, address, flags, master, pings, pongs, epoch, link, slots. */
export function nodesText(topology: Topology, session: Session): string {
  const myself = topology.nodeOf(session);
  const ip = topology.ip(session);
  let text = "";
  for (const node of topology.nodes) text += nodeLine(topology, node, ip, node === myself);
  return text;
}

function nodeLine(topology: Topology, node: TopologyNode, ip: string, isMyself: boolean): string {
  const hostname = topology.hostname();
  const address = `${ip}:${topology.announcedPort(node)}@0${hostname === "" ? "" : `,${hostname}`}`;
  const flags = isMyself ? "myself,master" : "master";
  const { id, configEpoch, firstSlot, lastSlot } = node;
  const slots = firstSlot === lastSlot ? String(firstSlot) : `${firstSlot}-${lastSlot}`;
  return `${id} ${address} ${flags} - 0 0 ${configEpoch} connected ${slots}\n`;
}

export function infoText(topology: Topology, session: Session): string {
  const count = topology.nodes.length;
  const lines = [
    "cluster_state:ok",
    `cluster_slots_assigned:${SLOTS}`,
    `cluster_slots_ok:${SLOTS}`,
    "cluster_slots_pfail:0",
    "cluster_slots_fail:0",
    `cluster_known_nodes:${count}`,
    `cluster_size:${count}`,
    `cluster_current_epoch:${count}`,
    `cluster_my_epoch:${topology.nodeOf(session).configEpoch}`,
    "cluster_stats_messages_sent:0",
    "cluster_stats_messages_received:0",
    "total_cluster_links_buffer_limit_exceeded:0",
  ];
  return lines.map((line) => `${line}\r\n`).join("");
}

export const HELP_LINES: readonly string[] = [
  "COUNTKEYSINSLOT <slot>",
  "    Return the number of keys in <slot>.",
  "GETKEYSINSLOT <slot> <count>",
  "    Return key names stored by current node in a slot.",
  "INFO",
  "    Return information about the cluster.",
  "KEYSLOT <key>",
  "    Return the hash slot for <key>.",
  "MYID",
  "    Return the node id.",
  "MYSHARDID",
  "    Return the node's shard id.",
  "NODES",
  "    Return cluster configuration seen by node. Output format:",
  "    <id> <ip:port@bus-port[,hostname]> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ...",
  "REPLICAS <node-id>",
  "    Return <node-id> replicas.",
  "SLOTS",
  "    Return information about slots range mappings. Each range is made of:",
  "    start, end, master and replicas IP addresses, ports and ids",
  "SLOT-STATS",
  "    Return an array of slot usage statistics for slots assigned to the current node.",
  "SHARDS",
  "    Return information about slot range mappings and the nodes associated with them.",
  "ADDSLOTS <slot> [<slot> ...]",
  "    Assign slots to current node.",
  "ADDSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
  "    Assign slots which are between <start-slot> and <end-slot> to current node.",
  "BUMPEPOCH",
  "    Advance the cluster config epoch.",
  "COUNT-FAILURE-REPORTS <node-id>",
  "    Return number of failure reports for <node-id>.",
  "DELSLOTS <slot> [<slot> ...]",
  "    Delete slots information from current node.",
  "DELSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
  "    Delete slots information which are between <start-slot> and <end-slot> from current node.",
  "FAILOVER [FORCE|TAKEOVER]",
  "    Promote current replica node to being a master.",
  "FORGET <node-id>",
  "    Remove a node from the cluster.",
  "FLUSHSLOTS",
  "    Delete current node own slots information.",
  "MEET <ip> <port> [<bus-port>]",
  "    Connect nodes into a working cluster.",
  "REPLICATE <node-id>",
  "    Configure current node as replica to <node-id>.",
  "RESET [HARD|SOFT]",
  "    Reset current node (default: soft).",
  "SET-CONFIG-EPOCH <epoch>",
  "    Set config epoch of current node.",
  "SETSLOT <slot> (IMPORTING <node-id>|MIGRATING <node-id>|STABLE|NODE <node-id>)",
  "    Set slot state.",
  "SAVECONFIG",
  "    Force saving cluster configuration on disk.",
  "LINKS",
  "    Return information about all network links between this node and its peers.",
  "    Output format is an array where each array element is a map containing attributes of a link",
];
