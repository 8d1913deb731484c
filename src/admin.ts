/**
 * The admin port: metrics and health over HTTP, in the main thread. A bundle of its own, loaded
 * only when there is such a port, so that nobody else pays for HTTP and the metrics library.
 */
import { type FigureSource, Figures } from "./admin/figures.ts";
import { type Format, MetricsPage } from "./admin/metrics-page.ts";
import { answer } from "./admin/routes.ts";
import { errorText } from "./env/config-host.ts";
import { makeHttpServer } from "./env/http-server.ts";
import type { AdminPort } from "./server/thread-supervisor.ts";

export type AdminWorld = {
  readonly figures: FigureSource;
  /** Null when clients are served, else why they are not. */
  notReady(): string | null;
  log(level: "warning", text: string): void;
};

export function openAdmin(world: AdminWorld): AdminPort {
  const figures = new Figures(world.figures);
  const pages = new Map<Format, MetricsPage>();
  const pageOf = (format: Format): MetricsPage => {
    const page = pages.get(format) ?? new MetricsPage(figures, format);
    pages.set(format, page);
    return page;
  };
  const parts = {
    notReady: () => world.notReady(),
    async metrics(format: Format): Promise<{ contentType: string; text: string }> {
      const page = pageOf(format);
      return { contentType: page.contentType, text: await page.text() };
    },
  };
  const failed = (error: unknown): void => {
    world.log("warning", `admin port: ${errorText(error)}`);
  };
  return {
    makeServer: () => makeHttpServer((request) => answer(parts, request), failed),
    chunksChanged: () => figures.chunksChanged(),
  };
}
