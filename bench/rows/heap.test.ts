import assert from "node:assert/strict";
import { test } from "node:test";
import { parseInfo } from "../control.ts";
import { MissingFigure } from "../stats.ts";
import { jsHeapUsed } from "./heap.ts";
import { workCounters } from "./work.ts";

test("the heap is read thread by thread where INFO tells them apart", () => {
  const lines = [
    "# Threads",
    "js_heap_used:700",
    "thread0:accepted_connections=1,js_heap_used=300",
    "thread1:accepted_connections=2,js_heap_used=400",
  ];
  assert.deepEqual(jsHeapUsed(parseInfo(lines.join("\r\n"))), [300, 400]);
  assert.deepEqual(jsHeapUsed(parseInfo(lines.slice(0, 2).join("\r\n"))), [700]);
});

test("no heap figure, or one that is no number, is missing", () => {
  assert.throws(() => jsHeapUsed(parseInfo("# Threads\r\nthreads:2")), MissingFigure);
  assert.throws(() => jsHeapUsed(parseInfo("thread0:js_heap_used=much")), MissingFigure);
  assert.throws(() => jsHeapUsed(parseInfo("js_heap_used:")), MissingFigure);
});

test("the work counters are the longest hold and whatever is named work", () => {
  const text = "lock_acquisitions:9\r\nlock_hold_max_usec:120\r\nwork_bytes_copied_max:4096";
  assert.equal(workCounters(parseInfo(text)), "lock_hold_max_usec 120, work_bytes_copied_max 4096");
  assert.equal(workCounters(parseInfo("lock_acquisitions:9")), "not reported");
});
