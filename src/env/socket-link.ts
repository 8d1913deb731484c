/**
 * A link over a handle that a listener accepted: a TCP connection or a unix socket.
 *
 * All links of a thread read into one static buffer, which is safe because the chunk is only valid
 * during `onData`. Writing goes to the handle itself: almost every write is taken by the system at
 * once, and then the caller's buffer is free again and nothing was allocated. What the system does
 * not take waits in a queue here, one request at a time.
 *
 * Reading, errors and closing are left to a net.Socket around the same handle.
 */
import { Socket } from "node:net";
import type { Link, LinkHandler } from "./env.ts";
import {
  lastWriteFailed,
  lastWriteWasAsync,
  newWriteRequest,
  type WriteRequest,
} from "./stream-binding.ts";

const READ_BYTES = 65536;
const readBuffer = new Uint8Array(new ArrayBuffer(READ_BYTES));

/** Short writes from the start of the buffer that was written from last use these views. */
const CACHED_VIEWS = 256;
let cachedFrom: ArrayBufferLike | null = null;
let cachedViews: (Buffer | undefined)[] = [];

/** A request that completes at once is not kept by the handle and serves for the next one. */
let spare: WriteRequest = newWriteRequest();

/** An accepted handle; its shape is Node's own. */
export type AcceptedHandle = { close(): void; readonly fd?: number };
type StreamHandle = AcceptedHandle & {
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
  readonly writeQueueSize?: number;
};

type Queued = { bytes: Buffer; done: (() => void) | null };

function view(source: Uint8Array, start: number, end: number): Buffer {
  const length = end - start;
  if (start !== 0 || source.byteOffset !== 0 || length >= CACHED_VIEWS) {
    return Buffer.from(source.buffer, source.byteOffset + start, length);
  }
  if (source.buffer !== cachedFrom) {
    cachedFrom = source.buffer;
    cachedViews = new Array(CACHED_VIEWS);
  }
  const cached = cachedViews[length] ?? Buffer.from(source.buffer, 0, length);
  cachedViews[length] = cached;
  return cached;
}

export class SocketLink implements Link {
  readonly remote: string;
  readonly local: string;
  readonly descriptor: number;
  /** Set right after construction, before anything can be read. */
  handler: LinkHandler | null = null;
  private readonly socket: Socket;
  private readonly handle: StreamHandle;
  private readonly queue: Queued[] = [];
  private pendingBytes = 0;
  /** A request is on its way; the rest of the queue waits for it. */
  private isWriting = false;
  private queuedBytes = 0;
  private isEnding = false;
  private isGone = false;

  /** `path` is the unix socket's own, null for TCP. */
  constructor(handle: AcceptedHandle, path: string | null, keepAliveSeconds: number) {
    const options = {
      handle,
      allowHalfOpen: true,
      onread: {
        buffer: readBuffer,
        callback: (length: number): boolean => {
          this.handler?.onData(readBuffer, length);
          return true;
        },
      },
    };
    this.handle = handle as StreamHandle;
    this.descriptor = handle.fd ?? -1;
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
    // A lost connection is reported by "close" too.
    socket.on("error", () => {});
    socket.on("end", () => this.handler?.onEnd());
    socket.on("close", () => this.closed());
  }

  /** Starts reading. */
  start(): void {
    this.socket.resume();
  }

  write(source: Uint8Array, start: number, end: number): boolean {
    if (this.isGone) return true;
    if (this.isWriting) {
      this.enqueue(Buffer.from(source.buffer, source.byteOffset + start, end - start), null);
      return false;
    }
    return this.send(view(source, start, end), null);
  }

  writeShared(chunk: Uint8Array, done: () => void): void {
    if (this.isGone) {
      done();
      return;
    }
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (this.isWriting) this.enqueue(bytes, done);
    else if (this.send(bytes, done)) done();
  }

  private enqueue(bytes: Buffer, done: (() => void) | null): void {
    this.queue.push({ bytes, done });
    this.pendingBytes += bytes.length;
    this.queuedBytes += bytes.length;
  }

  /** Gives bytes to the handle. True if the system took them all. */
  private send(bytes: Buffer, done: (() => void) | null): boolean {
    const request = spare;
    const status = this.handle.writeBuffer(request, bytes);
    if (lastWriteFailed(status)) {
      this.socket.destroy();
      return true;
    }
    if (!lastWriteWasAsync()) return true;
    spare = newWriteRequest();
    this.isWriting = true;
    this.pendingBytes += bytes.length;
    // The request keeps the bytes alive until they are written.
    request.bytes = bytes;
    request.oncomplete = (status) => this.sent(status, bytes.length, done);
    return false;
  }

  private sent(status: number, length: number, done: (() => void) | null): void {
    if (status !== 0) this.socket.destroy();
    this.isWriting = false;
    this.pendingBytes -= length;
    done?.();
    while (!this.isWriting && !this.isGone) {
      const next = this.queue.shift();
      if (next === undefined) break;
      this.pendingBytes -= next.bytes.length;
      this.queuedBytes -= next.bytes.length;
      if (this.send(next.bytes, next.done)) next.done?.();
    }
    if (this.pendingBytes > 0 || this.isGone || status !== 0) return;
    if (this.isEnding) this.finish();
    else this.handler?.onDrain();
  }

  pending(): number {
    return this.pendingBytes;
  }

  unsent(): number {
    return this.isWriting ? this.queuedBytes + (this.handle.writeQueueSize ?? 0) : 0;
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  end(): void {
    this.isEnding = true;
    if (this.pendingBytes === 0) this.finish();
  }

  private finish(): void {
    this.socket.end(() => this.socket.destroy());
  }

  destroy(): void {
    this.socket.destroy();
  }

  private closed(): void {
    this.isGone = true;
    for (const { done } of this.queue.splice(0)) done?.();
    this.handler?.onClose();
  }
}

function address(host: string | undefined, port: number | undefined): string {
  const text = host ?? "?";
  return `${text.includes(":") ? `[${text}]` : text}:${port ?? 0}`;
}
