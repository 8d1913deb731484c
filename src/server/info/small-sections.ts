/** The short sections: replication, CPU, modules, cluster and the keyspace. */
import { family, field, idle, type Section } from "./section.ts";
import type { InfoView } from "./view.ts";

export const REPLICATION: Section = {
  title: "Replication",
  names: ["replication"],
  inDefault: true,
  about: "A master without replicas.",
  entries: [
    ...idle("There is no replication.", {
      role: "master",
      connected_slaves: 0,
      master_failover_state: "no-failover",
    }),
    field(
      "master_replid",
      "40 hexadecimal digits, new at each start.",
      ({ server }) => server.facts.runId,
    ),
    ...idle("There is no replication.", {
      master_replid2: "0".repeat(40),
      master_repl_offset: 0,
      second_repl_offset: -1,
      repl_backlog_active: 0,
      repl_backlog_size: 1048576,
      repl_backlog_first_byte_offset: 0,
      repl_backlog_histlen: 0,
    }),
  ],
};

export const CPU: Section = {
  title: "CPU",
  names: ["cpu"],
  inDefault: true,
  about: "Processor time of the process, in seconds.",
  entries: [
    field("used_cpu_sys", "In the system.", (view) => view.usage().systemSeconds.toFixed(6)),
    field("used_cpu_user", "In the program, all threads.", (view) =>
      view.usage().userSeconds.toFixed(6),
    ),
    ...idle("There are no other processes.", {
      used_cpu_sys_children: "0.000000",
      used_cpu_user_children: "0.000000",
    }),
  ],
};

export const MODULES: Section = {
  title: "Modules",
  names: ["module_list", "modules"],
  inDefault: true,
  about: "Empty.",
  entries: [],
};

export const CLUSTER: Section = {
  title: "Cluster",
  names: ["cluster"],
  inDefault: true,
  about: "Whether this port is a node of a cluster.",
  entries: [
    field("cluster_enabled", "1 on the port of a shard owner, else 0.", (view) =>
      view.isOwner ? 1 : 0,
    ),
  ],
};

function databaseLines(view: InfoView): string[] {
  return view
    .keyspace()
    .map(
      ({ index, keys, expires, averageMs }) =>
        `db${index}:keys=${keys},expires=${expires},avg_ttl=${averageMs},subexpiry=0`,
    );
}

export const KEYSPACE: Section = {
  title: "Keyspace",
  names: ["keyspace"],
  inDefault: true,
  about: "The databases that have keys; on an owner's port, keys of its slots.",
  entries: [
    family(
      "db<i>",
      "Keys, those that expire, their average milliseconds to live; 0 before it is known.",
      databaseLines,
    ),
  ],
};
