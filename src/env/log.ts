/**
 * Log lines as redis-server writes them, to standard output or a file, straight from the thread
 * that has something to say:
 *
 *   4711:M 30 Nov 2026 04:22:10.123 * Ready to accept connections
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { toPath } from "./config-host.ts";

export type LogLevel = "debug" | "verbose" | "notice" | "warning" | "nothing";

const LEVELS: readonly LogLevel[] = ["debug", "verbose", "notice", "warning", "nothing"];
const MARKS = ".-*#";
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

export type LogSettings = { logfile: string; logLevel: LogLevel };

/** Appends one line. */
export function writeLog(settings: LogSettings, level: string, text: string): void {
  const rank = LEVELS.indexOf(level as LogLevel);
  if (rank < LEVELS.indexOf(settings.logLevel)) return;
  append(settings, `${process.pid}:M ${timestamp(new Date())} ${MARKS[rank] ?? "*"} ${text}\n`);
}

/** Appends lines as they are, if the log takes notices. */
export function writeLogPicture(settings: LogSettings, lines: string): void {
  if (LEVELS.indexOf("notice") >= LEVELS.indexOf(settings.logLevel)) append(settings, lines);
}

/** The file is opened each time, as Redis does, so that it may be moved away. */
function append(settings: LogSettings, text: string): void {
  if (settings.logfile === "") {
    writeAll(1, text);
    return;
  }
  let file: number;
  try {
    file = openSync(toPath(settings.logfile), "a");
  } catch {
    // Redis goes on without a log that it cannot open.
    return;
  }
  writeAll(file, text);
  closeSync(file);
}

function writeAll(file: number, line: string): void {
  try {
    writeSync(file, line, null, "latin1");
  } catch {
    // A full pipe or disk loses the line, not the server.
  }
}

function timestamp(now: Date): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(":");
  const ms = String(now.getMilliseconds()).padStart(3, "0");
  return `${two(now.getDate())} ${MONTHS[now.getMonth()]} ${now.getFullYear()} ${time}.${ms}`;
}
