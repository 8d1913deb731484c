/**
 * The outside world as the core sees it. `env/system.ts` is the real one; tests and the simulator
 * bring their own. Nothing here is asynchronous.
 */

export type Clock = {
  /** Unix time in milliseconds, as read last. */
  unixMs: number;
  /** Reads the clock into `unixMs`. */
  refresh(): void;
  /** Milliseconds of a clock that never goes back, with a fraction; the same in all threads. */
  monotonicMs(): number;
  /** Unix time in microseconds, read now. */
  unixUsec(): number;
};

/** What an event loop has done since it began. */
export type LoopUse = {
  readonly cycles: number;
  /** Milliseconds that it did not wait. */
  readonly activeMs: number;
};

export type RandomSource = {
  /** 0 <= n < 2^32. */
  u32(): number;
  below(n: number): number;
};

export type Timers = {
  /** Calls `run` every `ms` until the returned function is called. Does not keep a process alive. */
  every(ms: number, run: () => void): () => void;
  after(ms: number, run: () => void): () => void;
};

/** One byte stream with a peer. */
export type Link = {
  /**
   * Sends bytes `start..end`. True if the buffer may be reused at once; if not, it belongs to the
   * link until it is written.
   */
  write(source: Uint8Array, start: number, end: number): boolean;
  /** Sends a view of shared memory and calls `done` once it may change. */
  writeShared(chunk: Uint8Array, done: () => void): void;
  /** Bytes of writes that are not finished. */
  pending(): number;
  /** Bytes of them that the system has not taken yet: it falls while a long write goes on. */
  unsent(): number;
  /** Stops and resumes reading. */
  pause(): void;
  resume(): void;
  /** Sends what is pending, then closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
  readonly remote: string;
  readonly local: string;
  /** The file descriptor, -1 if there is none. */
  readonly descriptor: number;
};

/** What a link calls; `onData`'s chunk is valid during the call only. */
export type LinkHandler = {
  onData(chunk: Uint8Array, length: number): void;
  onDrain(): void;
  /** The peer sends nothing more; it may still read. */
  onEnd(): void;
  onClose(): void;
};
