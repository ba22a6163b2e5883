/** Tells whether a destination belongs to a key in the pool. A payment to such a destination marks the key as used. */
import { scriptForDestination } from '../../script/standard.js';
import { keyedDestination } from '../destinationKey.js';
import { keyIdsOf } from './affectedKeys.js';
import type { Keypool } from './keypool.js';
import type { Keyring } from './keyring.js';

/** Whether an output pays to a key of the pool. `to` is a `destinationKey`; empty if the output has no destination. */
export function paysToPool(keyring: Keyring, keypool: Keypool, to: string): boolean {
  if (to === '') return false;
  const destination = keyedDestination(to);
  if (destination.type === 'pubkeyhash') return keypool.has(destination.hash);
  return keyIdsOf(keyring, scriptForDestination(destination)).some((id) => keypool.has(id));
}
