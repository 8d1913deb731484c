/**
 * Random commands over few keys, to us and to a redis-server: replies are compared as they come and
 * whole databases at the end of each round. The grammar comes from the redis-server.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isLong, needs, subjectRedis } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { show } from "../support/resp-parser.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { compareKeyspaces, type Pair, runBatch, shrink } from "./fuzz.ts";
import { CallMaker, type CommandSyntax, readGrammar } from "./grammar.ts";

const COMMANDS = (
  "get,set,getdel,getex,getset,setnx,setex,psetex,mget,mset,msetnx,incr,decr,incrby,decrby," +
  "incrbyfloat,append,strlen,getrange,substr,setrange,del,unlink,exists,type,touch,rename," +
  "renamenx,copy,expire,pexpire,expireat,pexpireat,ttl,pttl,expiretime,pexpiretime,persist," +
  "dbsize,keys,scan,randomkey,object encoding,memory usage,select"
).split(",");

const DATABASES = 3;
const ROUNDS = isLong ? 100 : 4;
const COMMANDS_PER_ROUND = 4000;

for (const threads of [1, 4]) {
  describe(`random commands with ${threads} threads`, needs("redis-server"), () => {
    let oracle: Server;
    let subject: Server;
    let grammar: CommandSyntax[];

    before(async () => {
      oracle = await startRedis();
      // Our side checks every dereference, and the whole heap after each round.
      subject = await startZeroHop(
        { threads, "enable-debug-command": "yes" },
        { environment: { ZEROHOP_CHECK: "1" } },
      );
      const client = await oracle.connect();
      await client.call("HELLO", 3);
      grammar = await readGrammar(client, COMMANDS);
    });

    after(async () => {
      await oracle?.stop();
      await subject?.stop();
    });

    async function connectPair(protocol: number): Promise<Pair> {
      const [redis, ours] = [await oracle.connect(), await subject.connect()];
      if (protocol === 3) await Promise.all([redis.call("HELLO", 3), ours.call("HELLO", 3)]);
      return { redis, ours };
    }

    for (const protocol of [2, 3]) {
      for (const connections of [1, 3]) {
        test(`RESP${protocol} over ${connections} connections`, async () => {
          const base = testSeed(20_000 + protocol * 10 + connections);
          const pairs: Pair[] = [];
          for (let i = 0; i < connections; i++) pairs.push(await connectPair(protocol));
          for (let round = 0; round < ROUNDS; round++) {
            const seed = base + round * 1000;
            const random = new Random(seed);
            const maker = new CallMaker(random, grammar, Math.floor(Date.now() / 1000));
            await playRound(pairs, random, maker, seedText(seed));
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
  random: Random,
  maker: CallMaker,
  hint: string,
): Promise<void> {
  const [first] = pairs as [Pair];
  for (const pair of pairs) {
    const fresh = [["FLUSHALL"], ["SELECT", "0"]];
    await Promise.all([pair.redis.pipeline(fresh), pair.ours.pipeline(fresh)]);
  }
  const history: string[][] = [];
  let turn = 0;
  while (history.length < COMMANDS_PER_ROUND) {
    const batch = Array.from({ length: random.between(1, 100) }, () => maker.next());
    history.push(...batch);
    const difference = await runBatch(pairs[turn++ % pairs.length] as Pair, batch);
    if (difference !== undefined) {
      assert.fail(`a reply differs (${hint}):\n    ${await shrink(first, history, DATABASES)}`);
    }
  }
  const found = await compareKeyspaces(first, DATABASES);
  if (found.length > 0) {
    const shortest = await shrink(first, history, DATABASES);
    assert.fail(`the keyspaces differ (${hint}): ${found.join("; ")}\n    ${shortest}`);
  }
}
