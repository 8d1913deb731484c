/** The section Persistence: nothing is written; it is that of a server that has not saved yet. */
import { field, idle, type Section } from "./section.ts";

export const PERSISTENCE: Section = {
  title: "Persistence",
  names: ["persistence"],
  inDefault: true,
  about: "Snapshots and the log of commands, which do not exist.",
  entries: [
    ...idle("There is no snapshot.", {
      loading: 0,
      async_loading: 0,
      current_cow_peak: 0,
      current_cow_size: 0,
      current_cow_size_age: 0,
      current_fork_perc: "0.00",
      current_save_keys_processed: 0,
      current_save_keys_total: 0,
    }),
    field("rdb_changes_since_last_save", "Changes of keys since the start.", ({ server }) =>
      server.stats.sum("dirty"),
    ),
    ...idle("There is no snapshot.", { rdb_bgsave_in_progress: 0 }),
    field("rdb_last_save_time", "When the server was started.", ({ server }) =>
      Math.floor(server.facts.startedMs / 1000),
    ),
    ...idle("There is no snapshot.", {
      rdb_last_bgsave_status: "ok",
      rdb_last_bgsave_time_sec: -1,
      rdb_current_bgsave_time_sec: -1,
      rdb_saves: 0,
      rdb_last_cow_size: 0,
      rdb_last_load_keys_expired: 0,
      rdb_last_load_keys_loaded: 0,
    }),
    ...idle("There is no log of commands.", {
      aof_enabled: 0,
      aof_rewrite_in_progress: 0,
      aof_rewrite_scheduled: 0,
      aof_last_rewrite_time_sec: -1,
      aof_current_rewrite_time_sec: -1,
      aof_last_bgrewrite_status: "ok",
      aof_rewrites: 0,
      aof_rewrites_consecutive_failures: 0,
      aof_last_write_status: "ok",
      aof_last_cow_size: 0,
    }),
    ...idle("There are no modules.", {
      module_fork_in_progress: 0,
      module_fork_last_cow_size: 0,
    }),
  ],
};
