import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KeyMethods } from "../src/embed/key-methods.ts";
import { Database, Store } from "../src/embed/store.ts";
import { StringMethods } from "../src/embed/string-methods.ts";
import { repositoryRoot } from "../test/support/environment.ts";
import { methodsOf, PAGE, render, typesOf } from "./generate-embed-docs.ts";

test("the page of the embedded store is what its sources say", () => {
  assert.equal(readFileSync(`${repositoryRoot}/${PAGE}`, "utf8"), render());
});

/** Neither constructors nor what the sources mark as internal. */
const HIDDEN: ReadonlySet<string> = new Set([
  "constructor",
  "shown",
  "expireBy",
  "thread",
  "closeAll",
]);

test("every method has a row", () => {
  const page = render();
  for (const { prototype } of [StringMethods, KeyMethods, Database, Store]) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const hasRow = page.includes(`\n| \`${name}(`) || page.includes(`\n| \`${name}: `);
      assert.equal(hasRow, !HIDDEN.has(name), name);
    }
  }
});

test("methods are found with their comments, overloads and defaults, and nothing internal", () => {
  const text = `
export class Some extends Other {
  /** @internal */
  private hidden(): void {
    this.x();
  }

  /**
   * Two
   * lines.
   */
  set(key: Text, options: A & { GET: true }): string;
  set(key: Text, options?: A): "OK" {
    if (this.hidden()) return;
  }

  *walk(options: B = {}): Generator<string, void, undefined> {
    yield* this.x;
  }
}
`;
  assert.deepEqual(methodsOf(text, "Some"), [
    {
      name: "set",
      signature: "set(key: Text, options: A & { GET: true }): string",
      about: "Two lines.",
    },
    { name: "walk", signature: "walk(options?: B): Generator<string, void, undefined>", about: "" },
  ]);
});

test("types end where they end", () => {
  const text = `export type A = string | number;
/** Of B. */
export type B<K> = {
  /** A field; of A. */
  a?: A;
} & { [name in C]?: K };

export type D =
  | "x"
  | "y";

export class E {}
`;
  assert.deepEqual(typesOf(text), [
    "type A = string | number;",
    "/** Of B. */\ntype B<K> = {\n  /** A field; of A. */\n  a?: A;\n} & { [name in C]?: K };",
    'type D =\n  | "x"\n  | "y";',
  ]);
});
