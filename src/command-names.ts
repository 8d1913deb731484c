/**
 * The names of all commands for the main thread, which runs none of them.
 *
 * The build puts the list itself in this module's place: reading the code of every command would be
 * a third of what a start costs the main thread.
 */
import { serverCommands } from "./commands.ts";

/** By the command's id: "get", "client|list". */
export const COMMAND_NAMES: readonly string[] = serverCommands().list.map(({ name }) => name);
