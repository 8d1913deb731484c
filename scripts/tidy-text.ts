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

/** The repository, as far as links lead into it. */
export type Pages = { exists(path: string): boolean; read(path: string): string };

export function checkMarkdown(path: string, source: string, pages: Pages): Problem[] {
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
      const wrong = linkProblem(path, source, link[1] ?? "", pages);
      if (wrong !== null) {
        problems.push({ line, text: wrong });
      }
    }
  }
  if (titles === 0) {
    problems.push({ line: 1, text: "no title: start the page with one # line" });
  }
  return problems;
}

/** What is wrong with a link to a file or to a heading of a page; null for those into the world. */
function linkProblem(path: string, source: string, link: string, pages: Pages): string | null {
  if (/^[a-z]+:/i.test(link)) {
    return null;
  }
  const [target = "", anchor = ""] = link.split("#");
  const resolved =
    target === "" ? path : posix.normalize(posix.join(posix.dirname(path), decodeURI(target)));
  if (target.startsWith("/") || !pages.exists(resolved)) {
    return `${target} does not exist: links are relative to the page`;
  }
  if (anchor === "" || !resolved.endsWith(".md")) {
    return null;
  }
  const text = resolved === path ? source : pages.read(resolved);
  return anchorsOf(text).has(anchor) ? null : `${link}: ${resolved} has no such heading`;
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(source: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, text] of proseLines(source)) {
    const heading = /^#{1,6} +(.*?)[ #]*$/.exec(text)?.[1];
    if (heading !== undefined) {
      const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
      const anchor = shown.replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
      let unique = anchor;
      for (let n = 1; anchors.has(unique); n += 1) {
        unique = `${anchor}-${n}`;
      }
      anchors.add(unique);
    }
  }
  return anchors;
}
