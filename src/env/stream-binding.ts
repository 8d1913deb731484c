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

/** Under --permission Node denies its bindings. A store needs none as long as nobody connects. */
function streamBinding(): StreamBinding | null {
  try {
    return binding("stream_wrap") as StreamBinding;
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_ACCESS_DENIED") throw error;
    return null;
  }
}

/** In its place, where nothing is ever written. */
const NOTHING: StreamBinding = {
  WriteWrap: class {
    oncomplete: WriteRequest["oncomplete"] = null;
  },
  streamBaseState: new Int32Array(1),
  kLastWriteWasAsync: 0,
};

const stream = streamBinding();
const { WriteWrap, streamBaseState, kLastWriteWasAsync, kLastWriteErr } = stream ?? NOTHING;

/** Why this process cannot have connections; null if it can. */
export const connectionsRefusal: string | null =
  stream === null ? "Node's --permission denies process.binding, which connections need" : null;

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
