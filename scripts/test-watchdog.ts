/**
 * Loaded into the process of every test file: ends it when it goes on running long after its
 * tests, and says what keeps it alive. Newer Nodes end a late test but not the file around it.
 */

import { isMainThread } from "node:worker_threads";
import { FILE_TIMEOUT_MS } from "./test-limits.ts";

/** More than the time a test is given, so that node:test reports first. */
const LIFETIME_MS = FILE_TIMEOUT_MS + 30_000;

if (isMainThread && process.env["NODE_TEST_CONTEXT"] !== undefined) {
  const end = (): void => {
    const resources = process.getActiveResourcesInfo().join(", ");
    process.stderr.write(`still running after ${LIFETIME_MS / 1000} s, with ${resources}\n`);
    process.exit(1);
  };
  setTimeout(end, LIFETIME_MS).unref();
}
