/** Directives from the environment: `ZEROHOP_MAXMEMORY`, upper case with `_` for `-`. */
import { upperText } from "../../base/bytes.ts";
import { directiveNames } from "./table.ts";

export type EnvironmentSetting = {
  place: string;
  /** The directive's name and its value, which is not quoted. */
  words: [string, string];
  unknown: boolean;
};

export const PREFIX = "ZEROHOP_";

/** Variables with our prefix that are no directives: switches of the code and of its tests. */
const OTHER_VARIABLES = /^ZEROHOP_(?:CHECK|LONG|TEST_.*)$/;

/**
 * What Kubernetes gives every container beside a service named "zerohop". ZEROHOP_PORT is one of
 * them, with an address as its value.
 */
const SERVICE_LINKS =
  /^ZEROHOP_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT_[0-9]+_(?:TC|UD|SCT)P.*)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

export function variableName(directive: string): string {
  return PREFIX + upperText(directive).replaceAll("-", "_");
}

function variableNames(): Map<string, string> {
  const names = new Map<string, string>();
  for (const { name } of directiveNames()) {
    names.set(variableName(name), name);
  }
  return names;
}

/** In the order of the variables' names, so that a start does not depend on that of the shell. */
export function environmentSettings(
  env: Readonly<Record<string, string | undefined>>,
): EnvironmentSetting[] {
  const names = variableNames();
  const settings: EnvironmentSetting[] = [];
  for (const variable of Object.keys(env).sort()) {
    const value = env[variable];
    if (!variable.startsWith(PREFIX) || value === undefined) continue;
    if (OTHER_VARIABLES.test(variable) || SERVICE_LINKS.test(variable)) continue;
    if (variable === "ZEROHOP_PORT" && SERVICE_ADDRESS.test(value)) continue;
    const name = names.get(variable);
    settings.push({
      place: `environment ${variable}`,
      words: [name ?? variable, value],
      unknown: name === undefined,
    });
  }
  return settings;
}
