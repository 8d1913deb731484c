/**
 * A link over a handle that a listener accepted: a TCP connection or a unix socket.
 *
 * All links of a thread read into one static buffer, which is safe because the chunk is only valid
 * during `onData`. `write` may reuse the caller's buffer when nothing is left to send: the system
 * then has all of it.
 */
import { Socket } from "node:net";
import type { Link, LinkHandler } from "./env.ts";

const READ_BYTES = 65536;
const readBuffer = new Uint8Array(new ArrayBuffer(READ_BYTES));

/** An accepted handle; its shape is Node's own. */
export type AcceptedHandle = { close(): void; readonly fd?: number };

export class SocketLink implements Link {
  readonly remote: string;
  readonly local: string;
  /** Set right after construction, before anything can be read. */
  handler: LinkHandler | null = null;
  private readonly socket: Socket;

  /** `path` is the unix socket's own, null for TCP. */
  constructor(handle: AcceptedHandle, path: string | null, keepAliveSeconds: number) {
    const options = {
      handle,
      onread: {
        buffer: readBuffer,
        callback: (length: number): boolean => {
          this.handler?.onData(readBuffer, length);
          return true;
        },
      },
    };
    this.socket = new Socket(options as ConstructorParameters<typeof Socket>[0]);
    const { socket } = this;
    if (path === null) {
      this.remote = address(socket.remoteAddress, socket.remotePort);
      this.local = address(socket.localAddress, socket.localPort);
      socket.setNoDelay(true);
      if (keepAliveSeconds > 0) socket.setKeepAlive(true, keepAliveSeconds * 1000);
    } else {
      this.remote = `${path}:0`;
      this.local = `${path}:0`;
    }
    socket.on("drain", () => this.handler?.onDrain());
    // A lost connection is reported by "close" too.
    socket.on("error", () => {});
    socket.on("close", () => this.handler?.onClose());
  }

  /** Starts reading. */
  start(): void {
    this.socket.resume();
  }

  write(source: Uint8Array, start: number, end: number): boolean {
    this.socket.write(Buffer.from(source.buffer, source.byteOffset + start, end - start));
    return this.socket.writableLength === 0;
  }

  writeShared(chunk: Uint8Array, done: () => void): void {
    this.socket.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length), () => done());
  }

  pending(): number {
    return this.socket.writableLength;
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  end(): void {
    this.socket.end(() => this.socket.destroy());
  }

  destroy(): void {
    this.socket.destroy();
  }
}

function address(host: string | undefined, port: number | undefined): string {
  const text = host ?? "?";
  return `${text.includes(":") ? `[${text}]` : text}:${port ?? 0}`;
}
