/** Runs every code block of the README and of the documentation, page by page. See pages.ts. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { parse as parseYaml } from "yaml";
import { load } from "../../src/server/config/load.ts";
import { FakeSource } from "../support/config-source.ts";
import { needs, needsOurs } from "../support/environment.ts";
import { mismatch } from "./output.ts";
import { type Block, blocksOf, fileName, pages } from "./pages.ts";
import { Workshop } from "./workshop.ts";

/** Loads a configuration as the server would. Paths of a page need not exist here. */
function loadConf(block: Block): { code: number; printed: string } {
  const name = fileName(block) ?? "zerohop.conf";
  const directories = [...block.text.matchAll(/^dir\s+"?([^"\s]+)"?/gm)].map(([, dir]) => `${dir}`);
  const source = new FakeSource({ argv: [name], files: { [name]: block.text }, directories });
  const loaded = load(source);
  return loaded.kind === "error" ? { code: 1, printed: loaded.message } : { code: 0, printed: "" };
}

/** True if a later command of the page uses the file, so that it is not run by itself. */
function isUsedLater(name: string, block: Block, all: readonly Block[]): boolean {
  const bare = name.replace(/^.*\//, "");
  return all.slice(all.indexOf(block) + 1).some(({ text }) => text.includes(bare));
}

async function runBlock(block: Block, all: readonly Block[], shop: Workshop): Promise<void> {
  const { language, text, fails, output } = block;
  if (language === "yaml") assert.ok(parseYaml(text) !== null);
  if (language === "json") JSON.parse(text);
  const name = fileName(block);
  let outcome = { code: 0, printed: "" };
  if (language === "conf") {
    outcome = loadConf(block);
    if (name !== null) shop.write(block, name);
  } else if (name !== null && isUsedLater(name, block, all)) {
    shop.write(block, name);
    return;
  } else if (language === "sh" || language === "js" || language === "ts") {
    outcome = await shop.run(block);
  }
  const failed = outcome.code !== 0;
  assert.equal(failed, fails, `exit code ${outcome.code}, and it printed\n${outcome.printed}`);
  if (output === null) return;
  const wrong = mismatch(output, outcome.printed);
  assert.ok(wrong === null, wrong ?? "");
}

describe("code blocks", needsOurs(), () => {
  for (const page of pages()) {
    const all = blocksOf(page);
    if (all.length === 0) continue;
    const usesTools = all.some(({ notRun, text }) => notRun === null && /^redis-/m.test(text));
    const skip = usesTools ? needs("redis-cli", "redis-benchmark") : {};
    describe(page, skip, () => {
      let shop: Workshop | null = null;
      after(() => shop?.close());
      for (const block of all) {
        const skipped = block.notRun === null ? {} : { skip: `not run: ${block.notRun}` };
        test(`line ${block.line}, ${block.language}`, skipped, async () => {
          shop ??= await Workshop.open();
          await runBlock(block, all, shop);
        });
      }
    });
  }
});
