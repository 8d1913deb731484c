/**
 * Files, paths and processors for the configuration. Text is binary: one character per byte.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { getSystemErrorMap } from "node:util";
import { cpuQuota } from "./cgroup.ts";
import { randomHex } from "./entropy.ts";

export type SystemConfigHost = {
  readonly cwd: string;
  readonly parallelism: number;
  resolvePath(base: string, path: string): string;
  directoryError(path: string): string | null;
  readFile(path: string): { ok: true; text: string } | { ok: false; error: string };
  replaceFile(path: string, text: string): string | null;
  readStdin(): { ok: true; text: string } | { ok: false; error: string };
  listDirectory(path: string): readonly string[] | null;
};

const STRERROR: Readonly<Record<string, string>> = {
  ENOENT: "No such file or directory",
  EACCES: "Permission denied",
  EPERM: "Operation not permitted",
  ENOTDIR: "Not a directory",
  EISDIR: "Is a directory",
  ENOSPC: "No space left on device",
  EROFS: "Read-only file system",
  EADDRINUSE: "Address already in use",
  EADDRNOTAVAIL: "Cannot assign requested address",
  ENAMETOOLONG: "File name too long",
  ELOOP: "Too many levels of symbolic links",
  EMFILE: "Too many open files",
};

/** The system's words for an error, as strerror gives them. */
export function errorText(error: unknown): string {
  const { code, errno } = error as { code?: string; errno?: number };
  if (code !== undefined && STRERROR[code] !== undefined) return STRERROR[code];
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return known?.[1] ?? (error instanceof Error ? error.message : String(error));
}

/** A path as the system takes it. */
export function toPath(text: string): string {
  return Buffer.from(text, "latin1").toString("utf8");
}

function fromPath(path: string): string {
  return Buffer.from(path, "utf8").toString("latin1");
}

function attempt<T>(run: () => T): { ok: true; value: T } | { ok: false; error: string } {
  try {
    return { ok: true, value: run() };
  } catch (error) {
    return { ok: false, error: errorText(error) };
  }
}

function readText(
  file: string | number,
): { ok: true; text: string } | { ok: false; error: string } {
  const read = attempt(() => readFileSync(file, "latin1"));
  return read.ok ? { ok: true, text: read.value } : read;
}

/** Writes beside the file, then renames: the file is the old or the new one, never half of it. */
function replaceFile(path: string, text: string): void {
  const target = toPath(path);
  const temporary = `${target}.${randomHex(6)}`;
  const file = openSync(temporary, "wx", 0o644);
  try {
    writeSync(file, text, null, "latin1");
    fsyncSync(file);
  } catch (error) {
    closeSync(file);
    unlinkSync(temporary);
    throw error;
  }
  closeSync(file);
  renameSync(temporary, target);
  const folder = openSync(dirname(target), "r");
  fsyncSync(folder);
  closeSync(folder);
}

export function systemConfigHost(): SystemConfigHost {
  return {
    cwd: fromPath(process.cwd()),
    parallelism: Math.max(1, Math.min(availableParallelism(), Math.ceil(cpuQuota()))),
    resolvePath: (base, path) => fromPath(resolve(toPath(base), toPath(path))),
    directoryError(path) {
      const found = attempt(() => statSync(toPath(path)).isDirectory());
      if (!found.ok) return found.error;
      return found.value ? null : (STRERROR["ENOTDIR"] ?? "");
    },
    readFile: (path) => readText(toPath(path)),
    replaceFile(path, text) {
      const done = attempt(() => replaceFile(path, text));
      return done.ok ? null : done.error;
    },
    readStdin: () => readText(0),
    listDirectory(path) {
      const names = attempt(() => readdirSync(toPath(path)).map(fromPath));
      return names.ok ? names.value : null;
    },
  };
}
