/**
 * HTTP for the admin port: what Node's parser, timeouts and limits are set to, and how an answer is
 * written. Requests have no bodies and answers are whole texts; what is answered to what is the
 * caller's.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  HTTP_CHECK_MS,
  HTTP_CONNECTION_REQUESTS_MAX,
  HTTP_CONNECTIONS_MAX,
  HTTP_HEADER_BYTES_MAX,
  HTTP_IDLE_MS,
  HTTP_REQUEST_MS,
  HTTP_SEND_MS,
} from "../limits.ts";

export type HttpRequest = {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The header Host, or empty: HTTP/1.0 needs none. */
  readonly host: string;
  /** The header Accept, or empty. */
  readonly accept: string;
};

export type HttpAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Methods for the header Allow of a 405. */
  readonly allow?: string;
};

export type Answerer = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

const BODY_REFUSED: HttpAnswer = {
  status: 413,
  contentType: "text/plain; charset=utf-8",
  text: "requests have no body here\n",
};

/** A server that does not listen yet. `failed` hears of what goes wrong while it does. */
export function makeHttpServer(answerer: Answerer, failed: (error: unknown) => void): Server {
  const server = createServer({
    maxHeaderSize: HTTP_HEADER_BYTES_MAX,
    headersTimeout: HTTP_REQUEST_MS,
    requestTimeout: HTTP_REQUEST_MS,
    keepAliveTimeout: HTTP_IDLE_MS,
    connectionsCheckingInterval: HTTP_CHECK_MS,
  });
  server.maxConnections = HTTP_CONNECTIONS_MAX;
  server.setTimeout(HTTP_SEND_MS);
  // No descriptor left for a connection, for instance. What goes wrong before is the binder's.
  server.on("error", (error) => {
    if (server.listening) failed(error);
  });
  const counts = new WeakMap<Socket, number>();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    // Node hands over all that was sent in one go, which could be thousands of answers for the
    // thread that supervises the others. The connection ends behind the last that is given.
    const count = (counts.get(request.socket) ?? 0) + 1;
    counts.set(request.socket, count);
    if (count > HTTP_CONNECTION_REQUESTS_MAX) return;
    if (count === HTTP_CONNECTION_REQUESTS_MAX) response.setHeader("Connection", "close");
    void respond(request, response, answerer, failed);
  });
  return server;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answerer: Answerer,
  failed: (error: unknown) => void,
): Promise<void> {
  if (hasBody(request)) {
    response.setHeader("Connection", "close");
    send(response, BODY_REFUSED);
    return;
  }
  const { method = "", url = "", headers } = request;
  const question = url.indexOf("?");
  const path = question < 0 ? url : url.slice(0, question);
  try {
    const { host = "", accept = "" } = headers;
    send(response, await answerer({ method, path, host, accept }));
  } catch (error) {
    // A fault of ours in what is only looked at: the server goes on, the log has it.
    failed(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const text = "internal error, see the log of the server\n";
    send(response, { status: 500, contentType: BODY_REFUSED.contentType, text });
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** Node leaves the text out of the answer to a HEAD by itself. */
function send(response: ServerResponse, answer: HttpAnswer): void {
  const bytes = Buffer.from(answer.text, "utf8");
  response.statusCode = answer.status;
  response.setHeader("Content-Type", answer.contentType);
  response.setHeader("Content-Length", bytes.length);
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  if (answer.allow !== undefined) response.setHeader("Allow", answer.allow);
  response.end(bytes);
}
