/**
 * Node's own write requests, which it does not offer by another name. A write that the system takes
 * at once leaves the request untouched; whether it did is in a state array of the binding.
 */

export type WriteRequest = {
  oncomplete: ((status: number) => void) | null;
  /** What is being written or sent, kept alive until it is. */
  bytes?: unknown;
  handle?: unknown;
};

type StreamBinding = {
  WriteWrap: new () => WriteRequest;
  streamBaseState: Int32Array;
  kLastWriteWasAsync: number;
  /** Newer versions of Node report the error here. */
  kLastWriteErr?: number;
};

/** One of Node's internal bindings. */
export function binding(name: string): unknown {
  const internal = process as unknown as { binding(name: string): unknown };
  return internal.binding(name);
}

const stream = binding("stream_wrap") as StreamBinding;
const { WriteWrap, streamBaseState, kLastWriteWasAsync, kLastWriteErr } = stream;

export function newWriteRequest(): WriteRequest {
  return new WriteWrap();
}

/** `status` is what the write returned. */
export function lastWriteFailed(status: number): boolean {
  return status !== 0 || (kLastWriteErr !== undefined && streamBaseState[kLastWriteErr] !== 0);
}

export function lastWriteWasAsync(): boolean {
  return streamBaseState[kLastWriteWasAsync] !== 0;
}
