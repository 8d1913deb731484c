/**
 * The other side of the gate: the merge-base of HEAD and a given revision, checked out into a
 * worktree of its own and built there by its own build script.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "./options.ts";
import { progress } from "./row.ts";

export interface Ran {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

function runTool(cwd: string, command: string, ...args: readonly string[]): Ran {
  const ran = spawnSync(command, args, { cwd, encoding: "utf8", maxBuffer: 1 << 26 });
  return { ok: ran.status === 0, stdout: ran.stdout ?? "", stderr: ran.stderr ?? "" };
}

/** What stands against head: a built entry, or the reason why there is none. */
export type Base =
  | {
      readonly kind: "built";
      readonly commit: string;
      readonly entry: string;
      readonly budgets: string | undefined;
    }
  | { readonly kind: "none"; readonly reason: string };

/** The merge-base, or why there is nothing to compare with. An unknown revision is refused. */
function findMergeBase(root: string, revision: string): { commit: string } | string {
  const named = runTool(root, "git", "rev-parse", "--verify", "--quiet", `${revision}^{commit}`);
  if (!named.ok) throw new UsageError(`--base: git knows no commit '${revision}'`);
  const merged = runTool(root, "git", "merge-base", named.stdout.trim(), "HEAD");
  if (!merged.ok) return `${revision} and HEAD have no common commit`;
  const commit = merged.stdout.trim();
  const head = runTool(root, "git", "rev-parse", "HEAD").stdout.trim();
  const changed = runTool(root, "git", "status", "--porcelain", "--", "src", "package.json");
  if (commit === head && changed.stdout === "") {
    return "the merge-base is HEAD itself and src is unchanged: nothing to compare";
  }
  return { commit };
}

/** The base's dependencies: ours where the lock file is the same, else installed anew. */
function provideModules(root: string, worktree: string): string | undefined {
  const lock = "package-lock.json";
  if (!existsSync(join(worktree, lock))) return "it has no package-lock.json";
  if (readFileSync(join(root, lock)).equals(readFileSync(join(worktree, lock)))) {
    symlinkSync(join(root, "node_modules"), join(worktree, "node_modules"));
    return undefined;
  }
  progress("gate: npm ci for the base");
  const installed = runTool(worktree, "npm", "ci", "--no-audit", "--no-fund");
  return installed.ok ? undefined : `npm ci failed there: ${installed.stderr.slice(-500)}`;
}

function build(root: string, commit: string, worktree: string): Base {
  const added = runTool(root, "git", "worktree", "add", "--detach", worktree, commit);
  if (!added.ok) throw new Error(`git worktree add: ${added.stderr.trim()}`);
  if (!existsSync(join(worktree, "src", "main.ts"))) {
    return { kind: "none", reason: `${commit.slice(0, 12)} has no server yet` };
  }
  const missing = provideModules(root, worktree);
  if (missing !== undefined) return { kind: "none", reason: missing };
  progress("gate: build the base");
  const built = runTool(worktree, "npm", "run", "--silent", "build", "--", "--bundles");
  const entry = join(worktree, "dist", "main.js");
  if (!built.ok || !existsSync(entry)) {
    return { kind: "none", reason: `it does not build: ${built.stderr.trim().slice(-500)}` };
  }
  const budgets = join(worktree, "bench", "budgets.json");
  const text = existsSync(budgets) ? readFileSync(budgets, "utf8") : undefined;
  return { kind: "built", commit, entry, budgets: text };
}

/** Builds the base, hands it to `use`, and removes the worktree whatever happens. */
export async function withBase<T>(
  root: string,
  revision: string,
  use: (base: Base) => Promise<T>,
): Promise<T> {
  const found = findMergeBase(root, revision);
  if (typeof found === "string") return use({ kind: "none", reason: found });
  const folder = mkdtempSync(join(tmpdir(), "zerohop-base-"));
  const worktree = join(folder, "tree");
  const clean = (): void => {
    runTool(root, "git", "worktree", "remove", "--force", worktree);
    rmSync(folder, { recursive: true, force: true });
    runTool(root, "git", "worktree", "prune");
  };
  // An interrupt exits without coming back here.
  process.once("exit", clean);
  try {
    return await use(build(root, found.commit, worktree));
  } finally {
    process.off("exit", clean);
    clean();
  }
}

/** Builds head, so that the gate never measures a stale `dist`. */
export function buildHead(root: string): string {
  progress("gate: build head");
  const built = runTool(root, "npm", "run", "--silent", "build", "--", "--bundles");
  const entry = join(root, "dist", "main.js");
  if (!built.ok || !existsSync(entry)) {
    throw new Error(`head does not build: ${built.stderr.trim() || "no dist/main.js"}`);
  }
  return entry;
}
