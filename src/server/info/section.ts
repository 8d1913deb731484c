/**
 * What INFO is made of: sections of entries, each an entry with the sentence that the reference has
 * about it. An entry is one field, or a family of lines whose names depend on what there is.
 */
import type { InfoView } from "./view.ts";

export type Field = {
  name: string;
  about: string;
  value(view: InfoView): string | number;
};

export type Family = {
  /** With the changing part in angle brackets: "cmdstat_<command>". */
  name: string;
  about: string;
  /** Whole lines, "name:value". */
  lines(view: InfoView): string[];
};

export type Section = {
  title: string;
  /** What INFO calls it, in lower case. */
  names: readonly string[];
  /** Shown by INFO without arguments. */
  inDefault: boolean;
  /** False: shown only when it is named. */
  inAll?: false;
  about: string;
  entries: readonly (Field | Family)[];
};

export function field(name: string, about: string, value: Field["value"]): Field {
  return { name, about, value };
}

export function family(name: string, about: string, lines: Family["lines"]): Family {
  return { name, about, lines };
}

/** Fields of what does not exist here, with the value that Redis has when nothing of it happens. */
export function idle(about: string, fields: Readonly<Record<string, string | number>>): Field[] {
  return Object.entries(fields).map(([name, value]) => field(name, about, () => value));
}

export function ratio(part: number, whole: number): string {
  return (whole === 0 ? 0 : part / whole).toFixed(2);
}

export function writeSection(section: Section, view: InfoView): string {
  let text = `# ${section.title}\r\n`;
  for (const entry of section.entries) {
    if ("lines" in entry) for (const line of entry.lines(view)) text += `${line}\r\n`;
    else text += `${entry.name}:${entry.value(view)}\r\n`;
  }
  return text;
}
