/**
 * Where the blocks of one page run: a folder as a user's project would be, with the package and the
 * clients of this checkout installed, ports of its own, and stand-ins for some programs.
 *
 * A page writes ports 7000 to 7099 and 6379. Each stands for a free one; what is printed is turned
 * back before it is compared.
 */
import { spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { executable } from "../support/build.ts";
import { repositoryRoot } from "../support/environment.ts";
import { removeFolder, reservePortBlock, temporaryFolder } from "../support/ports.ts";
import { type Block, fileName } from "./pages.ts";

const BLOCK_LIMIT_MS = 180_000;
const SHOWN_FIRST = 7000;
const SHOWN_PORTS = 100;
const SHOWN_DEFAULT = 6379;

/** Programs that shim.ts stands for. */
const SHIMS: readonly string[] = ["zerohop", "npx", "npm", "node", "redis-cli"];
/** Programs that a page may use; any other needs a mark that it is not run. */
const KNOWN: ReadonlySet<string> = new Set([
  ...SHIMS,
  "node_modules/.bin/zerohop",
  "redis-benchmark",
  "curl",
  "grep",
  "cat",
  "cd",
  "echo",
  "head",
  "mkdir",
  "kill",
]);
/** Packages that programs of the pages may import. */
const PACKAGES: readonly string[] = ["ioredis", "redis"];

export type Outcome = { readonly code: number; readonly printed: string };

export class Workshop {
  readonly folder: string;
  readonly #state: string;
  readonly #bin: string;
  readonly #main: string;
  readonly #firstPort: number;
  #blocks = 0;

  private constructor(main: string, firstPort: number) {
    this.#main = main;
    this.#firstPort = firstPort;
    const root = temporaryFolder();
    this.folder = path.join(root, "project");
    this.#state = path.join(root, "state");
    this.#bin = path.join(root, "bin");
    for (const each of [this.folder, this.#state, this.#bin]) mkdirSync(each);
    this.#makeShims();
    this.#makeProject();
  }

  static async open(): Promise<Workshop> {
    const main = await executable();
    const ports = await reservePortBlock(SHOWN_PORTS + 1);
    await ports.release();
    return new Workshop(main, ports.first);
  }

  #makeShims(): void {
    const shim = path.join(import.meta.dirname, "shim.js");
    for (const name of SHIMS) {
      const script = `#!/bin/sh\nexec '${process.execPath}' '${shim}' ${name} "$@"\n`;
      writeFileSync(path.join(this.#bin, name), script, { mode: 0o755 });
    }
  }

  #makeProject(): void {
    const modules = path.join(this.folder, "node_modules");
    mkdirSync(path.join(modules, ".bin"), { recursive: true });
    symlinkSync(repositoryRoot, path.join(modules, "zerohop"));
    symlinkSync(path.join(this.#bin, "zerohop"), path.join(modules, ".bin", "zerohop"));
    for (const name of PACKAGES) {
      symlinkSync(path.join(repositoryRoot, "node_modules", name), path.join(modules, name));
    }
    const manifest = { name: "project", private: true, type: "module" };
    writeFileSync(path.join(this.folder, "package.json"), JSON.stringify(manifest));
  }

  /** Ports as the page writes them to those of this run. */
  toReal(text: string): string {
    return text.replace(/\b(70\d\d|6379)\b/g, (port) => String(this.#real(Number(port))));
  }

  #real(shown: number): number {
    const place = shown === SHOWN_DEFAULT ? SHOWN_PORTS : shown - SHOWN_FIRST;
    return this.#firstPort + place;
  }

  /** The other way round, for what was printed. */
  toShown(text: string): string {
    return text.replace(/\b\d{4,5}\b/g, (word) => {
      const place = Number(word) - this.#firstPort;
      if (place === SHOWN_PORTS) return String(SHOWN_DEFAULT);
      return place >= 0 && place < SHOWN_PORTS ? String(SHOWN_FIRST + place) : word;
    });
  }

  /** Writes a block that names its file, without running it. */
  write(block: Block, name: string): string {
    const target = path.join(this.folder, name);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, this.toReal(block.text));
    return target;
  }

  async run(block: Block): Promise<Outcome> {
    if (block.language === "sh") {
      const unknown = unknownPrograms(block.text);
      if (unknown.length > 0) {
        throw new Error(
          `unknown to test/docs: ${unknown.join(", ")}; or mark the block as not run`,
        );
      }
      return this.#spawn("bash", ["--norc", "-euo", "pipefail", "-c", this.toReal(block.text)]);
    }
    const name = fileName(block) ?? `block-${++this.#blocks}.${block.language}`;
    const file = this.write(block, name);
    if (/\.test\.[cm]?[jt]s$/.test(name)) {
      return this.#spawn(process.execPath, ["--test", await runnable(file)]);
    }
    return this.#spawn(process.execPath, [await runnable(file)]);
  }

  /** What is printed goes to a file, so that servers in the background hold no pipe of ours. */
  async #spawn(program: string, words: readonly string[]): Promise<Outcome> {
    const outputPath = path.join(this.#state, `output-${++this.#blocks}.txt`);
    const output = openSync(outputPath, "w");
    const child = spawn(program, words, {
      cwd: this.folder,
      env: this.#environment(),
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    const code = await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), BLOCK_LIMIT_MS);
      child.on("error", reject);
      child.on("exit", (exit, signal) => {
        clearTimeout(timer);
        if (signal === "SIGKILL") reject(new Error(`not done in ${BLOCK_LIMIT_MS} ms`));
        else resolve(exit ?? 1);
      });
    });
    return { code, printed: this.toShown(readFileSync(outputPath, "utf8")) };
  }

  #environment(): NodeJS.ProcessEnv {
    const outer = process.env["PATH"] ?? "";
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      PATH: `${this.#bin}${path.delimiter}${outer}`,
      DOCS_MAIN: this.#main,
      DOCS_ROOT: repositoryRoot,
      DOCS_STATE: this.#state,
      DOCS_PORT: String(this.#real(SHOWN_DEFAULT)),
      DOCS_PATH: outer,
    };
    // A program of a page that runs node --test is no part of the run around it.
    delete env["NODE_TEST_CONTEXT"];
    return env;
  }

  /** Ends the servers that are left and removes the folder. */
  async close(): Promise<void> {
    const files = readdirSync(this.#state).filter((name) => name.endsWith(".json"));
    for (const file of files) {
      const { pid } = JSON.parse(readFileSync(path.join(this.#state, file), "utf8")) as {
        pid: number;
      };
      end(pid);
    }
    removeFolder(path.dirname(this.folder));
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ESRCH: the page has ended it itself.
  }
}

/** TypeScript becomes one file that node runs; JavaScript stays as it is. */
async function runnable(file: string): Promise<string> {
  if (!file.endsWith("ts")) return file;
  const outfile = `${file}.mjs`;
  await build({
    bundle: true,
    entryPoints: [file],
    external: ["*.cjs"],
    format: "esm",
    logLevel: "silent",
    outfile,
    packages: "external",
    platform: "node",
    target: "node20.19",
  });
  return outfile;
}

/** The programs of a block that are not in the list. */
function unknownPrograms(text: string): string[] {
  const unknown = new Set<string>();
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    const bare = line.replace(/'[^']*'|"[^"]*"/g, "''").replace(/(^|\s)#.*$/, "");
    for (const command of bare.split(/&&|\|\||[|;&]/)) {
      const word = command.trim().replace(/^(\w+=\S*\s+)+/, "");
      const program = word.split(/\s/)[0] ?? "";
      if (program !== "" && !KNOWN.has(program)) unknown.add(program);
    }
  }
  return [...unknown];
}
