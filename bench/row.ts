/** What every row of the bench is: a name, its own defaults, and a function that fills a table. */
import type { Options } from "./options.ts";
import type { Table } from "./table.ts";

export interface Row {
  readonly name: string;
  readonly summary: string;
  /** Where this row's defaults differ from the common ones; options and smoke win over them. */
  readonly defaults: Partial<Options>;
  run(options: Options): Promise<Table>;
}

/** One line about what is going on, to stderr so that stdout holds the tables only. */
export function progress(text: string): void {
  process.stderr.write(`... ${text}\n`);
}
