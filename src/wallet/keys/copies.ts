/** Detects whether two wallets are copies of each other. Two copies would give the same addresses to different payers. */
import { toLatin1 } from '../../util/bytes.js';
import type { Slices } from '../../util/slices.js';
import type { HdKeys } from './hdKeys.js';
import { SEED_PATH } from './keyRecords.js';
import { keyIdBytes, type Keyring } from './keyring.js';
import type { Keypool } from './keypool.js';

/** Number of keys whose origin is read between two yields to the event loop. */
const KEYS_AT_ONCE = 64;

/** The parts of a wallet that determine its next addresses. */
export interface KeyCopySource {
  readonly keyring: Keyring;
  readonly hd: HdKeys;
  readonly keypool: Keypool;
}

/**
 * Whether two wallets are copies. Wallets with a seed are copies if they have the same current and former seeds. A wallet
 * that only received the seed of another wallet (`sethdseed`) also has its own former seed, so it is not a copy. Wallets
 * without a seed are copies if their pools have a key in common.
 */
export function* areCopies(one: KeyCopySource, other: KeyCopySource): Slices<boolean> {
  const [first, second] = [one.hd.state, other.hd.state];
  if (first === null || second === null) return first === second && one.keypool.sharesWith(other.keypool);
  if (toLatin1(first.seedId) !== toLatin1(second.seedId)) return false;
  const seeds = yield* seedsOf(one);
  const others = yield* seedsOf(other);
  return seeds.size === others.size && [...seeds].every((id) => others.has(id));
}

function* seedsOf({ keyring }: KeyCopySource): Slices<ReadonlySet<string>> {
  const seeds = new Set<string>();
  let count = 0;
  for (const id of keyring.keyIds()) {
    if (keyring.metadata(keyIdBytes(id))?.path === SEED_PATH) seeds.add(id);
    if (++count % KEYS_AT_ONCE === 0) yield;
  }
  return seeds;
}
