/**
 * How long a test file may take: for the runner, which ends a late test, and for the watchdog in
 * the process of each file. Long forms (ZEROHOP_LONG=1) take minutes by design.
 */
import { isLong } from "../test/support/environment.ts";

/** A file that takes longer hangs, or ought to be two files. */
export const FILE_TIMEOUT_MS: number = isLong ? 5_400_000 : 600_000;
