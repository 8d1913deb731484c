/**
 * Claiming and freeing client rows from several threads: no row has two owners, nobody is refused
 * while a row is free for good, and no kill and no CLIENT UNBLOCK hits the client that came after.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ClientRow,
  ClientTable,
  clientTableBytes,
  UNBLOCK_BY_ERROR,
} from "../../src/server/client-table.ts";
import { type Body, type Fault, Machine, type Scheduler, type StepThread } from "./machine.ts";
import { everyOrder, randomScheduler } from "./schedulers.ts";

type Fields = { i32: Int32Array; f64: Float64Array };

class Rows {
  readonly machine: Machine;
  readonly buffer: SharedArrayBuffer;
  /** Client of each row as its owner knows it. */
  readonly owners: Map<number, number> = new Map();
  refused = 0;
  killed = 0;
  /** What each client that was blocked found asked for. */
  readonly taken: Map<number, number> = new Map();
  /** The thread of client 1, where it was blocked when that was asked; else -1. */
  answered = -1;
  private readonly threads: number;
  private readonly seen: Fields;

  constructor(rows: number, bodies: ((rows: Rows) => Body)[], scheduler: Scheduler, fault?: Fault) {
    this.buffer = new SharedArrayBuffer(clientTableBytes(rows));
    this.threads = bodies.length;
    this.machine = new Machine({
      bodies: bodies.map((make) => make(this)),
      scheduler,
      ...(fault && { fault }),
    });
    const { machine, buffer } = this;
    this.seen = {
      i32: machine.shared(new Int32Array(buffer)),
      f64: machine.shared(new Float64Array(buffer)),
    };
  }

  /** A thread's own table, new for every repetition, since it remembers where it looked. */
  table(thread: StepThread): ClientTable {
    const table = new ClientTable(this.buffer, thread.id, this.threads);
    Object.assign(table, this.seen);
    return table;
  }
}

function client(row: number, thread: number, id: number): ClientRow {
  const texts = { remote: "", local: "", name: "", libName: "", libVersion: "" };
  const numbers = { createdMs: 1, lastMs: 1, db: 0, flags: 0, proto: 2, command: -1 };
  const sizes = { queryBytes: 0, queryFreeBytes: 0, outputBytes: 0, argumentBytes: 0 };
  const kind = { owner: -1, kind: 0, descriptor: -1 };
  return { row, thread, id, ...texts, ...numbers, ...sizes, ...kind };
}

/** Connects, runs some turns and disconnects. */
function visitor(times: number, turns = 0): (rows: Rows) => Body {
  return (rows) => (thread) => {
    const table = rows.table(thread);
    for (let n = 0; n < times; n++) {
      const row = table.claim(thread.id);
      if (row < 0) {
        thread.once(() => rows.refused++);
        continue;
      }
      const id = table.nextId();
      thread.once(() => {
        assert.ok(!rows.owners.has(row), "a row has two owners");
        rows.owners.set(row, id);
      });
      table.fill(client(row, thread.id, id));
      for (let turn = 0; turn < turns; turn++) table.setUse(row, turn, 0, 0, 0, 0, 0);
      if (table.isKilled(row, id)) thread.once(() => rows.killed++);
      thread.once(() => assert.equal(rows.owners.get(row), id));
      thread.once(() => rows.owners.delete(row));
      table.free(row);
    }
  };
}

/** Kills the client with id 1, wherever it is listed. */
function killer(rows: Rows): Body {
  return (thread) => {
    const table = rows.table(thread);
    for (let row = 0; row < table.rows; row++) {
      const found = table.read(row);
      if (found !== null && found.id === 1) table.kill(found);
    }
  };
}

/** Comes, waits for a while and leaves, so many times. */
function waiter(times: number): (rows: Rows) => Body {
  return (rows) => (thread) => {
    const table = rows.table(thread);
    for (let n = 0; n < times; n++) {
      const row = table.claim(thread.id);
      if (row < 0) continue;
      const id = table.nextId();
      table.fill(client(row, thread.id, id));
      table.setBlocked(row, id);
      for (let look = 0; look < 3 && !table.isAskedToUnblock(row); look++);
      const taken = table.takeUnblock(row);
      thread.once(() => rows.taken.set(id, taken));
      table.free(row);
    }
  };
}

function unblocker(rows: Rows): Body {
  return (thread) => {
    const table = rows.table(thread);
    let answered = -1;
    for (let n = 0; n < 2 && answered < 0; n++) answered = table.unblock(1, UNBLOCK_BY_ERROR);
    thread.once(() => {
      rows.answered = answered;
    });
  };
}

function runRows(
  rows: number,
  bodies: ((rows: Rows) => Body)[],
  scheduler: Scheduler,
  fault?: Fault,
): Rows {
  const world = new Rows(rows, bodies, scheduler, fault);
  world.machine.run();
  const left = new ClientTable(world.buffer, 0, 1);
  assert.deepEqual(left.list(), [], "a client is left");
  for (let row = 0; row < rows; row++) assert.ok(left.claim(0) >= 0, "a row is lost");
  assert.equal(left.claim(0), -1);
  return world;
}

test("two threads and one row, in every order with at most 3 preemptions", () => {
  let refused = 0;
  const orders = everyOrder(3, (scheduler) => {
    refused += runRows(1, [visitor(2), visitor(2)], scheduler).refused;
  });
  assert.ok(orders > 300 && refused > 0, `${orders} orders, ${refused} times refused`);
});

test("as many rows as threads are enough, in random orders", () => {
  for (let seed = 0; seed < 60; seed++) {
    const world = runRows(3, [visitor(4), visitor(4), visitor(4)], randomScheduler(seed));
    assert.equal(world.refused, 0, `seed ${seed}`);
  }
});

test("only the client that is meant is killed, whoever has its row by then", () => {
  let killed = 0;
  for (let seed = 0; seed < 300; seed++) {
    const world = runRows(1, [visitor(3, 4), killer], randomScheduler(seed));
    assert.ok(world.killed <= 1, `seed ${seed}: ${world.killed} were killed`);
    killed += world.killed;
  }
  assert.ok(killed > 5, `the kill came in time ${killed} times`);
});

test("who is asked to be unblocked finds that, exactly if it was answered so", () => {
  let answered = 0;
  const check = (world: Rows, hint: string): void => {
    if (world.answered >= 0) answered++;
    for (const [id, taken] of world.taken) {
      const isMeant = id === 1 && world.answered >= 0;
      assert.equal(taken === UNBLOCK_BY_ERROR, isMeant, `${hint}: client ${id} found ${taken}`);
    }
  };
  for (let seed = 0; seed < 30; seed++) {
    const world = runRows(1, [waiter(2), unblocker, waiter(2)], randomScheduler(seed));
    check(world, `seed ${seed}`);
  }
  const orders = everyOrder(3, (scheduler) => {
    check(runRows(1, [waiter(2), unblocker], scheduler), "in an order");
  });
  assert.ok(orders > 50 && answered > 20, `${orders} orders, ${answered} were unblocked`);
});

test("canary: a claim that is torn gives a row to two", () => {
  const torn: Fault = ({ kind }) => (kind === "compareExchange" ? "torn" : undefined);
  assert.throws(() => {
    for (let seed = 0; seed < 200; seed++) {
      runRows(1, [visitor(2), visitor(2)], randomScheduler(seed), torn);
    }
  });
});
