/** What goes wrong at start: one line on standard error that names the culprit, and exit code 1. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { after, describe, test } from "node:test";
import { executable } from "../support/build.ts";
import { needsOurs, restricted } from "../support/environment.ts";
import {
  closeServer,
  freePort,
  holdPort,
  removeFolder,
  temporaryFolder,
} from "../support/ports.ts";
import { runProgram, runZeroHop } from "../support/servers.ts";

type Settings = { environment?: NodeJS.ProcessEnv; stdin?: string };

async function refusal(args: readonly string[], settings: Settings = {}): Promise<string> {
  const { code, signal, stdout, stderr } = await runZeroHop(args, settings);
  const said = `${args.join(" ")}\nstdout: ${stdout}\nstderr: ${stderr}`;
  assert.equal(signal, null, said);
  assert.equal(code, 1, said);
  assert.doesNotMatch(stdout, /[Rr]eady to accept/, said);
  assert.match(stderr, /^[^\n]+\n$/, `not exactly one line: ${said}`);
  return stderr.trimEnd();
}

describe("a start that cannot be", needsOurs(), () => {
  const folder = temporaryFolder();
  after(() => removeFolder(folder));

  function file(name: string, content: string): string {
    const full = path.join(folder, name);
    writeFileSync(full, content);
    return full;
  }

  test("a directive nobody knows, and where it stands", async () => {
    assert.match(await refusal(["--nosuch", "1"]), /nosuch/);
    const conf = file("unknown.conf", "port 0\n\nnosuch 1\n");
    const line = await refusal([conf]);
    assert.match(line, /nosuch/);
    assert.match(line, /unknown\.conf/);
    assert.match(line, /3/);
    const environment = { ZEROHOP_NOSUCH: "1" };
    assert.match(await refusal(["--port", "auto"], { environment }), /ZEROHOP_NOSUCH/);
  });

  test("a process that may not have connections", async () => {
    const words = [...restricted(), await executable(), "--port", "auto"];
    const { code, stdout, stderr } = await runProgram(process.execPath, words);
    assert.equal(code, 1, stdout);
    const lines = stderr
      .trimEnd()
      .split("\n")
      .filter((line) => line.startsWith("zerohop: "));
    assert.match(lines.join("\n"), /^zerohop: Node's --permission denies [^\n]*$/, stderr);
  });

  const badValues: readonly (readonly [string, ...string[]])[] = [
    ["port", "65536"],
    ["port", "-1"],
    ["port", "abc"],
    ["threads", "0"],
    ["threads", "abc"],
    ["databases", "0"],
    ["maxclients", "0"],
    ["maxmemory", "1xb"],
    ["maxmemory-policy", "sometimes"],
    ["timeout", "-1"],
    ["loglevel", "loud"],
    ["protected-mode", "maybe"],
    ["proto-max-bulk-len", "1"],
    ["unixsocketperm", "999"],
    ["client-output-buffer-limit", "normal", "1"],
    ["enable-debug-command", "perhaps"],
    ["tcp-backlog", "-5"],
  ];
  for (const [name, ...values] of badValues) {
    test(`${name} ${values.join(" ")}`, async () => {
      assert.match(await refusal([`--${name}`, ...values]), new RegExp(name));
    });
  }

  test("a bad value in a file and in the environment, and where it stands", async () => {
    const conf = file("value.conf", "# comment\nport auto\ntimeout never\n");
    const line = await refusal([conf]);
    assert.match(line, /timeout/);
    assert.match(line, /value\.conf/);
    const environment = { ZEROHOP_TIMEOUT: "never" };
    assert.match(await refusal(["--port", "auto"], { environment }), /ZEROHOP_TIMEOUT|timeout/);
  });

  test("what is not supported yet is refused by name", async () => {
    for (const args of [
      ["--appendonly", "yes"],
      ["--save", "900", "1"],
      ["--replicaof", "127.0.0.1", "6379"],
      ["--cluster-enabled", "yes"],
    ]) {
      const name = (args[0] as string).slice(2);
      assert.match(await refusal(["--port", "auto", ...args]), new RegExp(name));
    }
    const conf = file("redis.conf", "port auto\ndaemonize yes\nsupervised systemd\n");
    const places =
      /redis\.conf line 2: daemonize: .* yet \(.*\); \S+redis\.conf line 3: supervised: /;
    assert.match(await refusal([conf]), places);
  });

  test("a configuration file that is not there or cannot be read", async () => {
    assert.match(await refusal([path.join(folder, "none.conf")]), /none\.conf/);
    mkdirSync(path.join(folder, "folder.conf"));
    assert.match(await refusal([path.join(folder, "folder.conf")]), /folder\.conf/);
    const quotes = file("quotes.conf", 'dir "/tmp\n');
    assert.match(await refusal([quotes]), /quotes\.conf/);
    const including = file("including.conf", `include ${path.join(folder, "missing.conf")}\n`);
    assert.match(await refusal([including]), /missing\.conf/);
  });

  test("a port in use", async () => {
    const port = await freePort();
    const holder = await holdPort(port, "127.0.0.1");
    const line = await refusal(["--port", String(port), "--bind", "127.0.0.1"]);
    assert.match(line, new RegExp(`${port}`));
    assert.match(line, /address already in use; set another, or auto for any free one$/);
    await closeServer(holder);
  });

  test("a second server leaves the first one's pid file, and says why in its own log", async () => {
    const port = await freePort();
    const holder = await holdPort(port, "127.0.0.1");
    const pidfile = file("first.pid", "1\n");
    const logfile = path.join(folder, "second.log");
    const files = ["--pidfile", pidfile, "--logfile", logfile];
    const line = await refusal(["--port", String(port), "--bind", "127.0.0.1", ...files]);
    assert.equal(readFileSync(pidfile, "utf8"), "1\n");
    const log = readFileSync(logfile, "utf8");
    assert.ok(log.trimEnd().endsWith(`# ${line.replace("zerohop: ", "")}`), log);
    await closeServer(holder);
  });

  test("an address that this machine does not have", async () => {
    const line = await refusal(["--port", "auto", "--bind", "192.0.2.1"]);
    assert.match(line, /192\.0\.2\.1/);
    assert.match(await refusal(["--port", "auto", "--bind", "not an address"]), /bind|not/);
  });

  test("folders and files that cannot be used", async () => {
    const plain = file("plain", "");
    assert.match(await refusal(["--port", "auto", "--dir", path.join(folder, "no")]), /dir/);
    assert.match(await refusal(["--port", "auto", "--dir", plain]), /dir/);
    const logfile = path.join(plain, "log");
    assert.match(await refusal(["--port", "auto", "--logfile", logfile]), /logfile|plain/);
    const socket = path.join(folder, "no", "socket");
    assert.match(await refusal(["--port", "0", "--unixsocket", socket]), /no such file/);
    assert.match(await refusal(["--port", "0", "--unixsocket", plain]), /plain: a file that is no/);
    assert.ok(existsSync(plain));
    const served = path.join(folder, "served");
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(served, resolve));
    assert.match(await refusal(["--port", "0", "--unixsocket", served]), /address already in use/);
    assert.ok(existsSync(served));
    other.close();
    const long = path.join(folder, "x".repeat(120));
    assert.match(await refusal(["--port", "0", "--unixsocket", long]), /socket|xxx/);
  });

  const shell = existsSync("/bin/bash") ? {} : { skip: "no bash to set limits with" };

  test("address space for Node alone, and none for a chunk", shell, async () => {
    const look = 'console.log(/VmPeak:\\s*(\\d+)/.exec(fs.readFileSync("/proc/self/status"))[1])';
    const { stdout } = await runProgram(process.execPath, ["-e", look]);
    const kilobytes = Number(stdout) + 350 * 1024;
    const limited = `ulimit -v ${kilobytes}; exec "$0" "$@"`;
    const main = await executable();
    const args = [process.execPath, main, "--port", "auto", "--threads", "4"];
    const { code, stderr } = await runProgram("/bin/bash", ["--norc", "-c", limited, ...args]);
    assert.equal(
      stderr,
      "zerohop: memory-chunk: the system has no memory for a first chunk, with ulimit -v and " +
        "4 threads\n",
    );
    assert.equal(code, 1);
  });

  test("nothing to listen on", async () => {
    await refusal(["--port", "0"]);
  });
});
