/** What the process is, as Node and the system tell. */
import { machine, release, type } from "node:os";

export type ProcessFacts = {
  readonly processId: number;
  readonly nodeVersion: string;
  readonly os: string;
  readonly executable: string;
};

export function processFacts(): ProcessFacts {
  return {
    processId: process.pid,
    nodeVersion: process.versions.node,
    os: `${type()} ${release()} ${machine()}`,
    executable: process.argv[1] ?? "",
  };
}

/** Checked mode was asked for; see memory/checked.ts. */
export function isChecked(): boolean {
  return process.env["ZEROHOP_CHECK"] === "1";
}
