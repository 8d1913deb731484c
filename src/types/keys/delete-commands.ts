/** Commands that take any number of keys and count: DEL, UNLINK, EXISTS, TOUCH; and TYPE. */
import type { Args } from "../../base/args.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import type { Reply } from "../../protocol/reply.ts";
import { DEL_META, EXISTS_META, TOUCH_META, TYPE_META, UNLINK_META } from "./specs.ts";
import { typeName } from "./type-name.ts";

/** Of strings there is nothing that could be freed later, so UNLINK does the same. */
function deleteKeys(db: Database, args: Args, reply: Reply): void {
  let deleted = 0;
  for (let i = 1; i < args.count; i++) {
    const p = db.find(args, i);
    if (p === 0) continue;
    db.remove(args, i, p);
    db.changed("del", args, i);
    deleted++;
  }
  reply.integer(deleted);
}

export const DEL: CommandSpec = { ...DEL_META, locks: "keys", run: deleteKeys };

export const UNLINK: CommandSpec = {
  ...UNLINK_META,
  locks: "keys",
  differs: "Does what DEL does: a string's memory is given back at once, whatever its length.",
  run: deleteKeys,
};

export const EXISTS: CommandSpec = {
  ...EXISTS_META,
  locks: "keys",
  run(db, args, reply) {
    let there = 0;
    for (let i = 1; i < args.count; i++) if (db.peek(args, i) !== 0) there++;
    reply.integer(there);
  },
};

export const TOUCH: CommandSpec = {
  ...TOUCH_META,
  locks: "keys",
  run(db, args, reply) {
    const { store } = db;
    const { touches } = store;
    // Redis: what CLIENT NO-TOUCH asks for does not hold for TOUCH.
    store.touches = true;
    let there = 0;
    for (let i = 1; i < args.count; i++) if (db.findRead(args, i) !== 0) there++;
    store.touches = touches;
    reply.integer(there);
  },
};

export const TYPE: CommandSpec = {
  ...TYPE_META,
  locks: "keys",
  run(db, args, reply) {
    reply.simple(typeName(db, db.peek(args, 1)));
  },
};
