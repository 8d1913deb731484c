import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentSettings } from "./environment.ts";

test("directives and aliases by variable, in the order of the variables", () => {
  assert.deepEqual(
    environmentSettings({ PATH: "x", ZEROHOP_SLAVE_PRIORITY: "1", ZEROHOP_BIO_CPULIST: "" }),
    [
      { place: "environment ZEROHOP_BIO_CPULIST", words: ["bio_cpulist", ""], unknown: false },
      {
        place: "environment ZEROHOP_SLAVE_PRIORITY",
        words: ["slave-priority", "1"],
        unknown: false,
      },
    ],
  );
});

test("names are upper case, and what is none of ours is unknown", () => {
  const unknown = (name: string): boolean | undefined =>
    environmentSettings({ [name]: "1" })[0]?.unknown;
  assert.equal(unknown("ZEROHOP_HZ"), false);
  assert.equal(unknown("ZEROHOP_hz"), true);
  assert.equal(unknown("ZEROHOP_"), true);
  assert.equal(unknown("ZEROHOP_CHECKS"), true);
  assert.equal(unknown("ZEROHOP_CHECK"), undefined);
  assert.equal(unknown("ZEROHOPHZ"), undefined);
});

test("what Kubernetes sets for a service named zerohop is left alone", () => {
  const of = (name: string, value: string): number => environmentSettings({ [name]: value }).length;
  assert.equal(of("ZEROHOP_PORT", "tcp://10.0.0.1:6379"), 0);
  assert.equal(of("ZEROHOP_PORT", "6379"), 1);
  assert.equal(of("ZEROHOP_PORT_6379_TCP_PROTO", "tcp"), 0);
  assert.equal(of("ZEROHOP_SERVICE_PORT_REDIS", "6379"), 0);
  assert.equal(of("ZEROHOP_SERVICE_HOSTS", "x"), 1);
});
