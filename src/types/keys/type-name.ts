/** The names that TYPE, SCAN TYPE and OBJECT ENCODING give to the kinds of records. */
import type { Database } from "../../keyspace/database.ts";
import { STRING_LAST } from "../../structures/record.ts";
import { stringEncoding } from "../string/value.ts";

/** The type of a record, or "none" for pointer 0. */
export function typeName(db: Database, p: number): string {
  if (p === 0) return "none";
  return db.kindOf(p) <= STRING_LAST ? "string" : "unknown";
}

export function encodingName(db: Database, p: number): string {
  return db.kindOf(p) <= STRING_LAST ? stringEncoding(db, p) : "unknown";
}
