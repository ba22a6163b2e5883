/** Whether a destination is that of a key in the pool: a payment to it uses the key up. */
import { scriptForDestination } from '../../script/standard.js';
import { keyedDestination } from '../destinationKey.js';
import { keyIdsOf } from './affectedKeys.js';
import type { Keypool } from './keypool.js';
import type { Keyring } from './keyring.js';

/** `to`: a `destinationKey`; empty for none. */
export function paysToPool(keyring: Keyring, keypool: Keypool, to: string): boolean {
  if (to === '') return false;
  const destination = keyedDestination(to);
  if (destination.type === 'pubkeyhash') return keypool.has(destination.hash);
  return keyIdsOf(keyring, scriptForDestination(destination)).some((id) => keypool.has(id));
}
