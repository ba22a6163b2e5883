/** Detects two wallets that are copies of each other, and so hand out the same addresses. */
import { toLatin1 } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';
import type { HdKeys } from './hdKeys.js';
import { SEED_PATH } from './keyRecords.js';
import { keyIdBytes, type Keyring } from './keyring.js';
import type { Keypool } from './keypool.js';

/** Keys whose origin is read between two yields. */
const KEYS_AT_ONCE = 64;

/** The parts of a wallet that determine the keys that it hands out. */
export interface KeySource {
  readonly keyring: Keyring;
  readonly hd: HdKeys;
  readonly keypool: Keypool;
}

/**
 * Whether both wallets have the same present and former seeds. A wallet that received the seed of another one (`sethdseed`)
 * also has a former seed of its own. For wallets without a seed: whether a key is in the pools of both.
 */
export function* areCopies(one: KeySource, other: KeySource): Slices<boolean> {
  const [first, second] = [one.hd.state, other.hd.state];
  if (first === null || second === null) return first === second && one.keypool.sharesWith(other.keypool);
  if (toLatin1(first.seedId) !== toLatin1(second.seedId)) return false;
  const seeds = yield* seedsOf(one);
  const others = yield* seedsOf(other);
  return seeds.size === others.size && [...seeds].every((id) => others.has(id));
}

function* seedsOf({ keyring }: KeySource): Slices<ReadonlySet<string>> {
  const seeds = new Set<string>();
  let count = 0;
  for (const id of keyring.keyIds()) {
    if (keyring.metadata(keyIdBytes(id))?.path === SEED_PATH) seeds.add(id);
    if (++count % KEYS_AT_ONCE === 0) yield;
  }
  return seeds;
}
