/**
 * The notation of the corpora. A corpus is text; a paragraph is a case, which starts with an empty
 * keyspace; a line is a command, in the quoting of redis-cli:
 *
 *   # Overwriting drops the expiry.          a comment directly above a case names it
 *   SET k "a b\x00" EX 100
 *   2> GET k                                 on the case's second connection
 *   CLIENT KILL ID <id:2>                    the id of the second connection, per server
 *   CLIENT KILL <addr:2>                     its address as the server sees it
 */

export type Step = { connection: number; args: string[]; line: string };

export type Case = { name: string; steps: Step[] };

/** Commands that read or change the state of their connection, so that it matters which it is. */
const CONNECTION_COMMANDS = new Set(["SELECT", "HELLO", "CLIENT", "RESET", "QUIT", "AUTH"]);

export function parseCorpus(title: string, text: string): Case[] {
  const cases: Case[] = [];
  for (const paragraph of text.split(/\n[ \t]*\n/)) {
    const lines = paragraph.split("\n").map((line) => line.trim());
    const comments = lines.filter((line) => line.startsWith("#")).map((line) => line.slice(2));
    const steps = lines.filter((line) => line !== "" && !line.startsWith("#")).map(parseStep);
    if (steps.length === 0) continue;
    const name = comments.length > 0 ? comments.join(" ") : (steps[0] as Step).line;
    cases.push({ name: `${title}: ${name}`, steps });
  }
  if (cases.length === 0) throw new Error(`corpus ${title} has no cases`);
  return cases;
}

/** True if every command may as well come over a connection of its own. */
export function isStateless(one: Case): boolean {
  return one.steps.every(
    (step) => step.connection === 1 && !CONNECTION_COMMANDS.has(commandName(step)),
  );
}

export function connectionCount(one: Case): number {
  return Math.max(...one.steps.map((step) => step.connection));
}

/** The command in upper case, for rules that look at nothing but its words. */
export function commandLine(step: Step): string {
  return step.args.map((arg) => arg.toUpperCase()).join(" ");
}

function commandName(step: Step): string {
  return (step.args[0] ?? "").toUpperCase();
}

function parseStep(line: string): Step {
  const prefix = /^(\d)> (.*)$/.exec(line);
  const text = prefix?.[2] ?? line;
  return { connection: Number(prefix?.[1] ?? 1), args: splitArguments(text), line };
}

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" };

/** Splits as redis-cli does; the result is one character per byte. */
export function splitArguments(line: string): string[] {
  const args: string[] = [];
  let at = 0;
  while (at < line.length) {
    if (line[at] === " ") {
      at++;
      continue;
    }
    const quote = line[at];
    if (quote !== '"' && quote !== "'") {
      const end = line.indexOf(" ", at);
      args.push(line.slice(at, end < 0 ? line.length : end));
      at = end < 0 ? line.length : end;
      continue;
    }
    const [text, end] = quoted(line, at + 1, quote);
    args.push(text);
    at = end;
  }
  return args;
}

function quoted(line: string, start: number, quote: string): [string, number] {
  let text = "";
  let at = start;
  for (;;) {
    const char = line[at];
    if (char === undefined) throw new Error(`unbalanced quotes: ${line}`);
    if (char === quote) return [text, at + 1];
    if (char !== "\\" || quote === "'") {
      text += char;
      at++;
      continue;
    }
    const next = line[at + 1] ?? "";
    if (next === "x") {
      text += String.fromCharCode(Number.parseInt(line.slice(at + 2, at + 4), 16));
      at += 4;
    } else {
      text += ESCAPES[next] ?? next;
      at += 2;
    }
  }
}
