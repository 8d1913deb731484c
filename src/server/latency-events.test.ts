import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LATENCY_SAMPLES } from "../limits.ts";
import { LATENCY_EVENT_BYTES, LatencyEvents } from "./latency-events.ts";
import { latencyGraph, latencyReport } from "./latency-reports.ts";
import { newLockCounters } from "./shared-state.ts";

const waiting = { wait: () => assert.fail("nobody holds the lock"), now: () => 0 };

function open(buffer: SharedArrayBuffer, thread = 0): LatencyEvents {
  return new LatencyEvents(buffer, { thread, waiting, counters: newLockCounters() });
}

describe("events", () => {
  test("are one for all threads; of a second the longest sample stays", () => {
    const buffer = new SharedArrayBuffer(LATENCY_EVENT_BYTES);
    const [one, other] = [open(buffer, 0), open(buffer, 1)];
    one.add("command", 20.9, 100);
    other.add("command", 50, 100);
    one.add("command", 30, 100);
    one.add("command", 10, 101);
    other.add("expire-cycle", 7, 90);
    assert.deepEqual(one.all(), [
      {
        event: "command",
        maxMs: 50,
        samples: [
          { unixSeconds: 100, ms: 50 },
          { unixSeconds: 101, ms: 10 },
        ],
      },
      { event: "expire-cycle", maxMs: 7, samples: [{ unixSeconds: 90, ms: 7 }] },
    ]);
    assert.equal(other.reset(["nosuch", "command"]), 1);
    assert.deepEqual(
      one.all().map(({ event }) => event),
      ["expire-cycle"],
    );
    assert.equal(one.reset([]), 1);
    assert.equal(one.reset([]), 0);
    assert.deepEqual(one.all(), []);
  });

  test("keep the last samples and the most there ever were", () => {
    const events = open(new SharedArrayBuffer(LATENCY_EVENT_BYTES));
    for (let i = 0; i < LATENCY_SAMPLES + 40; i++) events.add("command", 1000 - i, 5000 + i);
    const [series] = events.all();
    assert.equal(series?.samples.length, LATENCY_SAMPLES);
    assert.deepEqual(series?.samples[0], { unixSeconds: 5040, ms: 960 });
    assert.deepEqual(series?.samples.at(-1), { unixSeconds: 5199, ms: 801 });
    assert.equal(series?.maxMs, 1000);
  });
});

const OFF = { thresholdMs: 0, slowlogUsec: 10_000, slowlogLength: 128 };

describe("reports", () => {
  const samples = [
    { unixSeconds: 1000, ms: 100 },
    { unixSeconds: 5000, ms: 300 },
    { unixSeconds: 5058, ms: 450 },
    { unixSeconds: 5059, ms: 220 },
  ];
  const series = { event: "command", maxMs: 500, samples } as const;

  test("a graph has bars and the ages of the samples", () => {
    assert.equal(
      latencyGraph(series, 5061),
      [
        "command - high 450 ms, low 100 ms (all time high 500 ms)",
        "-".repeat(80),
        "  # ",
        " _| ",
        " ||o",
        "_|||",
        "    ",
        "1132",
        "hmss",
        "",
      ].join("\n"),
    );
  });

  test("a graph is the one that redis-server draws of the same samples", () => {
    const lengths = [20, 10, 55, 3, 30];
    const drawn = latencyGraph(
      {
        event: "command",
        maxMs: 55,
        samples: lengths.map((ms, i) => ({ unixSeconds: 1_796_029_021 + i, ms })),
      },
      1_796_029_026,
    );
    const rows = ["  #  ", "  | _", "_ | |", "|o|_|", "     ", "54321", "sssss", ""];
    assert.equal(
      drawn,
      `command - high 55 ms, low 3 ms (all time high 55 ms)\n${"-".repeat(80)}\n${rows.join("\n")}`,
    );
  });

  test("a graph of one sample is a line, and a long one is cut", () => {
    const one = latencyGraph({ ...series, samples: samples.slice(0, 1) }, 1000);
    assert.match(one, /\n-{80}\n \n \n \n_\n \n0\ns\n$/);
    const many = Array.from({ length: 100 }, (_, i) => ({ unixSeconds: i, ms: 1 + (i % 2) }));
    const lines = latencyGraph({ ...series, samples: many }, 120).split("\n");
    // Bars, an empty row and ages of two and three characters; the older part first.
    const lengths = [...Array(4 + 1 + 3).fill(80), 0, ...Array(4 + 1 + 3).fill(20), 0];
    assert.deepEqual(
      lines.slice(2).map((line) => line.length),
      lengths,
    );
  });

  test("the doctor counts, and gives advice once", () => {
    const report = latencyReport([series, { ...series, event: "eviction-cycle" }], OFF, 5061);
    assert.match(
      report,
      /^Dave, I have observed latency spikes in this Redis instance\. You don't mind talking about it, do you Dave\?\n\n1\. command: 4 latency spikes \(average 267ms, mean deviation 107ms, period 1015\.25 sec\)\. Worst all time event 500ms\.\n2\. eviction-cycle: /,
    );
    const advice = [...report.matchAll(/^- (.{10})/gm)].map((found) => found[1]);
    assert.deepEqual(advice, ["Your curre", "Check your", "Sudden cha"]);
    const never = latencyReport([series], { ...OFF, slowlogUsec: -1, thresholdMs: 7 }, 5061);
    assert.match(never, /'CONFIG SET slowlog-log-slower-than 7000'/);
    const both = [
      { ...series, event: "fast-command" },
      { ...series, event: "expire-cycle" },
    ] as const;
    assert.equal([...latencyReport(both, OFF, 5061).matchAll(/^- /gm)].length, 2);
  });

  test("the doctor knows when there is nothing to see", () => {
    assert.match(latencyReport([], OFF, 1), /^I'm sorry, Dave, I can't do that\./);
    assert.match(latencyReport([], { ...OFF, thresholdMs: 1 }, 1), /^Dave, no latency spike was/);
  });
});
