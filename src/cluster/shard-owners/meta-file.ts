/**
 * `zerohop.meta` in `dir`: the identity of this process, which must outlive it. Text, one
 * `name value` a line, the checksum last:
 *
 *   format 1
 *   node-id 07c37dfeb235213a872192d90877d0cd55635b91
 *   checksum 0123456789abcdef        CRC64 of everything before this line
 *
 * A file that is there and cannot be read in full stops the start: a new identity would look like
 * another server to everybody who knew the old one. Names that are not known here are left alone.
 */
import { latin1Bytes } from "../../base/bytes.ts";
import { type Crc64, crc64 } from "../../base/crc64.ts";
import { NODE_ID_PATTERN } from "./layout.ts";

export const META_FILE = "zerohop.meta";
const FORMAT = "1";
const CHECKSUM_LINE = /^checksum ([0-9a-f]{16})$/;
const NO_SUCH_FILE = "No such file or directory";

/** What is needed of the system; the text is binary, errors are strerror's words. */
export type MetaHost = {
  resolvePath(base: string, path: string): string;
  readFile(path: string): { ok: true; text: string } | { ok: false; error: string };
  /** Writes beside the file, makes it durable and renames it: null, or the error. */
  replaceFile(path: string, text: string): string | null;
};

export type Meta = { nodeId: string };

export function formatMeta(meta: Meta): string {
  const text = `format ${FORMAT}\nnode-id ${meta.nodeId}\n`;
  return `${text}checksum ${checksumOf(text)}\n`;
}

/** The error says what is wrong with the file, to be read after its name. */
export function parseMeta(text: string): { ok: true; meta: Meta } | { ok: false; error: string } {
  if (text === "") return { ok: false, error: "is empty" };
  if (!text.endsWith("\n")) return { ok: false, error: "is cut off" };
  const lines = text.slice(0, -1).split("\n");
  const sum = CHECKSUM_LINE.exec(lines.pop() ?? "")?.[1];
  if (sum === undefined) return { ok: false, error: "has no checksum at its end" };
  const body = lines.map((line) => `${line}\n`).join("");
  if (sum !== checksumOf(body)) return { ok: false, error: "is damaged: its checksum is wrong" };
  const values = new Map<string, string>();
  for (const line of lines) {
    const space = line.indexOf(" ");
    if (space > 0) values.set(line.slice(0, space), line.slice(space + 1));
  }
  if (values.get("format") !== FORMAT) {
    return { ok: false, error: `has format ${values.get("format")}, which is not known here` };
  }
  const nodeId = values.get("node-id") ?? "";
  if (!NODE_ID_PATTERN.test(nodeId)) return { ok: false, error: "has no node-id" };
  return { ok: true, meta: { nodeId } };
}

/** The node id that `dir` holds. Makes one where there is no file; `randomHex` counts bytes. */
export function loadOrMakeNodeId(
  host: MetaHost,
  dir: string,
  randomHex: (bytes: number) => string,
): { ok: true; nodeId: string } | { ok: false; error: string } {
  const path = host.resolvePath(dir, META_FILE);
  const read = host.readFile(path);
  if (read.ok) {
    const parsed = parseMeta(read.text);
    if (parsed.ok) return { ok: true, nodeId: parsed.meta.nodeId };
    const remedy = "put back a copy, or remove the file to start as a new node";
    return { ok: false, error: `${path} ${parsed.error} (${remedy})` };
  }
  if (read.error !== NO_SUCH_FILE) return { ok: false, error: `${path}: ${read.error}` };
  const nodeId = randomHex(20);
  const error = host.replaceFile(path, formatMeta({ nodeId }));
  return error === null ? { ok: true, nodeId } : { ok: false, error: `${path}: ${error}` };
}

function checksumOf(text: string): string {
  const sum: Crc64 = { hi: 0, lo: 0 };
  const bytes = latin1Bytes(text);
  crc64(bytes, 0, bytes.length, sum);
  return hex32(sum.hi) + hex32(sum.lo);
}

function hex32(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
