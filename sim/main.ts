/**
 * Runs a simulated world and prints the hash of all that happened in it.
 *
 *   npm run sim -- --seed 7 --steps 20000
 *
 * A fault ends the run with exit code 1 and names the seed and the step.
 */
import { World } from "./world.ts";

const SEED = 1;
const STEPS = 10_000;

function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return fallback;
  const n = Number(process.argv[at + 1]);
  if (!Number.isSafeInteger(n) || n < 0) throw new Error(`--${name} takes a whole number`);
  return n;
}

function main(): void {
  const seed = option("seed", SEED);
  const steps = option("steps", STEPS);
  const world = new World(seed);
  world.run(steps);
  world.finish();
  console.log(`seed ${seed} steps ${steps} hash ${world.hash()} replies ${world.replies}`);
}

try {
  main();
} catch (error) {
  console.error(`sim: ${(error as Error).message}`);
  process.exitCode = 1;
}
