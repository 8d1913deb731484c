/**
 * The package as an application imports it: the embedded store. The reference goes into its
 * declarations, which speak of Buffer: since TypeScript 6 no types are taken up unless somebody
 * names them, and a Buffer that nobody knows counts as any, without a word under skipLibCheck.
 */
/// <reference types="node" preserve="true" />
import type { CommandTable } from "./command/lookup.ts";
import { serverCommands } from "./commands.ts";
import { StoreBroken, StoreError } from "./embed/errors.ts";
import type { CopyOptions, ExpireCondition, ScanOptions, ScanPage } from "./embed/key-methods.ts";
import { openStore } from "./embed/open.ts";
import type { Database, Store } from "./embed/store.ts";
import type { ExpiryOptions, GetexOptions, Pairs, SetOptions } from "./embed/string-methods.ts";
import type {
  EvictionPolicy,
  ListenAddress,
  ListenOptions,
  OpenOptions,
  OptionValue,
  StoreHandle,
  StoreOptions,
  Text,
  Word,
} from "./embed/types.ts";

let commands: CommandTable | null = null;

/**
 * Makes a store in this process, or with `{ handle }` opens one that another thread has made; both
 * are synchronous. Options are directives in camelCase. Throws StoreError, whose message names what
 * is wrong.
 */
export function open(options: OpenOptions = {}): Store {
  commands ??= serverCommands();
  return openStore(options, commands);
}

export type {
  CopyOptions,
  Database,
  EvictionPolicy,
  ExpireCondition,
  ExpiryOptions,
  GetexOptions,
  ListenAddress,
  ListenOptions,
  OpenOptions,
  OptionValue,
  Pairs,
  ScanOptions,
  ScanPage,
  SetOptions,
  Store,
  StoreHandle,
  StoreOptions,
  Text,
  Word,
};
export { StoreBroken, StoreError };
