/**
 * What LATENCY GRAPH and LATENCY DOCTOR say about the events that were sampled, as text.
 *
 * A graph has a column for each sample: four rows of bars in three heights, an empty row, and then
 * the sample's age written downwards. At most 80 columns stand side by side.
 */
import type { LatencySample, LatencySeries } from "./latency-events.ts";

const COLUMNS = 80;
const ROWS = 4;
/** The top of a bar, lowest first; below it is BAR. */
const TOPS = "_o#";
const BAR = "|";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;

/** The age of a sample in its largest whole unit. */
function age(seconds: number): string {
  if (seconds < MINUTE) return `${seconds}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h`;
  return `${Math.floor(seconds / DAY)}d`;
}

type Column = { height: number; label: string };

/** Character of a column in a row, the top one being row 0. */
function barAt(height: number, row: number): string {
  const above = height - (ROWS - 1 - row) * TOPS.length;
  if (above < 0) return " ";
  return TOPS[above] ?? BAR;
}

function drawn(columns: readonly Column[]): string {
  const lines: string[] = [];
  for (let row = 0; row < ROWS; row++) {
    lines.push(columns.map(({ height }) => barAt(height, row)).join(""));
  }
  lines.push(" ".repeat(columns.length));
  const longest = Math.max(...columns.map(({ label }) => label.length));
  for (let at = 0; at < longest; at++) {
    lines.push(columns.map(({ label }) => label[at] ?? " ").join(""));
  }
  return lines.map((line) => `${line}\n`).join("");
}

export function latencyGraph({ event, maxMs, samples }: LatencySeries, nowSeconds: number): string {
  const lengths = samples.map(({ ms }) => ms);
  const high = Math.max(...lengths);
  const low = Math.min(...lengths);
  const range = Math.max(high - low, 1);
  const steps = ROWS * TOPS.length;
  const columns = samples.map(({ unixSeconds, ms }) => ({
    height: Math.min(Math.floor(((ms - low) * steps) / range), steps - 1),
    label: age(nowSeconds - unixSeconds),
  }));
  const parts: string[] = [];
  for (let at = 0; at < columns.length; at += COLUMNS) {
    parts.push(drawn(columns.slice(at, at + COLUMNS)));
  }
  return (
    `${event} - high ${high} ms, low ${low} ms (all time high ${maxMs} ms)\n` +
    `${"-".repeat(COLUMNS)}\n${parts.join("\n")}`
  );
}

function mean(numbers: readonly number[]): number {
  return Math.floor(numbers.reduce((sum, n) => sum + n, 0) / numbers.length);
}

function summary(series: LatencySeries, nowSeconds: number): string {
  const { event, maxMs, samples } = series;
  const average = mean(samples.map(({ ms }) => ms));
  const deviation = mean(samples.map(({ ms }) => Math.abs(average - ms)));
  const oldest = Math.min(...samples.map(({ unixSeconds }: LatencySample) => unixSeconds));
  const period = Math.max(nowSeconds - oldest, 1) / samples.length;
  return (
    `${event}: ${samples.length} latency spikes (average ${average}ms, mean deviation ` +
    `${deviation}ms, period ${period.toFixed(2)} sec). Worst all time event ${maxMs}ms.`
  );
}

const OFF =
  "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. You " +
  'may use "CONFIG SET latency-monitor-threshold <milliseconds>." in order to enable it. If we ' +
  "weren't in a deep space mission I'd suggest to take a look at " +
  "https://redis.io/topics/latency-monitor.\n";

const NOTHING =
  "Dave, no latency spike was observed during the lifetime of this Redis instance, not in the " +
  "slightest bit. I honestly think you ought to sit down calmly, take a stress pill, and think " +
  "things over.\n";

const FOUND =
  "Dave, I have observed latency spikes in this Redis instance. You don't mind talking about it, " +
  "do you Dave?\n\n";

const INSPECT_SLOW_LOG =
  "Check your Slow Log to understand what are the commands you are running which are too slow to " +
  "execute. Please check https://redis.io/commands/slowlog for more information.";

const SLOW_SYSTEM =
  "The system is slow to execute code paths not containing system calls. This usually means the " +
  "system does not provide CPU time to run for long periods. You should try to:\n" +
  "  1) Lower the system load.\n" +
  "  2) Use a computer / VM just for the server if you are running other software in the same " +
  "system.\n" +
  '  3) Check if you have a "noisy neighbour" problem.\n' +
  "  4) Check with 'redis-cli --intrinsic-latency 100' what is the intrinsic latency in your " +
  "system.\n" +
  "  5) Lower the directive threads if there are fewer processors than that.";

const SLOW_EXPIRY = "Many keys expire in the same moment. Spread their times to live, if you can.";

const SLOW_EVICTION =
  "Sudden changes to the 'maxmemory' setting via 'CONFIG SET', or values that are much larger than " +
  "those before, create sudden memory pressure: keys must be evicted before the command can run.";

export type DoctorSettings = {
  thresholdMs: number;
  slowlogUsec: number;
  slowlogLength: number;
};

function slowLogAdvice({ thresholdMs, slowlogUsec, slowlogLength }: DoctorSettings): string[] {
  const wanted = `'CONFIG SET slowlog-log-slower-than ${thresholdMs * 1000}'`;
  if (slowlogUsec < 0 || slowlogLength === 0) {
    return [
      "There are latency issues with potentially slow commands you are using. Try to enable the " +
        `Slow Log Redis feature using the command ${wanted}. If the Slow log is disabled Redis is ` +
        "not able to log slow commands execution for you.",
    ];
  }
  if (Math.floor(slowlogUsec / 1000) <= thresholdMs) return [];
  return [
    "Your current Slow Log configuration only logs events that are slower than your configured " +
      `latency monitor threshold. Please use ${wanted}.`,
  ];
}

function adviceOn({ event }: LatencySeries, settings: DoctorSettings): string[] {
  switch (event) {
    case "command":
      return [...slowLogAdvice(settings), INSPECT_SLOW_LOG];
    case "fast-command":
      return [SLOW_SYSTEM];
    case "expire-cycle":
      return [SLOW_EXPIRY];
    case "eviction-cycle":
      return [SLOW_EVICTION];
  }
}

/** The report of LATENCY DOCTOR. */
export function latencyReport(
  all: readonly LatencySeries[],
  settings: DoctorSettings,
  nowSeconds: number,
): string {
  if (all.length === 0) return settings.thresholdMs === 0 ? OFF : NOTHING;
  const events = all.map((series, i) => `${i + 1}. ${summary(series, nowSeconds)}\n`);
  const advice = new Set(all.flatMap((series) => adviceOn(series, settings)));
  return (
    `${FOUND}${events.join("")}\nI have a few advices for you:\n\n` +
    [...advice].map((text) => `- ${text}\n`).join("")
  );
}
