/**
 * The files the published package consists of, and what package.json must say about them.
 *
 * Each entry whose source exists becomes one bundle, `dist/<name>.js` or `.cjs`. Nothing else is
 * published but the declarations of the entries that can be imported, so this table, `bin` and
 * `exports` say the same; `manifestProblems` compares them and both `build` and `tidy` refuse a
 * difference.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";

export type Entry = {
  /** Base name of the bundle. */
  readonly name: string;
  readonly source: string;
  /** Name of the executable, when this is one. */
  readonly bin?: string;
  /** Loaded by us alone, as CommonJS: Node's loader of modules takes a tenth of a thread's start. */
  readonly commonJs?: boolean;
  /** The packages it imports go into the bundle, so that the published package needs none. */
  readonly bundles?: boolean;
  /** Subpath users import, when this can be imported. */
  readonly subpath?: string;
};

const ENTRIES: readonly Entry[] = [
  { name: "main", source: "src/main.ts", bin: "zerohop" },
  { name: "thread", source: "src/thread.ts", commonJs: true },
  { name: "admin", source: "src/admin.ts", bundles: true },
  { name: "index", source: "src/index.ts", subpath: "." },
];

/** The part of package.json that is looked at here. */
export type Manifest = {
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

export function presentEntries(root: string): readonly Entry[] {
  return ENTRIES.filter((entry) => existsSync(join(root, entry.source)));
}

/** Where the declarations of an importable entry are written. */
export function declarationPath(entry: Entry): string {
  return `./dist/types/${entry.source.slice("src/".length).replace(/\.ts$/, ".d.ts")}`;
}

function expectedExports(entries: readonly Entry[]): Record<string, unknown> {
  const exports: Record<string, unknown> = {};
  for (const entry of entries) {
    if (entry.subpath !== undefined) {
      exports[entry.subpath] = {
        types: declarationPath(entry),
        default: `./dist/${entry.name}.js`,
      };
    }
  }
  exports["./package.json"] = "./package.json";
  return exports;
}

/** What is wrong with package.json, one sentence each with the remedy; empty when nothing is. */
export function manifestProblems(manifest: Manifest, entries: readonly Entry[]): string[] {
  const problems: string[] = [];
  const wanted = JSON.stringify(expectedExports(entries));
  if (JSON.stringify(manifest.exports) !== wanted) {
    problems.push(`"exports" must be ${wanted} for the entries of scripts/entries.ts that exist`);
  }
  for (const entry of ENTRIES) {
    const target = `dist/${entry.name}.js`;
    if (entry.bin !== undefined && manifest.bin?.[entry.bin] !== target) {
      problems.push(`"bin" must map ${entry.bin} to ${target}`);
    }
  }
  for (const group of [manifest.dependencies, manifest.devDependencies]) {
    for (const [name, version] of Object.entries(group ?? {})) {
      if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) {
        problems.push(`${name} ${version}: write the exact version`);
      }
    }
  }
  return problems;
}
