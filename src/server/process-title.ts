/** What a list of processes shows: the directive `proc-title-template`, its variables put in. */
import type { Config } from "./config/config.ts";

const PROGRAM = "zerohop";

/** `port` is the plain port that is listened on, 0 if there is none. */
export function processTitle(config: Config, port: number): string {
  const [first = "*"] = config.bind;
  const variables: Readonly<Record<string, string>> = {
    title: PROGRAM,
    "listen-addr": port === 0 ? config.unixsocket : `${first}:${port}`,
    "server-mode": config.owners > 0 ? "[cluster]" : "",
    "config-file": config.file,
    port: String(port),
    "tls-port": config.text("tls-port"),
    unixsocket: config.unixsocket,
  };
  return config
    .text("proc-title-template")
    .replace(/\{\{|\{([^}]*)\}/g, (whole, name: string | undefined) =>
      name === undefined ? "{" : (variables[name] ?? whole),
    )
    .trim();
}
