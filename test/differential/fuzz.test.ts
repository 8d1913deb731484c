/**
 * Random commands over few keys, to us and to a redis-server: replies are compared as they come and
 * whole databases at the end of each round. The grammar comes from the redis-server.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isLong, needs, subjectRedis } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { show, textsOf } from "../support/resp-parser.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { compareKeyspaces, type Pair, runBatch, shrink } from "./fuzz.ts";
import { fuzzedCommands, unusedRows } from "./fuzz-commands.ts";
import { CallMaker, type CommandSyntax, readGrammar } from "./grammar.ts";

const DATABASES = 3;
const ROUNDS = isLong ? 100 : 4;
const COMMANDS_PER_ROUND = 4000;

/** So that the two agree about what is measured, and about the bytes of payloads. */
const SETTINGS = [
  ["CONFIG", "SET", "slowlog-log-slower-than", "-1"],
  ["CONFIG", "SET", "rdbcompression", "no"],
];

for (const threads of [1, 4]) {
  describe(`random commands with ${threads} threads`, needs("redis-server"), () => {
    let oracle: Server;
    let subject: Server;
    let data: CommandSyntax[];
    let others: CommandSyntax[];

    before(async () => {
      oracle = await startRedis();
      // Our side checks every dereference, and the whole heap after each round.
      subject = await startZeroHop(
        { threads, "enable-debug-command": "yes" },
        { environment: { ZEROHOP_CHECK: "1" } },
      );
      const client = await oracle.connect();
      await client.call("HELLO", 3);
      const names = fuzzedCommands();
      data = await readGrammar(client, names.data);
      others = await readGrammar(client, names.others);
      await client.pipeline(SETTINGS);
      await (await subject.connect()).pipeline(SETTINGS);
    });

    after(async () => {
      await oracle?.stop();
      await subject?.stop();
    });

    test("every command that is left out is one of Redis's or ours", async () => {
      const { reply } = await (await oracle.connect()).call("COMMAND", "LIST");
      assert.deepEqual(unusedRows(textsOf(reply)), []);
    });

    async function connectPair(): Promise<Pair> {
      return { redis: await oracle.connect(), ours: await subject.connect() };
    }

    for (const protocol of [2, 3]) {
      for (const connections of [1, 3]) {
        test(`RESP${protocol} over ${connections} connections`, async () => {
          const base = testSeed(20_000 + protocol * 10 + connections);
          const pairs: Pair[] = [];
          for (let i = 0; i < connections; i++) pairs.push(await connectPair());
          for (let round = 0; round < ROUNDS; round++) {
            const seed = base + round * 1000;
            const random = new Random(seed);
            const nowSeconds = Math.floor(Date.now() / 1000);
            const maker = new CallMaker(random, data, others, nowSeconds);
            await playRound(pairs, protocol, random, maker, seedText(seed));
            if (subjectRedis === undefined) {
              const { reply } = await (pairs[0] as Pair).ours.call("DEBUG", "HEAP-CHECK");
              assert.equal(show(reply), "+OK", seedText(seed));
            }
          }
        });
      }
    }
  });
}

async function playRound(
  pairs: readonly Pair[],
  protocol: number,
  random: Random,
  maker: CallMaker,
  hint: string,
): Promise<void> {
  const [first] = pairs as [Pair];
  for (const pair of pairs) {
    const fresh = [["RESET"], ["HELLO", String(protocol)], ["FLUSHALL"]];
    await Promise.all([pair.redis.pipeline(fresh), pair.ours.pipeline(fresh)]);
  }
  const history: string[][] = [["HELLO", String(protocol)]];
  let turn = 0;
  while (history.length < COMMANDS_PER_ROUND) {
    const batch = Array.from({ length: random.between(1, 100) }, () => maker.next());
    history.push(...batch);
    const difference = await runBatch(pairs[turn++ % pairs.length] as Pair, batch);
    if (difference !== undefined) {
      const { what, ours, redis } = difference;
      const apart = (await compareKeyspaces(first, DATABASES)).join("; ");
      const shortest = await shrink(first, history, DATABASES);
      const replies = `${what}\nours:  ${ours}\nredis: ${redis}`;
      assert.fail(`${replies}\n(${hint})\nkeys then: ${apart}\n    ${shortest}`);
    }
  }
  const found = await compareKeyspaces(first, DATABASES);
  if (found.length > 0) {
    const shortest = await shrink(first, history, DATABASES);
    assert.fail(`the keyspaces differ (${hint}): ${found.join("; ")}\n    ${shortest}`);
  }
}
