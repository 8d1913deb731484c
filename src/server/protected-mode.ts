/**
 * Protected mode: without a password, only peers on this machine are let in.
 */
import { latin1Bytes } from "../base/bytes.ts";
import type { Config } from "./config/config.ts";

export const PROTECTED_MODE_ERROR: Uint8Array = latin1Bytes(
  "-DENIED Redis is running in protected mode because protected mode is enabled and no password " +
    "is set for the default user. In this mode connections are only accepted from the loopback " +
    "interface. If you want to connect from external computers to Redis you may adopt one of the " +
    "following solutions: 1) Just disable protected mode sending the command 'CONFIG SET " +
    "protected-mode no' from the loopback interface by connecting to Redis from the same host " +
    "the server is running, however MAKE SURE Redis is not publicly accessible from internet if " +
    "you do so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just " +
    "disable the protected mode by editing the Redis configuration file, and setting the " +
    "protected mode option to 'no', and then restarting the server. 3) If you started the server " +
    "manually just for testing, restart it with the '--protected-mode no' option. 4) Set up an " +
    "authentication password for the default user. NOTE: You only need to do one of the above " +
    "things in order for the server to start accepting connections from the outside.\r\n",
);

/** `remote` is "ip:port" or "[ip]:port". */
export function acceptsPeer(config: Config, remote: string, isUnix: boolean): boolean {
  if (!config.protectedMode || isUnix) return true;
  return (
    remote.startsWith("127.") || remote.startsWith("[::1]") || remote.startsWith("[::ffff:127.")
  );
}
