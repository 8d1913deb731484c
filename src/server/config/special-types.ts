/**
 * The types that one directive each has: lists with a form of their own, event classes, addresses,
 * a directory. Error texts are Redis's.
 */
import { lowerText } from "../../base/bytes.ts";
import { parseMemory } from "../../base/memory-text.ts";
import { BIND_ADDRESSES_MAX, HOSTNAME_BYTES_MAX, OWNERS_MAX } from "../../limits.ts";
import { cString } from "../../protocol/errors.ts";
import { bad, good, type Parsed, plainLine, type ValueType } from "./directive.ts";
import { quote } from "./quoting.ts";
import { formatMemory, parseInt64, parseStrtoll } from "./value-types.ts";

/** "60 1 30 2": pairs of seconds and changes. */
export const savePoints: ValueType = {
  label: "pairs of seconds and changes, or an empty text",
  several: true,
  parse(words, { current, adding }) {
    if (words.length === 1 && words[0] === "") return good("");
    const numbers = words.map(parseStrtoll);
    const valid = numbers.every((n, i) => n !== null && n >= (i % 2 === 0 ? 1n : 0n));
    if (!valid || numbers.length % 2 !== 0) return bad("Invalid save parameters");
    return good([...(adding && current !== "" ? [current] : []), ...numbers].join(" "));
  },
  rewrite(name, text) {
    if (text === "") return [{ line: `${name} ""`, force: true }];
    const words = text.split(" ");
    const lines = [];
    for (let i = 0; i < words.length; i += 2) {
      lines.push({ line: `${name} ${words[i]} ${words[i + 1]}`, force: true });
    }
    return lines;
  },
};

const BUFFER_CLASSES = ["normal", "slave", "pubsub"];

/** Class name to its place in `BUFFER_CLASSES`, or -1. */
function bufferClass(word: string): number {
  const name = lowerText(word);
  return BUFFER_CLASSES.indexOf(name === "replica" ? "slave" : name);
}

/** "normal 0 0 0 slave ...": only the classes that are named change. */
export const outputBufferLimits: ValueType = {
  label: "class, hard limit, soft limit, seconds, for one or several classes",
  several: true,
  byLength: true,
  parse(words, context) {
    // Redis splits an empty CONFIG SET value into no words at all; nothing changes then.
    const given = words.length === 1 && words[0] === "" ? [] : words.map(cString);
    if (given.length % 4 !== 0) {
      return bad("Wrong number of arguments in buffer limit configuration.");
    }
    const current = context.current.split(" ");
    for (let i = 0; i < given.length; i += 4) {
      const at = bufferClass(given[i] as string);
      if (at < 0) return bad("Invalid client class specified in buffer limit configuration.");
      const hard = parseMemory(given[i + 1] as string);
      const soft = parseMemory(given[i + 2] as string);
      const wide = parseStrtoll(given[i + 3] as string);
      const seconds = wide === null ? -1n : BigInt.asIntN(32, wide);
      if (hard === undefined || soft === undefined || seconds < 0n) {
        return bad("Error in hard, soft or soft_seconds setting in buffer limit configuration.");
      }
      current.splice(at * 4 + 1, 3, `${hard}`, `${soft}`, `${seconds}`);
    }
    return good(current.join(" "));
  },
  rewrite(name, text, standard) {
    const now = text.split(" ");
    const before = standard.split(" ");
    return BUFFER_CLASSES.map((label, i) => {
      const [hard = "0", soft = "0", seconds = "0"] = now.slice(i * 4 + 1, i * 4 + 4);
      const word = label === "slave" ? "replica" : label;
      const limits = `${formatMemory(BigInt(hard))} ${formatMemory(BigInt(soft))} ${seconds}`;
      const old = before.slice(i * 4 + 1, i * 4 + 4).join(" ");
      return { line: `${name} ${word} ${limits}`, force: old !== `${hard} ${soft} ${seconds}` };
    });
  },
};

export const bindAddresses: ValueType = {
  label: `up to ${BIND_ADDRESSES_MAX} addresses; one after "-" may be missing`,
  several: true,
  byLength: true,
  parse(words) {
    const addresses = words.length === 1 && words[0] === "" ? [] : words.map(cString);
    if (addresses.length > BIND_ADDRESSES_MAX) return bad("Too many bind addresses specified.");
    // Redis has a name to look up here that is not one.
    if (addresses.includes("")) return bad("Failed to bind to specified addresses.");
    return good(addresses.join(" "));
  },
  rewrite(name, text, standard) {
    if (text === standard) return [];
    return [{ line: `${name} ${text === "" ? '""' : text}`, force: true }];
  },
};

/** Scores of the kernel's out-of-memory killer for a master, a replica and a child. */
export const oomScores: ValueType = {
  label: "three integers, -2000 to 2000",
  several: true,
  parse(words) {
    if (words.length !== 3) return bad("wrong number of arguments");
    const values = words.map(parseStrtoll);
    if (!values.every((value) => value !== null && value >= -2000n && value <= 2000n)) {
      return bad("Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
    }
    return good(values.join(" "));
  },
  rewrite: plainLine,
};

/** What "A" stands for, in the order CONFIG GET shows; K, E and m come after. */
const EVENT_CLASSES = "g$lshzxetd";

/** CONFIG GET's form of event classes, or null if a character is none. */
export function eventClasses(text: string): string | null {
  if (!/^[Ag$lshzxeKEtmdn]*$/.test(text)) return null;
  const has = (class_: string): boolean => text.includes(class_);
  const all = has("A") || [...EVENT_CLASSES].every(has);
  const named = [...`${EVENT_CLASSES}n`].filter(has).join("");
  return (all ? "A" : named) + [..."KEm"].filter(has).join("");
}

export const keyspaceEvents: ValueType = {
  label: "classes of events: any of Ag$lshzxeKEtmdn",
  several: false,
  parse([word = ""]) {
    const classes = eventClasses(word);
    if (classes !== null) return good(classes);
    return bad("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
  },
  rewrite(name, text) {
    return [{ line: `${name} ${quote(text)}`, force: text !== "" }];
  },
};

/** "99.9" of "99.900": as %f with its trailing zeros cut off. */
function trimmedFixed(value: number): string {
  return value.toFixed(6).replace(/\.?0+$/, "");
}

export const percentiles: ValueType = {
  label: "numbers, 0 to 100, or an empty text",
  several: true,
  byLength: true,
  parse(words) {
    const given = words.length === 1 && words[0] === "" ? [] : words;
    const shown: string[] = [];
    for (const word of given) {
      if (!/^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i.test(word)) {
        return bad("Invalid latency-tracking-info-percentiles parameters");
      }
      const value = Number(word);
      if (value < 0 || value > 100) {
        return bad("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]");
      }
      shown.push(trimmedFixed(value));
    }
    return good(shown.join(" "));
  },
  rewrite(name, text) {
    return [{ line: `${name} ${text === "" ? '""' : text}`, force: true }];
  },
};

export const masterAddress: ValueType = {
  label: "host and port, or no one",
  several: true,
  parse(words) {
    const [host = "", port = ""] = words;
    if (words.length !== 2) return bad("wrong number of arguments");
    if (lowerText(host) === "no" && lowerText(port) === "one") return good("");
    const number = parseStrtoll(port);
    if (number === null || number < 0n || number > 65535n) return bad("Invalid master port");
    return good(`${host} ${number}`);
  },
  rewrite(name, text) {
    return text === "" ? [] : [{ line: `${name} ${text}`, force: true }];
  },
};

/** Kept as an absolute path, as Redis does by changing into it. */
export const directory: ValueType = {
  label: "path of a directory",
  several: false,
  parse([word = ""], context) {
    const path = context.resolve(word);
    const error = context.directoryError(path);
    return error === null ? good(path) : bad(error, path);
  },
  rewrite(name, text) {
    return [{ line: `${name} ${quote(text)}`, force: true }];
  },
};

export const ownerCount: ValueType = {
  label: `no, yes, or 1 to ${OWNERS_MAX}`,
  several: false,
  parse([word = ""]): Parsed {
    const text = lowerText(word);
    if (text === "yes" || text === "no") return good(text);
    const count = parseInt64(text);
    if (count !== null && count >= 1n && count <= BigInt(OWNERS_MAX)) return good(text);
    return bad(`argument must be 'yes', 'no' or between 1 and ${OWNERS_MAX} inclusive`);
  },
  rewrite: plainLine,
};

export function hostnameError(text: string): string | null {
  if (text.length >= HOSTNAME_BYTES_MAX) {
    return `Hostnames must be less than ${HOSTNAME_BYTES_MAX} characters`;
  }
  if (/^[A-Za-z0-9.-]*$/.test(text)) return null;
  return "Hostnames may only contain alphanumeric characters, hyphens or dots";
}

/** A member of a quorum. */
export function memberNameError(text: string): string | null {
  if (/^[A-Za-z0-9._-]{0,32}$/.test(text)) return null;
  return "argument must be 1 to 32 letters, digits, dots, hyphens or underscores";
}

export function nodeNameError(text: string): string | null {
  if (!/[!#$%&()*+:;<>?@[\]^{|}~]/.test(text)) return null;
  return "Announced human node name contained invalid character";
}

/** A file's name alone: Redis refuses a path where it puts the file into `dir` itself. */
export function fileNameError(what: string, kind: string, mayBeEmpty: boolean) {
  return (text: string): string | null => {
    if (text === "" && !mayBeEmpty) return `${what} can't be empty`;
    if (text.includes("/") || text.includes("\\")) return `${what} can't be a path, just a ${kind}`;
    return null;
  };
}

const TITLE_VARIABLES = new Set([
  "title",
  "listen-addr",
  "server-mode",
  "config-file",
  "port",
  "tls-port",
  "unixsocket",
]);

/** `{name}` is a variable, `{{` a brace; what is left must not be empty. */
export function titleTemplateError(text: string): string | null {
  const error = "template format is invalid or contains unknown variables";
  let expanded = text.replace(/\{\{/g, "\x01");
  let sawText = false;
  expanded = expanded.replace(/\{([^}]*)\}/g, (whole, name: string) => {
    if (!TITLE_VARIABLES.has(name)) return whole;
    // Those two can be empty, and only they: no process title may be.
    if (name !== "title" && name !== "server-mode") sawText = true;
    return "";
  });
  if (expanded.includes("{")) return error;
  return sawText || expanded.replace(/ +/g, "") !== "" ? null : error;
}

export function defragError(text: string): string | null {
  if (text !== "yes") return null;
  return (
    "Active defragmentation cannot be enabled: it requires a Redis server compiled with a " +
    "modified Jemalloc like the one shipped by default with the Redis source distribution"
  );
}
