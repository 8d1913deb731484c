/**
 * Stands for a program in the commands of the documentation: `node shim.js <name> <arguments>`.
 *
 *   zerohop, npx zerohop, npm start, node dist/main.js
 *       start the server under test in the background, print its log as far as the line that says
 *       it is ready, and leave it running; one that the page started on that port before is ended
 *   npm and its other words
 *       are checked and not run: scripts must exist, packages must be there to be installed
 *   node
 *       shows tests as on a terminal
 *   redis-cli
 *       prints as on a terminal, unless into a pipe; without -p it asks the page's own port 6379
 *
 * Everything else is the real program.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, fstatSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 60_000;
const LOOK_MS = 10;
const READY = "Ready to accept connections";

/** What the pages' runner says of itself; see workshop.ts. */
const world = {
  main: setting("MAIN"),
  root: setting("ROOT"),
  state: setting("STATE"),
  /** Stands for port 6379. */
  port: setting("PORT"),
  path: setting("PATH"),
};

function setting(name: string): string {
  const value = process.env[`DOCS_${name}`];
  if (value === undefined) throw new Error(`DOCS_${name} is not set`);
  return value;
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** Runs the real program in this one's place. */
function real(name: string, words: readonly string[]): never {
  const env = { ...process.env, PATH: world.path };
  const run = spawnSync(name, words, { stdio: "inherit", env });
  if (run.error !== undefined) fail(`${name}: ${run.error.message}`);
  process.exit(run.status ?? 1);
}

type Started = { pid: number; port: string };

function startedServers(): Started[] {
  return readdirSync(world.state)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(path.join(world.state, name), "utf8")) as Started);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: it has ended.
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_LIMIT_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline) fail(`server ${pid} does not end`);
    await delay(LOOK_MS);
  }
}

/** Which port the words, or the file that they begin with, ask for. */
function portOf(words: readonly string[]): string {
  const at = words.indexOf("--port");
  if (at >= 0) return words[at + 1] ?? "";
  const file = words[0] === undefined || words[0].startsWith("-") ? "" : readFileSync(words[0]);
  return /^port (\S+)/m.exec(String(file))?.[1] ?? world.port;
}

async function startServer(words: readonly string[]): Promise<void> {
  const port = portOf(words);
  for (const server of startedServers()) {
    if (server.port !== port || !isAlive(server.pid)) continue;
    process.kill(server.pid, "SIGTERM");
    await untilGone(server.pid);
  }
  const log = path.join(world.state, `${process.pid}.log`);
  const file = openSync(log, "a");
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: world.path };
  if (port === world.port) env["ZEROHOP_PORT"] = port;
  const child = spawn(process.execPath, [world.main, ...words], {
    detached: true,
    env,
    stdio: ["ignore", file, file],
  });
  let exit: number | null = null;
  child.on("exit", (code) => {
    exit = code ?? 1;
  });
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const text = readFileSync(log, "utf8");
    const ready = text.indexOf(READY);
    const end = ready < 0 ? -1 : text.indexOf("\n", ready);
    if (end >= 0) {
      const started: Started = { pid: child.pid as number, port };
      writeFileSync(path.join(world.state, `${process.pid}.json`), JSON.stringify(started));
      process.stdout.write(text.slice(0, end + 1));
      child.unref();
      process.exit(0);
    }
    if (exit !== null) {
      process.stdout.write(text);
      process.exit(exit);
    }
    if (Date.now() > deadline) {
      child.kill("SIGKILL");
      fail(`the server is not ready after ${START_LIMIT_MS} ms:\n${text}`);
    }
    await delay(LOOK_MS);
  }
}

type Manifest = { version: string; name: string; scripts?: Record<string, string> };

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
}

function checkScript(name: string): void {
  const scripts = { ...manifest(world.root).scripts, ...manifest(process.cwd()).scripts };
  if (scripts[name] === undefined) fail(`npm run ${name}: there is no such script`);
}

/** `npm install` of the package itself, or of what this checkout has. */
function checkInstall(words: readonly string[]): void {
  const { name, version } = manifest(world.root);
  for (const word of words.filter((each) => !each.startsWith("-"))) {
    const tarball = path.basename(word) === `${name}-${version}.tgz`;
    const folder = path.join("node_modules", word.replace(/(.)@.*/, "$1"));
    if (!tarball && !existsSync(folder))
      fail(`npm install ${word}: this checkout has no such package`);
  }
}

async function npm(words: readonly string[]): Promise<void> {
  const [verb = "", ...rest] = words;
  switch (verb) {
    case "start":
      return startServer(rest[0] === "--" ? rest.slice(1) : []);
    case "test":
      return checkScript("test");
    case "run":
      return checkScript(rest[0] ?? "");
    case "install":
      return checkInstall(rest);
    case "ci":
    case "init":
    case "pack":
    case "pkg":
      return;
    default:
      fail(`npm ${verb}: unknown to test/docs/shim.ts`);
  }
}

function redisCli(words: readonly string[]): never {
  const own = words.some((word) => word === "-p" || word === "-s");
  // The block's own output is a file.
  const asTerminal = fstatSync(1).isFIFO() ? [] : ["--no-raw"];
  real("redis-cli", [...asTerminal, ...(own ? [] : ["-p", world.port]), ...words]);
}

/** Node shows a test run in another way where there is no terminal. */
function testWords(words: readonly string[]): string[] {
  return ["--test", "--test-reporter=spec", ...words.slice(1)];
}

async function main([name = "", ...words]: readonly string[]): Promise<void> {
  if (name === "zerohop") return startServer(words);
  if (name === "npx" && words[0] === "zerohop") return startServer(words.slice(1));
  if (name === "node" && words[0] === "dist/main.js") return startServer(words.slice(1));
  if (name === "npm") return npm(words);
  if (name === "redis-cli") redisCli(words);
  if (name === "node") real(process.execPath, words[0] === "--test" ? testWords(words) : words);
  fail(`${name} ${words.join(" ")}: unknown to test/docs/shim.ts`);
}

await main(process.argv.slice(2));
