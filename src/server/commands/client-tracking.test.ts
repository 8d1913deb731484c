import assert from "node:assert/strict";
import { test } from "node:test";
import { TestServer } from "../test-server.ts";

test("tracking is off and stays off", () => {
  const client = new TestServer().connect();
  assert.equal(
    client.say("CLIENT TRACKINGINFO"),
    "*6\r\n$5\r\nflags\r\n*1\r\n$3\r\noff\r\n$8\r\nredirect\r\n:-1\r\n$8\r\nprefixes\r\n*0\r\n",
  );
  client.say("HELLO 3");
  assert.equal(
    client.say("CLIENT TRACKINGINFO"),
    "%3\r\n$5\r\nflags\r\n~1\r\n$3\r\noff\r\n$8\r\nredirect\r\n:-1\r\n$8\r\nprefixes\r\n*0\r\n",
  );
  assert.equal(client.say("CLIENT TRACKING OFF"), "+OK\r\n");
  assert.equal(client.say("CLIENT TRACKING OFF OPTIN OPTOUT BCAST PREFIX a"), "+OK\r\n");
  assert.equal(
    client.say("CLIENT TRACKING ON"),
    "-ERR CLIENT TRACKING ON is not supported yet\r\n",
  );
  for (const mode of ["YES", "NO", "MAYBE"]) {
    assert.equal(
      client.say(`CLIENT CACHING ${mode}`),
      "-ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or " +
        "OPTOUT mode enabled\r\n",
    );
  }
});

test("CLIENT TRACKING is asked wrongly in Redis's words", () => {
  const client = new TestServer().connect();
  const own = client.session.id;
  const calls: [call: string, error: string][] = [
    ["MAYBE", "syntax error"],
    ["ON FOO", "syntax error"],
    ["OFF PREFIX", "syntax error"],
    ["ON PREFIX a", "PREFIX option requires BCAST mode to be enabled"],
    ["ON BCAST OPTIN", "OPTIN and OPTOUT are not compatible with BCAST"],
    ["ON OPTIN OPTOUT", "You can't specify both OPTIN mode and OPTOUT mode"],
    ["OFF REDIRECT x", "value is not an integer or out of range"],
    ["OFF REDIRECT 999", "The client ID you want redirect to does not exist"],
    [`OFF REDIRECT ${own} REDIRECT ${own}`, "A client can only redirect to a single other client"],
    [`ON REDIRECT ${own} NOLOOP`, "CLIENT TRACKING ON is not supported yet"],
  ];
  for (const [call, error] of calls) {
    assert.equal(client.say(`CLIENT TRACKING ${call}`), `-ERR ${error}\r\n`, call);
  }
});
