/**
 * A client for millions of requests whose replies are one line each: it makes no object of a reply,
 * so that it keeps up with a server. Nothing is retried; a reply that does not come fails.
 */
import net from "node:net";
import { type Address, deferred, within } from "./resp.ts";

const TIMEOUT_MS = 120_000;
const NEWLINE = 10;

export class LineClient {
  readonly #socket: net.Socket;
  #chunks: Buffer[] = [];
  #missing = 0;
  #arrived: () => void = () => {};
  #failed: (error: Error) => void = () => {};

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#failed(error));
    socket.on("close", () => this.#failed(new Error("the connection was closed")));
  }

  static connect(address: Address): Promise<LineClient> {
    const { promise, resolve, reject } = deferred<LineClient>();
    const socket = net.connect("path" in address ? { path: address.path } : { ...address });
    socket.once("error", reject);
    socket.once("connect", () => resolve(new LineClient(socket)));
    return promise;
  }

  /** Sends requests, one character per byte, and returns the text of so many lines. */
  async exchange(requests: string, lines: number): Promise<string> {
    const { promise, resolve, reject } = deferred<void>();
    this.#chunks = [];
    this.#missing = lines;
    this.#arrived = resolve;
    this.#failed = reject;
    this.#socket.write(requests, "latin1");
    if (!(await within(promise, TIMEOUT_MS))) {
      throw new Error(`${this.#missing} of ${lines} replies are missing after ${TIMEOUT_MS} ms`);
    }
    return Buffer.concat(this.#chunks).toString("latin1");
  }

  close(): void {
    this.#failed = () => {};
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      this.#missing--;
    }
    if (this.#missing <= 0) this.#arrived();
  }
}
