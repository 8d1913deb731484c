/**
 * What the admin port answers to what: metrics, whether the process is alive, whether it may be
 * sent clients. Everything may be asked again at will, so only GET and HEAD exist.
 *
 * The port is on loopback, but a browser of this machine gets there too: a page whose name its own
 * server resolves to 127.0.0.1 would be of one origin with this port and could read it. Such a name
 * is in the header Host; nobody can own localhost or an address, so only those are answered.
 */
import type { HttpAnswer, HttpRequest } from "../env/http-server.ts";
import { prefersOpenMetrics } from "./accept.ts";
import type { Format } from "./metrics-page.ts";

export type AdminPages = {
  /** Null when clients are served, else why they are not. */
  notReady(): string | null;
  metrics(format: Format): Promise<{ contentType: string; text: string }>;
};

const PLAIN = "text/plain; charset=utf-8";
const INDEX = "/metrics  Prometheus and OpenMetrics\n/livez    alive\n/readyz   serving clients\n";

const LOCAL_HOST =
  /^(?:(?:[\w-]+\.)*localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+(?:%[\w.-]+)?\])?(?::\d*)?$/i;
const FOREIGN_HOST =
  "the header Host is neither localhost nor an address; what is in front must send one of them\n";

function plain(status: number, text: string): HttpAnswer {
  return { status, contentType: PLAIN, text };
}

type Route = (pages: AdminPages, accept: string) => HttpAnswer | Promise<HttpAnswer>;

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["/", () => plain(200, INDEX)],
  ["/livez", () => plain(200, "ok\n")],
  ["/readyz", (pages) => readiness(pages.notReady())],
  ["/metrics", metrics],
]);

function readiness(reason: string | null): HttpAnswer {
  return reason === null ? plain(200, "ok\n") : plain(503, `${reason}\n`);
}

async function metrics(pages: AdminPages, accept: string): Promise<HttpAnswer> {
  const format = prefersOpenMetrics(accept) ? "openmetrics" : "prometheus";
  return { status: 200, ...(await pages.metrics(format)) };
}

export function answer(
  pages: AdminPages,
  { method, path, host, accept }: HttpRequest,
): HttpAnswer | Promise<HttpAnswer> {
  if (!LOCAL_HOST.test(host)) return plain(421, FOREIGN_HOST);
  const route = ROUTES.get(path);
  if (route === undefined) return plain(404, "not found\n");
  if (method !== "GET" && method !== "HEAD") {
    return { ...plain(405, "method not allowed\n"), allow: "GET, HEAD" };
  }
  return route(pages, accept);
}
