/** Packs a wallet's keys and pools into typed arrays (columns, `packedKeys.ts`) for the wallet image. */
import { enterSlot, slotsFor, wordOf } from '../../util/hashSlots.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';
import { recordKey } from '../store/records.js';
import { bytesKey, idOf, type PoolKey } from './keyRecords.js';
import { KEY_ID_BYTES, KEY_ROW_KINDS, type KeyColumns } from './packedKeys.js';
import { IS_INTERNAL, IS_PRE_SPLIT } from './poolList.js';

const KEYS_AT_ONCE = 256;

export type PoolLists = Readonly<
  Record<'receive' | 'change' | 'preSplit', Iterable<[index: number, key: PoolKey]>>
>;

/** Keys to pack. `hasRow` returns whether the wallet file contains a row with this key. */
export interface KeySource {
  readonly ids: readonly string[];
  publicKey(id: string): Bytes;
  /** Ids of P2WPKH scripts with the ids of their keys. */
  readonly scripts: Iterable<readonly [scriptId: string, keyId: string]>;
  hasRow(key: string): boolean;
}

type OwnColumns = Omit<KeyColumns, keyof PoolColumns>;
type PoolColumns = Pick<
  KeyColumns,
  'poolIndexes' | 'poolSecs' | 'poolFlags' | 'receive' | 'change' | 'preSplit'
>;

/** Packs the keys into columns. Null if a key has no row. */
export function* packOwn({ ids, publicKey, scripts, hasRow }: KeySource): Slices<OwnColumns | null> {
  const count = ids.length;
  const numbers = new Map(ids.map((id, number) => [id, number]));
  const keys = ids.map((id) => publicKey(id));
  const publicStarts = new Uint32Array(count + 1);
  for (const [n, key] of keys.entries()) publicStarts[n + 1] = publicStarts[n]! + key.length;
  const columns = {
    publicStarts,
    publicBytes: Buffer.concat(keys.map((key) => Buffer.from(key))),
    ids: Buffer.from(ids.join(''), 'latin1'),
    idSlots: slotsFor(count),
    scriptIds: Buffer.alloc(count * KEY_ID_BYTES),
    scriptSlots: slotsFor(count),
    rowKinds: new Uint8Array(count),
    hasOrigin: new Uint8Array(count),
  };
  for (const [n, key] of keys.entries()) {
    if (n % KEYS_AT_ONCE === 0) yield;
    const rest = toLatin1(bytesKey(key));
    // The reference writes the newer row types. If a key has two rows, the later type in this list is used.
    const kind = [2, 0, 1].find((one) => hasRow(recordKey(KEY_ROW_KINDS[one]!, rest)));
    if (kind === undefined) return null;
    columns.rowKinds[n] = kind;
    columns.hasOrigin[n] = hasRow(recordKey('keymeta', rest)) ? 1 : 0;
    enterSlot(columns.idSlots, wordOf(ids[n]!), n);
  }
  for (const [scriptId, keyId] of scripts) {
    const n = numbers.get(keyId);
    // The script belongs to a watch-only key. Such keys are not packed.
    if (n === undefined) continue;
    columns.scriptIds.write(scriptId, n * KEY_ID_BYTES, 'latin1');
    enterSlot(columns.scriptSlots, wordOf(scriptId), n);
  }
  return columns;
}

/**
 * Packs the pools into columns. Null if a pool key is not among the packed keys, or occurs twice. `find` returns the number
 * of a key by its id.
 */
export function* packPool(
  count: number,
  find: (id: string) => number,
  pools: PoolLists,
): Slices<PoolColumns | null> {
  const columns = {
    poolIndexes: new Float64Array(count),
    poolSecs: new Float64Array(count),
    poolFlags: new Uint8Array(count),
  };
  const lists: Record<keyof PoolLists, Uint32Array> = { receive: NONE, change: NONE, preSplit: NONE };
  for (const [name, pool] of Object.entries(pools) as [keyof PoolLists, PoolLists['receive']][]) {
    const numbers: number[] = [];
    for (const [index, { createdSec, publicKey, isInternal, isPreSplit }] of pool) {
      const n = find(toLatin1(idOf(publicKey)));
      // A pool index of 0 means that the key is not in a pool.
      if (n < 0 || columns.poolIndexes[n] !== 0 || index <= 0) return null;
      columns.poolIndexes[n] = index;
      columns.poolSecs[n] = createdSec;
      columns.poolFlags[n] = (isInternal ? IS_INTERNAL : 0) | (isPreSplit ? IS_PRE_SPLIT : 0);
      numbers.push(n);
      if (numbers.length % KEYS_AT_ONCE === 0) yield;
    }
    lists[name] = Uint32Array.from(numbers);
  }
  return { ...columns, ...lists };
}

const NONE = new Uint32Array(0);
