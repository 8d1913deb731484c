/**
 * The page of all metrics in one of the two text formats. Values are read from the figures when the
 * page is made, by the collectors of prom-client, which checks names and writes the text.
 */
import {
  Counter,
  Gauge,
  type OpenMetricsContentType,
  type PrometheusContentType,
  Registry,
} from "prom-client";
import { commandMetrics } from "./command-metrics.ts";
import type { Figures } from "./figures.ts";
import { KEYSPACE_ROWS } from "./keyspace-metrics.ts";
import type { Metric } from "./metric.ts";
import { MEMORY_ROWS, PROCESS_ROWS } from "./process-metrics.ts";
import { STAT_ROWS } from "./stat-metrics.ts";

export type MetricFamily = { readonly title: string; readonly metrics: readonly Metric[] };

/** Every metric there is, in the order of the page. */
export function metricFamilies(): readonly MetricFamily[] {
  return [
    { title: "Process", metrics: PROCESS_ROWS },
    { title: "Connections, commands, locks", metrics: STAT_ROWS },
    { title: "Commands", metrics: commandMetrics() },
    { title: "Memory", metrics: MEMORY_ROWS },
    { title: "Keys", metrics: KEYSPACE_ROWS },
  ];
}

export type Format = "prometheus" | "openmetrics";

type AnyRegistry = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;

export class MetricsPage {
  readonly contentType: string;
  private readonly figures: Figures;
  private readonly registry: AnyRegistry;
  private pending: Promise<string> | null = null;

  constructor(figures: Figures, format: Format) {
    this.figures = figures;
    this.registry = format === "openmetrics" ? openMetricsRegistry() : new Registry();
    this.contentType = this.registry.contentType;
    for (const { metrics } of metricFamilies()) {
      for (const metric of metrics) register(metric, figures, this.registry);
    }
  }

  /** The text. Requests that come while one is being made get the same. */
  text(): Promise<string> {
    this.pending ??= this.make().finally(() => {
      this.pending = null;
    });
    return this.pending;
  }

  private make(): Promise<string> {
    this.figures.refresh();
    return this.registry.metrics();
  }
}

function openMetricsRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}

function register(metric: Metric, figures: Figures, registry: AnyRegistry): void {
  const { name, help } = metric;
  const labelNames = [...metric.labels];
  const registers = [registry];
  // A collector of prom-client only adds to a counter: it begins at 0 for each page.
  if (metric.type === "counter") {
    const collect = (): void => {
      counter.reset();
      metric.read(figures, (labels, value) => counter.inc({ ...labels }, value));
    };
    const counter = new Counter({ name, help, labelNames, registers, collect });
  } else {
    const collect = (): void => {
      gauge.reset();
      metric.read(figures, (labels, value) => gauge.set({ ...labels }, value));
    };
    const gauge = new Gauge({ name, help, labelNames, registers, collect });
  }
}
