/** The section Stats: what was done since the start or the last CONFIG RESETSTAT. */
import { errorStat, type StatName } from "../../keyspace/stats.ts";
import { type Field, field, idle, type Section } from "./section.ts";

function counter(name: string, about: string, stat: StatName): Field {
  return field(name, about, (view) => view.stat(stat));
}

function kilobytes(name: string, about: string, stat: StatName): Field {
  return field(name, about, (view) => (view.stat(stat) / 1024).toFixed(2));
}

/** A counter of the process, whichever port was asked. */
function whole(name: string, about: string, stat: StatName): Field {
  return field(name, about, ({ server }) => Math.round(server.stats.sum(stat)));
}

export const STATS: Section = {
  title: "Stats",
  names: ["stats"],
  inDefault: true,
  about: "Counters; on an owner's port, those of the connections that came by it.",
  entries: [
    counter("total_connections_received", "Connections accepted.", "connections_received"),
    counter("total_commands_processed", "Commands run.", "commands_processed"),
    counter("instantaneous_ops_per_sec", "Commands in the last second.", "ops_per_sec"),
    counter("total_net_input_bytes", "Bytes read.", "net_input_bytes"),
    counter("total_net_output_bytes", "Bytes written.", "net_output_bytes"),
    ...idle("There is no replication.", {
      total_net_repl_input_bytes: 0,
      total_net_repl_output_bytes: 0,
    }),
    kilobytes("instantaneous_input_kbps", "KiB read in the last second.", "input_bytes_per_sec"),
    kilobytes(
      "instantaneous_output_kbps",
      "KiB written in the last second.",
      "output_bytes_per_sec",
    ),
    ...idle("There is no replication.", {
      instantaneous_input_repl_kbps: "0.00",
      instantaneous_output_repl_kbps: "0.00",
    }),
    counter("rejected_connections", "Refused because of `maxclients`.", "connections_rejected"),
    ...idle("There is no replication.", { sync_full: 0, sync_partial_ok: 0, sync_partial_err: 0 }),
    ...idle("There are no hashes.", { expired_subkeys: 0 }),
    counter("expired_keys", "Keys removed because their time had passed.", "expired_keys"),
    ...idle("Segments know what is due, so nothing is sampled.", { expired_stale_perc: "0.00" }),
    counter(
      "expired_time_cap_reached_count",
      "Times that expiry was put off.",
      "expired_time_cap_reached",
    ),
    field("expire_cycle_cpu_milliseconds", "Spent on finding keys whose time had passed.", (view) =>
      Math.round(view.server.stats.sum("expire_cycle_usec") / 1000),
    ),
    counter("evicted_keys", "Keys evicted because of `maxmemory`.", "evicted_keys"),
    counter("evicted_clients", "Clients closed by `maxmemory-clients`.", "evicted_clients"),
    ...idle("There are no scripts.", { evicted_scripts: 0 }),
    field(
      "total_eviction_exceeded_time",
      "Milliseconds for which more than `maxmemory` was in use.",
      ({ server }) => server.stats.sum("eviction_exceeded_ms") + server.memoryExceededMs(),
    ),
    field(
      "current_eviction_exceeded_time",
      "Of those, the ones of the excess that lasts.",
      ({ server }) => server.memoryExceededMs(),
    ),
    counter("keyspace_hits", "Reads that found their key.", "keyspace_hits"),
    counter("keyspace_misses", "Reads that did not.", "keyspace_misses"),
    ...idle("Nothing of it exists.", {
      pubsub_channels: 0,
      pubsub_patterns: 0,
      pubsubshard_channels: 0,
      latest_fork_usec: 0,
      total_forks: 0,
      migrate_cached_sockets: 0,
      slave_expires_tracked_keys: 0,
      active_defrag_hits: 0,
      active_defrag_misses: 0,
      active_defrag_key_hits: 0,
      active_defrag_key_misses: 0,
      total_active_defrag_time: 0,
      current_active_defrag_time: 0,
      tracking_total_keys: 0,
      tracking_total_items: 0,
      tracking_total_prefixes: 0,
      unexpected_error_replies: 0,
    }),
    counter("total_error_replies", "Error replies.", "error_replies"),
    ...idle("Nothing is restored.", { dump_payload_sanitizations: 0 }),
    counter("total_reads_processed", "Reads from connections.", "reads_processed"),
    counter("total_writes_processed", "Writes to connections.", "writes_processed"),
    ...idle("Every thread reads and writes for itself.", {
      io_threaded_reads_processed: 0,
      io_threaded_writes_processed: 0,
    }),
    counter(
      "client_query_buffer_limit_disconnections",
      "Clients closed by `client-query-buffer-limit`.",
      "query_limit_disconnections",
    ),
    counter(
      "client_output_buffer_limit_disconnections",
      "Clients closed by `client-output-buffer-limit`.",
      "output_limit_disconnections",
    ),
    ...idle("Buffers are shared by all connections of a thread.", {
      reply_buffer_shrinks: 0,
      reply_buffer_expands: 0,
    }),
    whole("eventloop_cycles", "Turns of the event loops of all threads.", "eventloop_cycles"),
    whole(
      "eventloop_duration_sum",
      "Microseconds in which they did not wait, a tenth of a second old at most.",
      "eventloop_usec",
    ),
    field("eventloop_duration_cmd_sum", "Microseconds of running commands.", (view) => {
      let usec = 0;
      for (const { id } of view.server.commands.list) usec += view.server.commandStats.use(id).usec;
      return Math.round(usec);
    }),
    whole(
      "instantaneous_eventloop_cycles_per_sec",
      "Turns of the event loops in the last second.",
      "eventloop_cycles_per_sec",
    ),
    field(
      "instantaneous_eventloop_duration_usec",
      "Microseconds of a turn, as a mean over the last second.",
      ({ server }) => {
        const cycles = server.stats.sum("eventloop_cycles_per_sec");
        return cycles === 0 ? 0 : Math.round(server.stats.sum("eventloop_usec_per_sec") / cycles);
      },
    ),
    counter(
      "acl_access_denied_auth",
      "Times that `AUTH` or `HELLO` named another user than `default`.",
      errorStat("WRONGPASS"),
    ),
    ...idle("There are no users but `default`.", {
      acl_access_denied_cmd: 0,
      acl_access_denied_key: 0,
      acl_access_denied_channel: 0,
    }),
  ],
};
