/**
 * Who takes the next step in a step machine: by chance from a seed, or every order there is with at
 * most so many preemptions.
 */
import { Random } from "../../src/base/random.ts";
import type { Scheduler } from "./machine.ts";

/** Chances by which a thread goes on for another step; one is drawn for each run. */
const STICKINESS = [0, 0.5, 0.8, 0.95];
/** Chances that time passes before a step, and how much. */
const PAUSES = [0, 0.01, 0.1];
const PAUSE_MS = [0.05, 0.35, 5];

/** `given` is the chance by which a thread goes on, and that time passes. */
export function randomScheduler(
  seed: number | string,
  given?: { readonly stickiness: number; readonly pauses: number },
): Scheduler {
  const random = new Random(seed);
  const stickiness = given?.stickiness ?? random.pick(STICKINESS);
  const pauses = given?.pauses ?? random.pick(PAUSES);
  return {
    choose: (options, isForced) => {
      if (!isForced && random.chance(stickiness)) return 0;
      return random.below(options);
    },
    pause: () => (random.chance(pauses) ? random.pick(PAUSE_MS) : 0),
  };
}

type Choice = { chosen: number; options: number; isForced: boolean };

/**
 * Calls `run` with a scheduler for every order of steps in which a thread that could go on is
 * stopped at most `preemptions` times. Returns how many orders those were.
 */
export function everyOrder(preemptions: number, run: (scheduler: Scheduler) => void): number {
  let path: Choice[] = [];
  let orders = 0;
  do {
    let at = 0;
    let left = preemptions;
    run({
      choose: (options, isForced) => {
        const known = path[at];
        const choice = known ?? {
          chosen: 0,
          options: isForced || left > 0 ? options : 1,
          isForced,
        };
        if (known === undefined) path.push(choice);
        at++;
        if (!isForced && choice.chosen > 0) left--;
        return choice.chosen;
      },
      pause: () => 0,
    });
    orders++;
    path = nextPath(path);
  } while (path.length > 0);
  return orders;
}

/** The path that follows in the order of a depth-first search; empty at the end. */
function nextPath(path: Choice[]): Choice[] {
  const next = [...path];
  for (let last = next.pop(); last !== undefined; last = next.pop()) {
    if (last.chosen + 1 >= last.options) continue;
    next.push({ ...last, chosen: last.chosen + 1 });
    return next;
  }
  return next;
}
