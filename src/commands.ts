/**
 * Every command of the server. A family adds its own list here; the command table, COMMAND, the
 * reference and the README's table of commands all come from this one.
 */
import type { CommandSpec } from "./command/spec.ts";
import { COMMAND_COMMANDS } from "./server/commands/command.ts";
import { CONFIG_COMMANDS } from "./server/commands/config.ts";
import { STRING_COMMANDS } from "./types/string/commands.ts";

export const COMMANDS: readonly CommandSpec[] = [
  ...STRING_COMMANDS,
  ...COMMAND_COMMANDS,
  ...CONFIG_COMMANDS,
];
