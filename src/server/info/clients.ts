/** The section Clients: who is connected. */
import { field, idle, type Section } from "./section.ts";

export const CLIENTS: Section = {
  title: "Clients",
  names: ["clients"],
  inDefault: true,
  about: "Connections; on an owner's port, those that came by it.",
  entries: [
    field("connected_clients", "Clients connected now.", (view) =>
      view.isOwner ? view.server.clients.countOf(view.owner) : view.server.clients.count(),
    ),
    ...idle("There is no cluster bus.", { cluster_connections: 0 }),
    field("maxclients", "The directive `maxclients`.", ({ server }) => server.config.maxclients),
    field(
      "client_recent_max_input_buffer",
      "Most bytes received and not run of one client in the last eight seconds, of all clients.",
      ({ server }) => server.stats.most("recent_input_buffer_max"),
    ),
    field(
      "client_recent_max_output_buffer",
      "Most bytes of replies untaken by one client in the last eight seconds, of all clients.",
      ({ server }) => server.stats.most("recent_output_buffer_max"),
    ),
    field(
      "blocked_clients",
      "Clients whose command waits: for the end of `CLIENT PAUSE`, or `WAIT` and `WAITAOF`.",
      (view) => view.stat("blocked_clients"),
    ),
    ...idle("No command watches, tracks or subscribes.", {
      tracking_clients: 0,
      pubsub_clients: 0,
      watching_clients: 0,
    }),
    field(
      "clients_in_timeout_table",
      "Those of them whose `WAIT` or `WAITAOF` has a timeout.",
      (view) => view.stat("clients_in_timeout_table"),
    ),
    ...idle("No command watches keys or waits for one.", {
      total_watched_keys: 0,
      total_blocking_keys: 0,
      total_blocking_keys_on_nokey: 0,
    }),
  ],
};
