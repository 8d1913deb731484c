/** Rules for every text file, and for markdown. */

import { posix } from "node:path";
import type { Problem } from "./tidy-source.ts";

/** A path that only exists on somebody's machine. */
const MACHINE_PATH = /(?:^|[\s"'`(=:])\/(?:work\/(?:main|shared)|home|root|Users)\/[\w.-]+/;

export function checkText(source: string): Problem[] {
  const problems: Problem[] = [];
  for (const [index, line] of source.split("\n").entries()) {
    const path = MACHINE_PATH.exec(line);
    if (path !== null) {
      problems.push({
        line: index + 1,
        text: `${path[0].trim()}: a path of one machine; write it relative to the repository`,
      });
    }
  }
  return problems;
}

/** The lines outside fenced code, with their numbers. */
function* proseLines(source: string): Generator<readonly [number, string]> {
  let fence: string | undefined;
  for (const [index, line] of source.split("\n").entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) {
      fence = mark;
    } else if (mark !== undefined && fence !== undefined && mark.startsWith(fence)) {
      fence = undefined;
    } else if (fence === undefined) {
      yield [index + 1, line];
    }
  }
}

export function checkMarkdown(
  path: string,
  source: string,
  exists: (path: string) => boolean,
): Problem[] {
  const problems: Problem[] = [];
  let titles = 0;
  for (const [line, text] of proseLines(source)) {
    if (text.startsWith("# ")) {
      titles += 1;
      if (titles > 1) {
        problems.push({ line, text: "a second # title: make it ##, or a page of its own" });
      }
    }
    for (const link of text.replace(/`[^`]*`/g, "").matchAll(/\]\(<?([^)\s>]+)/g)) {
      const target = (link[1] ?? "").replace(/#.*$/, "");
      if (target !== "" && !/^[a-z]+:/i.test(target)) {
        const resolved = posix.normalize(posix.join(posix.dirname(path), decodeURI(target)));
        if (target.startsWith("/") || !exists(resolved)) {
          problems.push({
            line,
            text: `${target} does not exist: links are relative to the page`,
          });
        }
      }
    }
  }
  if (titles === 0) {
    problems.push({ line: 1, text: "no title: start the page with one # line" });
  }
  return problems;
}
