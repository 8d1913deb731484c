/** The entry of a server thread. */
import { serverCommands } from "./commands.ts";
import { runThread } from "./server/thread-host.ts";

runThread(serverCommands);
