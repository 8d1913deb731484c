/**
 * Which of the two text formats a client asks for in its header Accept. Only a client that names
 * OpenMetrics gets it: wildcards mean the older format, which everything reads.
 */

const OPENMETRICS = "application/openmetrics-text";
const PROMETHEUS = "text/plain";
/** The version of OpenMetrics that is written; a client may ask for a later one alone. */
const VERSIONS: ReadonlySet<string> = new Set(["", "0.0.1", "1.0.0"]);

/** True if the header gives OpenMetrics at least the weight of plain text, and some. */
export function prefersOpenMetrics(accept: string): boolean {
  let open = 0;
  let plain = 0;
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((word) => word.trim().toLowerCase());
    const quality = weight(parameters);
    if (type === OPENMETRICS && VERSIONS.has(parameter(parameters, "version"))) {
      open = Math.max(open, quality);
    }
    if (type === PROMETHEUS) plain = Math.max(plain, quality);
  }
  return open > 0 && open >= plain;
}

function parameter(parameters: readonly string[], name: string): string {
  for (const word of parameters) {
    const [key, value = ""] = word.split("=");
    if (key?.trim() === name) return value.trim().replace(/^"|"$/g, "");
  }
  return "";
}

function weight(parameters: readonly string[]): number {
  const text = parameter(parameters, "q");
  if (text === "") return 1;
  const quality = Number(text);
  return quality >= 0 && quality <= 1 ? quality : 0;
}
