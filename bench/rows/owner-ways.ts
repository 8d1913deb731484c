/**
 * The two ways into one keyspace that the row `owners` compares: the plain port and the owner ports
 * of our process, or, for a check of the bench, a redis-server and a cluster of real nodes.
 */
import { Control, commandCalls } from "../control.ts";
import { fillAndCheck } from "../fill.ts";
import { slotRange } from "../node-map.ts";
import type { Options } from "../options.ts";
import { planServer, type RunningServer, withServers } from "../server.ts";
import { ownedKeys, paddedFill, valueText } from "../workload.ts";

/** One way in: the ports of a layout and a control connection to each. */
export interface Way {
  readonly name: "plain" | "owners";
  readonly pids: readonly number[];
  readonly ports: readonly number[];
  readonly controls: readonly Control[];
}

/** Calls so far, summed over the ports of a way. */
export async function callsOf(way: Way, command: string): Promise<number> {
  let calls = 0;
  for (const control of way.controls) calls += await commandCalls(control, command);
  return calls;
}

const CLUSTER_LOOKS_MAX = 400;
const CLUSTER_LOOK_MS = 50;

async function openWay(
  name: Way["name"],
  pids: readonly number[],
  ports: readonly number[],
): Promise<Way> {
  const controls: Control[] = [];
  for (const port of ports) controls.push(await Control.connect(port));
  return { name, pids, ports, controls };
}

/** The bus next to the client port: the default is in the range the system hands out to clients. */
function clusterNodeOptions(port: number): string[] {
  return ["--cluster-enabled", "yes", "--cluster-port", String(port + 1)];
}

/** Makes one cluster of fresh nodes; they serve only a while after they know each other. */
async function makeCluster(way: Way): Promise<void> {
  const count = way.controls.length;
  for (const [i, control] of way.controls.entries()) {
    const { from, to } = slotRange(i, count);
    await control.call("CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
    await control.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
  }
  for (const port of way.ports.slice(1)) {
    await way.controls[0]?.call("CLUSTER", "MEET", "127.0.0.1", String(port), String(port + 1));
  }
  for (const control of way.controls) {
    let text: unknown = "";
    for (let look = 0; look < CLUSTER_LOOKS_MAX; look++) {
      text = await control.call("CLUSTER", "INFO");
      if (typeof text === "string" && /cluster_state:ok/.test(text)) break;
      await new Promise((resolve) => setTimeout(resolve, CLUSTER_LOOK_MS));
    }
    if (!String(text).includes(`cluster_size:${count}`)) throw new Error("no cluster came up");
  }
}

/** Starts what the subject needs and hands over the two ways, with all keys loaded. */
export async function withWays<T>(
  options: Options,
  owners: number,
  cores: string | undefined,
  use: (plain: Way, owners: Way) => Promise<T>,
): Promise<T> {
  const base = planServer(options, options.subject, owners, cores);
  const ours = options.subject === "zerohop";
  const node = { ...base, extra: clusterNodeOptions, morePorts: 1 };
  const plans = ours
    ? [{ ...base, extra: () => ["--shard-owners", String(owners)], morePorts: owners }]
    : [base, ...Array.from({ length: owners }, () => node)];
  return withServers(plans, async ([first, ...nodes]) => {
    const server = first as RunningServer;
    const ports = ours
      ? Array.from({ length: owners }, (_, i) => server.port + 1 + i)
      : nodes.map((one) => one.port);
    const plain = await openWay("plain", [server.pid], [server.port]);
    const owned = await openWay(
      "owners",
      (ours ? [server] : nodes).map(({ pid }) => pid),
      ports,
    );
    try {
      if (!ours) await makeCluster(owned);
      await loadWays(options, plain, ours ? undefined : owned, owners);
      return await use(plain, owned);
    } finally {
      for (const control of [...plain.controls, ...owned.controls]) control.close();
    }
  });
}

/** All keys through the plain port; nodes of a real cluster get theirs one by one. */
async function loadWays(
  options: Options,
  plain: Way,
  cluster: Way | undefined,
  owners: number,
): Promise<void> {
  const keys = options.keys[0] as number;
  const value = valueText(options.values[0] as number);
  const kind = paddedFill("key:", value);
  await fillAndCheck(plain.controls[0] as Control, plain.ports[0] as number, kind, keys);
  if (cluster === undefined) return;
  for (let owner = 0; owner < owners; owner++) {
    const owned = ownedKeys("key:", keys, owner, owners);
    const part = { reply: kind.reply, text: (i: number) => kind.text(owned[i] as number) };
    const control = cluster.controls[owner] as Control;
    await fillAndCheck(control, cluster.ports[owner] as number, part, owned.length);
  }
}
