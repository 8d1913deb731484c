/**
 * Row `cpu`: CPU per command and throughput beside redis-server, over commands, pipelines, key
 * counts, value sizes and threads. CPU is what the code costs; throughput is often what the
 * generator can do, so both stand side by side.
 */
import {
  assertFits,
  type Cell,
  type CellOptions,
  type CellResult,
  compare,
  loadKeys,
  measureCell,
  type Target,
  withTargets,
} from "../measure.ts";
import { type BenchCommand, type Options, type PinPlan, pinPlan } from "../options.ts";
import { allowedCores } from "../process-stats.ts";
import { progress, type Row } from "../row.ts";
import { planServer } from "../server.ts";
import { formatCount, formatRatio, formatSummary, type Table } from "../table.ts";
import { keyPrefix } from "../workload.ts";

const NS_PER_US = 1000;

/** Commands that work on the same keys run on the same servers, one load for all of them. */
function commandGroups(commands: readonly BenchCommand[]): BenchCommand[][] {
  const groups = new Map<string, BenchCommand[]>();
  for (const command of commands) {
    const prefix = keyPrefix(command);
    groups.set(prefix, [...(groups.get(prefix) ?? []), command]);
  }
  return [...groups.values()];
}

interface Setting {
  readonly threads: number;
  readonly keys: number;
  readonly valueBytes: number;
  readonly pin: PinPlan;
}

function settings(options: Options): Setting[] {
  const found: Setting[] = [];
  for (const threads of options.threads) {
    const pin = pinPlan(allowedCores(), threads, options.pin);
    for (const keys of options.keys) {
      for (const valueBytes of options.values) {
        assertFits(keys, valueBytes, 2);
        found.push({ threads, keys, valueBytes, pin });
      }
    }
  }
  return found;
}

/** redis-server runs commands on one core, so it gets the first of the server's cores. */
function firstCore(cores: string | undefined): string | undefined {
  return cores?.split(",")[0];
}

async function measureGroup(
  options: Options,
  setting: Setting,
  commands: readonly BenchCommand[],
): Promise<CellResult[]> {
  const { threads, keys, valueBytes, pin } = setting;
  const { generator, pairs, seconds, connections } = options;
  const cellOptions: CellOptions = { generator, pairs, seconds, pin };
  const plans = [
    planServer(options, options.subject, threads, pin.server),
    planServer(options, "redis-server", 1, firstCore(pin.server)),
  ];
  return withTargets(plans, async ([subject, peer]) => {
    const both = [subject as Target, peer as Target] as const;
    const common = { keys, valueBytes, threads, connections };
    for (const target of both) {
      await loadKeys(target, { ...common, command: commands[0] as BenchCommand, pipeline: 1 });
    }
    const results: CellResult[] = [];
    for (const command of commands) {
      for (const pipeline of options.pipelines) {
        progress(`${command} P${pipeline}, ${keys} keys, ${valueBytes} bytes, ${threads} threads`);
        const cell: Cell = { ...common, command, pipeline };
        results.push(await measureCell(...both, cell, cellOptions));
      }
    }
    return results;
  });
}

/** Every cell that the options ask for. */
export async function measureCpuGrid(options: Options): Promise<CellResult[]> {
  const results: CellResult[] = [];
  for (const setting of settings(options)) {
    for (const commands of commandGroups(options.commands)) {
      results.push(...(await measureGroup(options, setting, commands)));
    }
  }
  return results;
}

export function cellLabel(cell: Cell): string[] {
  return [
    cell.command,
    String(cell.pipeline),
    formatCount(cell.keys),
    String(cell.valueBytes),
    String(cell.threads),
  ];
}

export const CELL_COLUMNS: readonly string[] = ["command", "P", "keys", "value", "threads"];

function pinNotes(options: Options): string {
  const plans = options.threads.map((threads) => pinPlan(allowedCores(), threads, options.pin));
  return [...new Set(plans.map((plan) => plan.note))].join("; ");
}

export function conditions(options: Options, generator: string): string {
  return (
    `${options.subject} beside redis-server, ${pinNotes(options)}, ${generator}, ` +
    `${options.connections} connections, ${options.pairs} pairs of ${options.seconds} s`
  );
}

export const cpu: Row = {
  name: "cpu",
  summary: "CPU per command and throughput beside redis-server",
  defaults: {},
  async run(options): Promise<Table> {
    const results = await measureCpuGrid(options);
    const rows = results.map((result) => {
      const used = compare(result, (sample) => sample.cpuNs / NS_PER_US);
      const rate = compare(result, (sample) => sample.perSecond / 1000);
      return [
        ...cellLabel(result.cell),
        formatSummary(used.subject),
        formatSummary(used.peer),
        formatRatio(used.ratio),
        formatSummary(rate.subject),
        formatSummary(rate.peer),
        formatRatio(rate.ratio),
      ];
    });
    return {
      title: `cpu: ${conditions(options, options.generator)}`,
      columns: [...CELL_COLUMNS, "us/cmd", "redis us/cmd", "ratio", "k/s", "redis k/s", "ratio"],
      rows,
      notes: [
        "us/cmd: CPU of the server process per command; less is better. Medians, ± (max-min)/median.",
        "ratio: median of the pairs' ratios (least..most). k/s ends where the generator does.",
      ],
    };
  },
};
