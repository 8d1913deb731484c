/**
 * A step machine: several "threads" in one, which take turns at every access to shared memory, in an
 * order that a scheduler chooses. What they run is the production code as it is.
 *
 * A thread is a plain function. To let it take one more step the machine calls it again from the
 * start, answers the accesses it has made before with what they gave then, does the next one for
 * real, and stops it at the one after that by an exception. So a thread must depend on nothing but
 * what it reads through the machine: all else that it does is done by `once`.
 *
 * Accesses are seen in two ways: the methods of Atomics are replaced while the machine runs, and
 * plain reads and writes go through the proxies that `shared` makes. All accesses are in one order
 * (sequential consistency); what a processor may do beyond that is left to the tests with threads.
 */
import { assert } from "../../src/base/assert.ts";
import type { Waiting } from "../../src/memory/lock.ts";

type Words = Int32Array | Float64Array;

export type Access = {
  kind:
    | "read"
    | "write"
    | "load"
    | "store"
    | "add"
    | "sub"
    | "or"
    | "and"
    | "exchange"
    | "compareExchange"
    | "notify";
  words: Words;
  index: number;
  /** Operands: the value, or the expected and the new value. */
  a: number;
  b: number;
};

/**
 * What a broken build makes of an access: leaves it out and answers with a number, or tears it into
 * a read and a write with a step between them. Undefined: does it as it is.
 */
export type Fault = (access: Access) => { answer: number } | "torn" | undefined;

export type Body = (thread: StepThread) => void;

const PAUSE = Symbol("pause");

class SleepingWord {
  readonly words: Words;
  readonly index: number;
  readonly deadlineMs: number;

  constructor(words: Words, index: number, deadlineMs: number) {
    this.words = words;
    this.index = index;
    this.deadlineMs = deadlineMs;
  }
}

export class StepThread {
  readonly id: number;
  readonly waiting: Waiting;
  isDone = false;
  sleep: SleepingWord | null = null;
  private readonly machine: Machine;
  private readonly body: Body;
  /** What the accesses of this thread gave so far, and how many the running call has made. */
  private readonly log: number[] = [];
  private at = 0;
  private mayStep = false;

  constructor(machine: Machine, id: number, body: Body) {
    this.machine = machine;
    this.id = id;
    this.body = body;
    this.waiting = {
      spins: 1,
      wait: (words, index, value, timeoutMs) => this.wait(words, index, value, timeoutMs),
      now: () => this.answer(false, () => this.machine.nowMs),
    };
  }

  /** Goes on to just before its next access. */
  step(): void {
    this.at = 0;
    this.mayStep = true;
    try {
      this.body(this);
      this.isDone = true;
    } catch (error) {
      if (error !== PAUSE) throw error;
    }
  }

  /** Something that happens once and not at every repetition; takes no time. */
  once(run: () => unknown): number {
    return this.answer(false, () => Number(run() ?? 0));
  }

  /** The answer of one access. Only a point is a place where others may come between. */
  answer(isPoint: boolean, perform: () => number): number {
    const { log } = this;
    if (this.at < log.length) return log[this.at++] as number;
    if (isPoint) {
      if (!this.mayStep) throw PAUSE;
      this.mayStep = false;
    }
    const result = perform();
    log.push(result);
    this.at++;
    return result;
  }

  private wait(words: Int32Array, index: number, value: number, timeoutMs: number): void {
    const target = this.machine.targetOf(words) as Int32Array;
    this.answer(true, () => {
      if (target[index] !== value) return 0;
      this.sleep = new SleepingWord(target, index, this.machine.nowMs + timeoutMs);
      this.machine.sleepers.push(this);
      this.machine.sleeps++;
      throw PAUSE;
    });
  }

  /** Ends the sleep: what `wait` answers is known now. */
  wake(): void {
    assert(this.sleep !== null, "a thread is woken that does not sleep");
    this.sleep = null;
    this.log.push(1);
  }
}

export type Scheduler = {
  /** Which of `options` goes on; `isForced` unless the last one to go could do so again, as 0. */
  choose(options: number, isForced: boolean): number;
  /** Milliseconds that pass before the next step; 0 mostly. */
  pause(): number;
};

export type MachineOptions = {
  bodies: readonly Body[];
  scheduler: Scheduler;
  fault?: Fault;
  /** More steps than this are a fault: the threads go round and round. */
  stepsMax?: number;
  /** False for words of which the order does not matter. */
  isPoint?: (words: Words, index: number) => boolean;
};

const STEPS_MAX = 20_000;

export class Machine {
  nowMs = 0;
  steps = 0;
  /** How often a thread fell asleep. */
  sleeps = 0;
  readonly threads: StepThread[];
  /** In the order in which they fell asleep. */
  readonly sleepers: StepThread[] = [];
  private readonly options: MachineOptions;
  private readonly targets: WeakMap<object, Words> = new WeakMap();
  private running: StepThread | null = null;

  constructor(options: MachineOptions) {
    this.options = options;
    this.threads = options.bodies.map((body, id) => new StepThread(this, id, body));
  }

  /** The words as threads must see them. */
  shared<T extends Words>(words: T): T {
    const proxy = new Proxy(words, {
      get: (target, key) => {
        const index = indexOf(key);
        if (index < 0) return Reflect.get(target, key) as unknown;
        return this.access({ kind: "read", words: target, index, a: 0, b: 0 });
      },
      set: (target, key, value) => {
        const index = indexOf(key);
        assert(index >= 0, "a property of shared words is set");
        this.access({ kind: "write", words: target, index, a: value as number, b: 0 });
        return true;
      },
    });
    this.targets.set(proxy, words);
    return proxy;
  }

  targetOf(words: Words): Words {
    return this.targets.get(words) ?? words;
  }

  /** Runs all threads to their ends. Throws when they cannot go on. */
  run(): void {
    const restore = replaceAtomics((kind, words, index, a, b) =>
      this.access({ kind, words: this.targetOf(words), index, a, b }),
    );
    try {
      let last: StepThread | null = null;
      while (this.threads.some((thread) => !thread.isDone)) {
        assert(
          ++this.steps < (this.options.stepsMax ?? STEPS_MAX),
          "the threads go round and round",
        );
        this.pass(this.options.scheduler.pause());
        const ready = this.ready(last);
        const isForced = last === null || ready[0] !== last;
        const choice =
          ready.length === 1 ? 0 : this.options.scheduler.choose(ready.length, isForced);
        last = ready[choice] as StepThread;
        this.running = last;
        last.step();
        this.running = null;
      }
    } finally {
      this.running = null;
      restore();
    }
  }

  /** Those who can go on, the last one to go first. Lets time pass until there is one. */
  private ready(last: StepThread | null): StepThread[] {
    const canGo = (thread: StepThread): boolean => !thread.isDone && thread.sleep === null;
    let ready = this.threads.filter(canGo);
    if (ready.length === 0) {
      const deadline = Math.min(...this.sleepers.map((one) => one.sleep?.deadlineMs as number));
      assert(Number.isFinite(deadline), "all who are left sleep for ever: a wake-up was lost");
      this.pass(deadline - this.nowMs);
      ready = this.threads.filter(canGo);
    }
    if (last !== null && ready.includes(last)) {
      return [last, ...ready.filter((thread) => thread !== last)];
    }
    return ready;
  }

  private pass(ms: number): void {
    this.nowMs += ms;
    for (const thread of [...this.sleepers]) {
      if ((thread.sleep?.deadlineMs as number) <= this.nowMs) this.wake(thread);
    }
  }

  private wake(thread: StepThread): void {
    this.sleepers.splice(this.sleepers.indexOf(thread), 1);
    thread.wake();
  }

  private access(access: Access): number {
    const { running, options } = this;
    if (running === null) return this.perform(access);
    const isPoint = options.isPoint?.(access.words, access.index) ?? true;
    const fault = options.fault?.(access);
    if (fault === "torn") return this.tear(running, access);
    const perform = (): number => (fault === undefined ? this.perform(access) : fault.answer);
    return running.answer(isPoint, perform);
  }

  /** A read-modify-write in two steps. */
  private tear(running: StepThread, access: Access): number {
    const { words, index, a, b } = access;
    const before = running.answer(true, () => words[index] as number);
    if (access.kind === "compareExchange" && before !== a) return before;
    const after = access.kind === "compareExchange" ? b : changed(access, before);
    running.answer(true, () => (words[index] = after));
    return before;
  }

  private perform(access: Access): number {
    const { kind, words, index, a, b } = access;
    const before = words[index] as number;
    switch (kind) {
      case "read":
      case "load":
        return before;
      case "compareExchange":
        if (before === a) words[index] = b;
        return before;
      case "notify":
        return this.notify(words, index, a);
      default:
        words[index] = changed(access, before);
        return before;
    }
  }

  private notify(words: Words, index: number, most: number): number {
    let woken = 0;
    for (const thread of [...this.sleepers]) {
      if (woken === most) break;
      if (thread.sleep?.words !== words || thread.sleep.index !== index) continue;
      this.wake(thread);
      woken++;
    }
    return woken;
  }
}

function changed({ kind, a }: Access, before: number): number {
  switch (kind) {
    case "add":
      return before + a;
    case "sub":
      return before - a;
    case "or":
      return before | a;
    case "and":
      return before & a;
    default:
      return a;
  }
}

function indexOf(key: string | symbol): number {
  return typeof key === "string" && /^\d+$/.test(key) ? Number(key) : -1;
}

type Hook = (kind: Access["kind"], words: Words, index: number, a: number, b: number) => number;

/** Puts a hook in the place of the methods of Atomics. Returns what puts them back. */
function replaceAtomics(hook: Hook): () => void {
  const kinds = [
    "load",
    "store",
    "add",
    "sub",
    "or",
    "and",
    "exchange",
    "compareExchange",
  ] as const;
  const table = Atomics as unknown as Record<string, unknown>;
  const originals = new Map<string, unknown>();
  for (const kind of kinds) {
    originals.set(kind, table[kind]);
    table[kind] = (words: Int32Array, index: number, a = 0, b = 0): number => {
      const result = hook(kind, words, index, a, b);
      return kind === "store" ? a : result;
    };
  }
  originals.set("notify", table["notify"]);
  table["notify"] = (words: Int32Array, index: number, most = Number.POSITIVE_INFINITY): number =>
    hook("notify", words, index, most, 0);
  return () => {
    for (const [name, original] of originals) table[name] = original;
  };
}
