/**
 * Where things are in the control buffer, the one fixed SharedArrayBuffer of a store, and in a
 * chunk. All indices are in Int32 words of the control buffer unless said otherwise.
 *
 *   header      HEADER_WORDS
 *   chunk rows  CHUNKS_MAX x CHUNK_ROW_WORDS   state, spans, first word of the bitmap of free spans
 *   bitmaps     CHUNKS_MAX x BITMAP_WORDS      one bit per span, 1 = free
 *   databases   DATABASES_MAX x DATABASE_ROW_WORDS
 *   shard rows  shards x SHARD_ROW_WORDS       lock line, allocator state, counters
 *
 * A pointer is an int32 that counts units of 8 bytes: chunk = p >>> 27, unit in the chunk =
 * p & UNIT_MASK. It is kept signed so that it is always a small integer to V8; 0 is nil, and unit 0
 * of every chunk holds the chunk's own page table, so it is never handed out.
 */
import { CHUNK_BYTES_MAX, CHUNKS_MAX, DATABASES_MAX, SPAN_BYTES } from "../limits.ts";

export const UNIT_MASK = 0x7ffffff;
export const CHUNK_SHIFT = 27;

export const SPAN_UNIT_SHIFT = 13;
export const PAGE_BYTES = 8192;
export const PAGE_UNITS = 1024;
export const PAGE_UNIT_SHIFT = 10;
export const PAGES_PER_SPAN = 8;
/** Spans of a 1 GiB chunk. */
const CHUNK_SPANS_MAX: number = CHUNK_BYTES_MAX / SPAN_BYTES;

export const BITMAP_WORDS: number = CHUNK_SPANS_MAX / 32;
export const CHUNK_ROW_WORDS = 8;
/** 0 none, 1 present. */
export const CHUNK_STATE = 0;
export const CHUNK_SPANS = 1;
export const CHUNK_FREE = 2;
/** First span behind the page table. */
export const CHUNK_FIRST_SPAN = 3;
/** H_CHUNK_VERSION once it was made: a later chunk in the same place has another one. */
export const CHUNK_SERIAL = 4;

const HEADER_WORDS = 256;
export const H_CHUNK_VERSION = 0;
export const H_SHARDS = 1;
export const H_FREE_SPANS = 2;
/** Spans handed out to shards and large blocks. */
export const H_SPANS_USED = 3;
export const H_SPANS_PEAK = 4;
/** Most spans that may be handed out; 0 = no limit. */
export const H_SPANS_LIMIT = 5;
export const H_CHUNK_BYTES = 6;
export const H_LARGE_UNITS = 7;
export const H_HASH_KEY_0 = 8;
export const H_HASH_KEY_1 = 9;
/** Unix seconds from which segments count their earliest expiry. */
export const H_BASE_SECONDS = 10;
/** Serial of the control log's newest entry. */
export const H_CONTROL_SERIAL = 12;
/** Head of the list of detached roots that wait to be freed. */
export const H_GARBAGE = 16;
/** Keys in them. */
export const H_GARBAGE_COUNT = 17;
/** Units of all blocks of roots, which `maxmemory` does not count. */
export const H_ROOT_UNITS = 20;
/** Units that requests under way may still allocate, as far as they are many. */
export const H_RESERVED_UNITS = 21;
/** Since when more than `maxmemory` is in use: milliseconds of the unix time, never 0; 0 = not. */
export const H_EXCEEDED_SINCE = 22;
/** Lock line of the span pool: the last lock in the order. */
export const H_POOL_LOCK = 32;
/** Lock line of the control log and of the client rows' free list. */
export const H_CONTROL_LOCK = 64;
/** Lock line of the garbage list. */
export const H_GARBAGE_LOCK = 96;

// What only the embedded store uses, whose threads come and go.
/** Raised whenever one of the next three words changes. */
export const H_ATTENTION = 128;
/** 0, or why the store cannot be used any more. */
export const H_BROKEN = 129;
/** Raised by whoever opens the store without all its chunks: others announce theirs again. */
export const H_WANTED = 130;
/** Whether the last handle was closed. */
export const H_CLOSED = 131;
/** Handle that keeps house, plus 1, and the low 32 bits of the unix milliseconds it last did. */
export const H_LEASE = 132;
export const H_LEASE_TIME = 133;

export const DATABASE_ROW_WORDS = 2;
/** Pointer to the block of slot roots, 0 while the database never had a key. */
export const DB_ROOTS = 0;

export const CHUNK_ROWS_AT: number = HEADER_WORDS;
export const BITMAPS_AT: number = CHUNK_ROWS_AT + CHUNKS_MAX * CHUNK_ROW_WORDS;
export const DATABASES_AT: number = BITMAPS_AT + CHUNKS_MAX * BITMAP_WORDS;
export const SHARDS_AT: number = DATABASES_AT + DATABASES_MAX * DATABASE_ROW_WORDS;

/** A lock's own 128 bytes. */
export const LOCK_LINE_WORDS = 32;
export const LOCK_WORD = 0;
export const LOCK_STARVING = 1;
/** Thread that holds the lock, plus 1. */
export const LOCK_OWNER = 2;
/** Bit per thread (modulo 32) with a session parked behind this lock. */
export const LOCK_PARKED = 3;

/**
 * What every command writes lies in the first 16 words, beside the lock: another thread that takes
 * the lock next gets it all with one cache line.
 */
export const SHARD_ROW_WORDS = 384;
/** Units in blocks, by the shard that allocated or freed them; only the sum means something. */
export const S_UNITS_USED = 4;
export const S_SPANS = 5;
/** Stack of blocks freed under another shard's lock. */
export const S_REMOTE_FREE = 6;
/** Where the expiry walk stands: 10 bits database, 14 bits slot, the highest 7 bits of the hash. */
export const S_EXPIRY_CURSOR = 7;
/** Latest unix milliseconds a command ran at here, as two halves of a double. */
export const S_TIME_LOW = 8;
/** Commands that the flight recorder has had; the last ones are in its ring. */
export const S_RECORDER_AT = 10;
/** Per command: 10 bits command + 1, 7 bits thread, 15 bits slot + 1. */
export const S_RECORDER = 11;
export const RECORDER_ENTRIES = 4;
/** Lists of spans by the longest run of free pages, 1..8. */
export const S_SPAN_LISTS = 48;
/** What a drain of the remote frees has left for the next one: a list that the owner alone has. */
export const S_REMOTE_REST = 56;
/** Checked mode: the shard's last small blocks to be freed, oldest first, which nobody gets yet. */
export const S_QUARANTINE_FIRST = 57;
export const S_QUARANTINE_LAST = 58;
export const S_QUARANTINE_COUNT = 59;
/**
 * Milliseconds of the unix time at which the expiry walk began the round that it ended last, and
 * that which it is at, as far as it looked at all that was due.
 */
export const S_ROUND_ENDED = 60;
export const S_ROUND_BEGAN = 61;
/**
 * As two halves of a double: unix milliseconds before which the expiry walk finds nothing behind
 * its place, and so nowhere if it is at its start.
 */
export const S_EXPIRY_DUE = 62;
/** Flushes of many keys that the shard has seen, as far as slabs remember it (FLUSH_MASK). */
export const S_FLUSHES = 47;
/** Lists of slabs with free blocks, by their first page, one per class. */
export const S_CLASS_LISTS = 64;
/** The same of slabs that are older than the last flush: their blocks are the last to be used. */
export const S_OLD_LISTS = 224;

/** Words of one page's row in the page table at the start of its chunk. */
export const PAGE_ROW_WORDS = 8;
export const P_KIND = 0;
/** Unit offset in the slab of the first free block, plus 1; 0 none. */
export const P_FREE_HEAD = 1;
/** Of a slab: blocks in use, and above USED_SHIFT the S_FLUSHES of its shard when it was made. */
export const P_USED = 2;
export const USED_MASK = 0xffff;
export const USED_SHIFT = 16;
export const FLUSH_MASK = 0x7fff;
/** Unit offset of the first block that was never handed out. */
export const P_BUMP = 3;
export const P_NEXT = 4;
export const P_PREVIOUS = 5;
/** In a span's first page: bit per free page. In its second page: next span of the list. */
export const P_SPAN_MASK = 6;
/** In a span's first page: owner shard. In its second page: previous span of the list. */
export const P_SPAN_OWNER = 7;

/**
 * P_KIND: low 8 bits kind, next 8 bits detail, next 16 bits owner shard. The row of a slab is that
 * of its first page; its other pages only lead there.
 */
export const KIND_FREE = 0;
/** First page of a slab; detail: class. */
export const KIND_SLAB = 1;
/** Another page of a slab; detail: how many pages back the first one is. */
export const KIND_SLAB_BODY = 2;
/** First page of a run of spans; P_USED: how many. */
export const KIND_LARGE = 3;

/** Page number in its chunk. */
export const PAGE_IN_CHUNK = 0x1ffff;

/** Index of a page's row in its chunk's Int32 view. */
export function pageRow(page: number): number {
  return (page & PAGE_IN_CHUNK) * PAGE_ROW_WORDS;
}

export function controlWords(shards: number): number {
  return SHARDS_AT + shards * SHARD_ROW_WORDS;
}

export function shardRow(shard: number): number {
  return SHARDS_AT + shard * SHARD_ROW_WORDS;
}
