/**
 * What a metric is: a name, a type, a sentence, its labels, and how its samples come from the
 * figures. The page of the admin port and the reference are made from lists of these.
 *
 * Names begin with `zerohop_` and, where redis_exporter has the same figure, go on as it does with
 * `redis_`; those of the process itself have the names that every Prometheus client gives them.
 */
import type { Figures } from "./figures.ts";

/** Values of labels; a label that is left out does not exist for Prometheus. */
export type Labels = Readonly<Record<string, string | number>>;

export type Emit = (labels: Labels, value: number) => void;

export type Metric = {
  readonly name: string;
  /** A counter never falls, but for a restart and CONFIG RESETSTAT. */
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly labels: readonly string[];
  /** Calls `emit` once for each sample. */
  read(figures: Figures, emit: Emit): void;
};

const NONE: Labels = {};

/** A metric with one sample and no labels. */
export function single(
  type: Metric["type"],
  name: string,
  help: string,
  value: (figures: Figures) => number,
): Metric {
  return {
    name,
    type,
    help,
    labels: [],
    read: (figures, emit) => emit(NONE, value(figures)),
  };
}

/** A metric with samples for many things. */
export function many(
  type: Metric["type"],
  name: string,
  help: string,
  labels: readonly string[],
  read: Metric["read"],
): Metric {
  return { name, type, help, labels, read };
}
