/**
 * Every case of the corpora, to us and to a redis-server, bytes compared: with one thread and with
 * four, in RESP2 and RESP3, command by command, in one pipeline and over several connections.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs } from "../support/environment.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { unusedRows } from "./allowlist.ts";
import { rules } from "./compare.ts";
import { CONNECTION } from "./corpus/connection.ts";
import { COUNTERS } from "./corpus/counters.ts";
import { DUMP } from "./corpus/dump.ts";
import { EXPIRY } from "./corpus/expiry.ts";
import { KEYS } from "./corpus/keys.ts";
import { OBSERVE } from "./corpus/observe.ts";
import { SERVER } from "./corpus/server.ts";
import { STRINGS } from "./corpus/strings.ts";
import { Differential, type Mismatch, report } from "./runner.ts";
import { commandLine, parseCorpus } from "./script.ts";

const CORPORA: readonly (readonly [string, string])[] = [
  ["strings", STRINGS],
  ["counters", COUNTERS],
  ["keys", KEYS],
  ["dump", DUMP],
  ["expiry", EXPIRY],
  ["connection", CONNECTION],
  ["server", SERVER],
  ["observe", OBSERVE],
];

test("every row of the allowlist and every rule has a case", () => {
  const cases = CORPORA.flatMap(([title, text]) => parseCorpus(title, text));
  const steps = cases.flatMap((one) => one.steps);
  const lines = steps.map((step) => step.line);
  assert.deepEqual(unusedRows(lines), []);
  const commands = steps.map(commandLine);
  assert.deepEqual(
    rules.filter((rule) => !commands.some((command) => rule.command.test(command))),
    [],
  );
});

for (const threads of [1, 4]) {
  describe(`replies with ${threads} threads are Redis's`, needs("redis-server"), () => {
    let oracle: Server;
    let subject: Server;

    before(async () => {
      oracle = await startRedis({ "enable-debug-command": "yes" });
      subject = await startZeroHop({
        threads,
        bind: "127.0.0.1",
        "enable-debug-command": "yes",
      });
    });

    after(async () => {
      await oracle?.stop();
      await subject?.stop();
    });

    for (const protocol of [2, 3] as const) {
      for (const [title, text] of CORPORA) {
        test(`${title} in RESP${protocol}`, async () => {
          const differential = new Differential(oracle.address, subject.address, protocol);
          const found: Mismatch[] = [];
          for (const one of parseCorpus(title, text)) {
            for (const mode of Differential.modes(one)) {
              found.push(...(await differential.run(one, mode)));
            }
          }
          differential.close();
          assert.equal(found.length, 0, report(found));
        });
      }
    }
  });
}
