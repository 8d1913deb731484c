/** redis-benchmark as it comes, on a plain port and over owner ports. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs, requireTool } from "../support/environment.ts";
import { type Owners, startOwners } from "../support/owners.ts";
import { type RunResult, runProgram, type Server, startZeroHop } from "../support/servers.ts";

const REQUESTS = "3000";

function benchmark(port: number, args: readonly string[]): Promise<RunResult> {
  const all = ["-p", String(port), "-n", REQUESTS, ...args];
  return runProgram(requireTool("redis-benchmark"), all);
}

function assertClean(result: RunResult): void {
  assert.equal(result.code, 0, result.stdout + result.stderr);
  assert.doesNotMatch(result.stdout + result.stderr, /error|could not/i);
}

describe("redis-benchmark on a plain port", needs("redis-benchmark"), () => {
  let server: Server;

  before(async () => {
    server = await startZeroHop({ threads: 2 });
  });

  after(async () => server?.stop());

  const runs: readonly (readonly string[])[] = [
    ["-t", "ping_inline,ping_mbulk,set,get,incr,mset", "-q"],
    ["-t", "set,get,incr", "-P", "16", "-c", "20", "-r", "1000", "--csv"],
    ["-t", "set,get", "-3", "-d", "10000", "-c", "5", "-q"],
    ["-t", "set,get", "--threads", "2", "-q"],
    ["-t", "get", "-k", "0", "-c", "10", "-q"],
    ["-r", "1000", "-q", "SETEX", "key:__rand_int__", "100", "value"],
  ];
  for (const args of runs) {
    test(args.join(" "), async () => {
      const result = await benchmark(server.port, args);
      assertClean(result);
      assert.match(result.stdout, /requests per second|"rps"/);
    });
  }
});

describe("redis-benchmark --cluster", needs("redis-benchmark"), () => {
  let owners: Owners;

  before(async () => {
    owners = await startOwners(4);
  });

  after(async () => owners?.stop());

  for (const args of [
    ["-t", "set,get,incr"],
    ["-t", "set,get", "-P", "16", "-r", "1000"],
  ]) {
    test(`--cluster ${args.join(" ")}`, async () => {
      for (const port of owners.ports) {
        const result = await benchmark(port, ["--cluster", "-q", "-c", "8", ...args]);
        assertClean(result);
        assert.match(result.stdout, /Cluster has 4 master nodes/);
      }
    });
  }
});
