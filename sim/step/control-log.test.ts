/**
 * The control log in every order of steps: all threads apply the same entries in the same order,
 * and what was published before a request came is applied before it runs.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { controlWords, H_CONTROL_LOCK, LOCK_OWNER } from "../../src/memory/layout.ts";
import { acquire, release } from "../../src/memory/lock.ts";
import { type ControlChannel, ControlLog } from "../../src/server/control-log.ts";
import { type Body, type Fault, Machine, type Scheduler, type StepThread } from "./machine.ts";
import { everyOrder, randomScheduler } from "./schedulers.ts";

type Options = { publishers: number; times: number; readers: number; scheduler: Scheduler };

/** A fault of the channel: nothing keeps two threads from appending at once. */
type Mistake = "no lock" | undefined;

class LogWorld {
  readonly control: Int32Array = new Int32Array(new SharedArrayBuffer(controlWords(1) * 4));
  readonly machine: Machine;
  /** What each thread has applied. */
  readonly applied: number[][];
  private readonly queues: number[][];
  private readonly seen: Int32Array;
  private readonly mistake: Mistake;
  /** Entries whose `publish` has returned. */
  private published: number[] = [];

  constructor(options: Options, mistake: Mistake, fault?: Fault) {
    const { publishers, times, readers, scheduler } = options;
    const threads = publishers + readers;
    this.mistake = mistake;
    this.applied = Array.from({ length: threads }, () => []);
    this.queues = Array.from({ length: threads }, () => []);
    const bodies = Array.from({ length: threads }, (_, id) =>
      id < publishers ? this.publisher(times) : this.reader(times),
    );
    this.machine = new Machine({
      bodies,
      scheduler,
      ...(fault && { fault }),
      isPoint: (_words, index) => index !== H_CONTROL_LOCK + LOCK_OWNER,
    });
    this.seen = this.machine.shared(this.control);
  }

  /** The log of a thread, new for every repetition. */
  private logOf(thread: StepThread): ControlLog<number> {
    const { seen } = this;
    const counters = { acquisitions: 0, contended: 0, waitMs: 0 };
    const channel: ControlChannel<number> = {
      ordered: (run) => {
        if (this.mistake === "no lock") return run();
        const { id, waiting } = thread;
        assert.ok(acquire(seen, H_CONTROL_LOCK, id, waiting, Number.POSITIVE_INFINITY, counters));
        run();
        release(seen, H_CONTROL_LOCK);
      },
      postControl: (entry) => {
        thread.once(() => {
          for (const [id, queue] of this.queues.entries()) if (id !== thread.id) queue.push(entry);
        });
      },
      takeControl: () => {
        const queue = this.queues[thread.id] as number[];
        const entries: number[] = [];
        // Taken one by one, as from a message port; others may post in between.
        for (;;) {
          const entry = thread.answer(true, () => queue.shift() ?? -1);
          if (entry < 0) return entries;
          entries.push(entry);
        }
      },
    };
    const apply = (entry: number): void => {
      thread.once(() => {
        (this.applied[thread.id] as number[]).push(entry);
      });
    };
    return new ControlLog(seen, channel, apply);
  }

  private publisher(times: number): Body {
    return (thread) => {
      const log = this.logOf(thread);
      for (let n = 0; n < times; n++) {
        const entry = thread.id * 100 + n;
        log.publish(entry);
        thread.once(() => this.published.push(entry));
      }
    };
  }

  /** Runs requests: before each it must have all that was published when the request came. */
  private reader(times: number): Body {
    return (thread) => {
      const log = this.logOf(thread);
      for (let n = 0; n < times; n++) {
        const known = thread.once(() => this.published.length);
        if (log.isBehind()) log.take();
        thread.once(() => {
          const applied = this.applied[thread.id] as number[];
          for (const entry of this.published.slice(0, known)) {
            assert.ok(applied.includes(entry), "a request ran without what was published before");
          }
        });
      }
    };
  }

  check(): void {
    for (const [id, queue] of this.queues.entries()) {
      (this.applied[id] as number[]).push(...queue);
    }
    for (const applied of this.applied) assert.deepEqual(applied, this.applied[0]);
  }
}

function runLog(options: Options, mistake?: Mistake, fault?: Fault): void {
  const world = new LogWorld(options, mistake, fault);
  world.machine.run();
  world.check();
}

test("two publishers and a reader, in every order with at most 3 preemptions", () => {
  const orders = everyOrder(3, (scheduler) =>
    runLog({ publishers: 2, times: 1, readers: 1, scheduler }),
  );
  assert.ok(orders > 1000, `only ${orders} orders`);
});

test("three publishers and two readers, in random orders", () => {
  for (let seed = 0; seed < 150; seed++) {
    runLog({ publishers: 3, times: 3, readers: 2, scheduler: randomScheduler(seed) });
  }
});

function runSeeds(mistake: Mistake, fault?: Fault): void {
  for (let seed = 0; seed < 300; seed++) {
    runLog(
      { publishers: 3, times: 3, readers: 2, scheduler: randomScheduler(seed) },
      mistake,
      fault,
    );
  }
}

test("canary: publishing without the lock gives threads different orders", () => {
  assert.throws(() => runSeeds("no lock"));
});

test("canary: a serial that is not raised", () => {
  const fault: Fault = ({ kind, index }) =>
    kind === "add" && index !== H_CONTROL_LOCK + 1 ? { answer: 0 } : undefined;
  assert.throws(() => runSeeds(undefined, fault), /without what was published/);
});
