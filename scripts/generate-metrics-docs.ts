/**
 * Writes docs/reference/metrics.md from the metrics of the admin port. With --check it writes
 * nothing and fails if the page is not what they say.
 */
import type { Metric } from "../src/admin/metric.ts";
import { metricFamilies } from "../src/admin/metrics-page.ts";
import { generatePage } from "./generated-page.ts";

export const PAGE = "docs/reference/metrics.md";

const INTRODUCTION = `# Metrics

Generated from \`src/admin/\` by \`npm run docs:metrics\`.

What \`/metrics\` of the [admin port](../operate/metrics.md) shows. Most names are those of
[redis_exporter](https://github.com/oliver006/redis_exporter) with \`zerohop_\` for \`redis_\`. Counters
end in \`_total\` and fall only at a restart; those of commands, connections, errors and locks also
at \`CONFIG RESETSTAT\`.

Labels have few values: \`thread\` and \`shard\` as many as are configured, \`owner\` only with shard
owners, \`db\` those that have keys, \`cmd\` the commands of the server that were called, \`err\` a fixed
list. A sample with a \`thread\` and no \`owner\` is what came by the plain port and the unix socket;
the sum over all samples is the process, and what \`INFO\` on the plain port shows.
`;

export function render(): string {
  const sections = metricFamilies().map(({ title, metrics }) => {
    const head = "| metric | type | labels | meaning |\n|---|---|---|---|";
    return `## ${title}\n\n${head}\n${metrics.map(line).join("\n")}\n`;
  });
  return [INTRODUCTION, ...sections].join("\n");
}

function line({ name, type, labels, help }: Metric): string {
  const shown = labels.map((label) => `\`${label}\``).join(", ");
  return `| \`${name}\` | ${type} | ${shown} | ${help.replaceAll("|", "\\|")} |`;
}

generatePage(import.meta.url, PAGE, render);
