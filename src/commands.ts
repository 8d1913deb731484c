/** All commands of the server, in one list: what has a handler, and nothing else. */
import { CLUSTER_COMMANDS } from "./cluster/commands.ts";
import { CommandTable } from "./command/lookup.ts";
import type { Renames } from "./command/renames.ts";
import type { CommandSpec } from "./command/spec.ts";
import { CLIENT_COMMANDS } from "./server/commands/client.ts";
import { COMMAND_COMMANDS } from "./server/commands/command.ts";
import { CONFIG_COMMANDS } from "./server/commands/config.ts";
import { CONNECTION_COMMANDS } from "./server/commands/connection.ts";
import { DEBUG } from "./server/commands/debug.ts";
import { INFO_COMMANDS } from "./server/commands/info.ts";
import { LATENCY_COMMANDS } from "./server/commands/latency.ts";
import { MEMORY_COMMANDS } from "./server/commands/memory.ts";
import { MONITOR_COMMANDS } from "./server/commands/monitor.ts";
import { SHUTDOWN } from "./server/commands/shutdown.ts";
import { SLOWLOG_COMMANDS } from "./server/commands/slowlog.ts";
import { STATE_COMMANDS } from "./server/commands/state.ts";
import { KEY_COMMANDS } from "./types/keys/commands.ts";
import { STRING_COMMANDS } from "./types/string/commands.ts";

export const COMMANDS: readonly CommandSpec[] = [
  ...STRING_COMMANDS,
  ...KEY_COMMANDS,
  ...CONNECTION_COMMANDS,
  ...CLIENT_COMMANDS,
  ...CONFIG_COMMANDS,
  ...COMMAND_COMMANDS,
  ...INFO_COMMANDS,
  ...SLOWLOG_COMMANDS,
  ...LATENCY_COMMANDS,
  ...MEMORY_COMMANDS,
  ...STATE_COMMANDS,
  ...MONITOR_COMMANDS,
  DEBUG,
  SHUTDOWN,
  ...CLUSTER_COMMANDS,
];

export function serverCommands(renames: Renames = []): CommandTable {
  return new CommandTable(COMMANDS, renames);
}
