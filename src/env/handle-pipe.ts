/**
 * Passes connections and listeners between threads of this process, over a pipe as between
 * processes: the receiver gets a descriptor of its own, so no two threads ever hold the same one.
 * Node offers this only between processes; its internal pipe handles do it within one as well.
 *
 * A message is 4 bytes with one handle: kind, owner + 1 (u16, 0 for the plain port), spare.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getSystemErrorName } from "node:util";
import { randomHex } from "./entropy.ts";
import { type ListeningHandle, listenPath } from "./listen.ts";
import type { AcceptedHandle } from "./socket-link.ts";
import { binding, lastWriteWasAsync, newWriteRequest } from "./stream-binding.ts";

export const PASS_CONNECTION = 1;
export const PASS_UNIX_CONNECTION = 2;
export const PASS_LISTENER = 3;

type PipeHandle = AcceptedHandle & {
  open(fd: number): number;
  connect(request: object, path: string): number;
  readStart(): number;
  unref(): void;
  pendingHandle: AcceptedHandle | null;
  onread: (this: PipeHandle, data: ArrayBuffer | undefined) => void;
  writeLatin1String(request: object, text: string, handle: AcceptedHandle): number;
};

type PipeBinding = {
  Pipe: new (type: number) => PipeHandle;
  PipeConnectWrap: new () => { oncomplete: (status: number) => void };
  constants: { IPC: number };
};

/** The sending end, one per receiving thread. */
export class HandleSender {
  private readonly pipe: PipeHandle;
  /** Keeps the descriptor that the pipe was opened on. */
  private readonly accepted: AcceptedHandle;

  constructor(accepted: AcceptedHandle) {
    const { Pipe, constants } = binding("pipe_wrap") as PipeBinding;
    this.accepted = accepted;
    this.pipe = new Pipe(constants.IPC);
    const status = this.pipe.open(accepted.fd ?? -1);
    if (status !== 0) throw new Error(`cannot open the pipe to a thread: ${status}`);
  }

  /** Sends a handle and then calls `done`, which must close it here. */
  send(kind: number, owner: number, handle: AcceptedHandle, done: () => void): void {
    const request = newWriteRequest();
    request.oncomplete = done;
    request.handle = this.pipe;
    const text = String.fromCharCode(kind, (owner + 1) & 0xff, (owner + 1) >> 8, 0);
    const status = this.pipe.writeLatin1String(request, text, handle);
    if (status !== 0 || !lastWriteWasAsync()) done();
  }

  /** The descriptor of `accepted` ends with the process. */
  get descriptor(): number {
    return this.accepted.fd ?? -1;
  }
}

/**
 * Where one thread connects its receiving end. On Linux the name is in the abstract space and
 * needs no folder.
 */
export class HandleHub {
  readonly path: string;
  private readonly listener: ListeningHandle;

  /** Calls `connected` once. Throws the system's error. */
  constructor(connected: (sender: HandleSender) => void) {
    this.path = hubPath(`zerohop-${process.pid}-${randomHex(6)}`);
    this.listener = listenPath(this.path, 1, (handle) => {
      connected(new HandleSender(handle));
      this.close();
    });
  }

  close(): void {
    this.listener.close();
  }
}

function hubPath(name: string): string {
  if (process.platform === "linux") return `\0${name}`;
  if (process.platform === "win32") return `\\\\.\\pipe\\${name}`;
  return join(tmpdir(), `${name}.sock`);
}

/**
 * The receiving end: connects to the hub and calls `received` with each handle, or with null for one
 * that the system had no descriptor for. Calls `failed` if it cannot connect: the hub is gone where
 * the start has failed meanwhile.
 */
export function receiveHandles(
  path: string,
  received: (kind: number, owner: number, handle: AcceptedHandle | null) => void,
  failed: (reason: string) => void,
): void {
  const { Pipe, PipeConnectWrap, constants } = binding("pipe_wrap") as PipeBinding;
  const pipe = new Pipe(constants.IPC);
  const request = new PipeConnectWrap();
  pipe.onread = function (data) {
    const handle = this.pendingHandle;
    this.pendingHandle = null;
    if (data === undefined) return;
    const bytes = new Uint8Array(data);
    const owner = ((bytes[1] ?? 0) | ((bytes[2] ?? 0) << 8)) - 1;
    received(bytes[0] ?? 0, owner, handle);
  };
  const connected = (status: number): void => {
    if (status !== 0) {
      failed(`cannot connect to the acceptor: ${getSystemErrorName(status)}`);
      return;
    }
    pipe.readStart();
    pipe.unref();
  };
  request.oncomplete = connected;
  const status = pipe.connect(request, path);
  if (status !== 0) connected(status);
}
