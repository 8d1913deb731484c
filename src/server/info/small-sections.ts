/** The short sections: replication, CPU, modules, cluster and the keyspace. */
import type { StatName } from "../../keyspace/stats.ts";
import { type Field, family, field, idle, type Section } from "./section.ts";
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
      ({ server }) => server.replicationId,
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

function mainThreadLines(view: InfoView): string[] {
  const { mainThread } = view.usage();
  if (mainThread === null) return [];
  return [
    `used_cpu_sys_main_thread:${mainThread.systemSeconds.toFixed(6)}`,
    `used_cpu_user_main_thread:${mainThread.userSeconds.toFixed(6)}`,
  ];
}

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
    family(
      "used_cpu_sys_main_thread, used_cpu_user_main_thread",
      "Of the main thread, which runs no commands, in hundredths; only on Linux.",
      mainThreadLines,
    ),
  ],
};

export const MODULES: Section = {
  title: "Modules",
  names: ["module_list", "modules"],
  inDefault: true,
  about: "Empty.",
  entries: [],
};

function most(name: string, about: string, stat: StatName): Field {
  return field(name, about, ({ server }) => Math.round(server.stats.most(stat)));
}

export const DEBUG: Section = {
  title: "Debug",
  names: ["debug"],
  inDefault: false,
  inAll: false,
  about: "More about the event loops; shown only when it is named.",
  entries: [
    ...idle("There is no log of commands.", { eventloop_duration_aof_sum: 0 }),
    field(
      "eventloop_duration_cron_sum",
      "Microseconds of the housekeeping of all threads.",
      ({ server }) => Math.round(server.stats.sum("eventloop_cron_usec")),
    ),
    most(
      "eventloop_duration_max",
      "Microseconds of a turn, as a mean of the busiest tenth of a second.",
      "eventloop_usec_max",
    ),
    most("eventloop_cmd_per_cycle_max", "Commands of a turn, likewise.", "eventloop_commands_max"),
    ...idle("There are no scripts and functions.", {
      allocator_allocated_lua: 0,
      allocator_active_lua: 0,
      allocator_resident_lua: 0,
      allocator_frag_bytes_lua: 0,
    }),
  ],
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
