/**
 * Determines the output for the change. Source: lbrycrd wallet/wallet.cpp `TransactionChangeType`, the beginning of
 * `CreateTransaction`.
 */
import { stripClaimPrefix } from '../../script/claimScript.js';
import { isWitnessProgram } from '../../script/script.js';
import { scriptForDestination } from '../../script/standard.js';
import { destinationForKey, type OutputType } from '../../signing/outputType.js';
import type { Bytes } from '../../util/bytes.js';
import { learnRelatedScripts } from '../keys/newAddress.js';
import type { ReservedKey } from '../keys/keypool.js';
import type { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import type { CoinControl } from './coinControl.js';
import { SpendError } from './spendError.js';

export interface ChangePlace {
  readonly script: Bytes;
  /** Reserved pool key of the change output. It must be kept or returned later. Null if the caller specified the destination. */
  readonly key: ReservedKey | null;
}

/** Address type of the change. It is the type of a payment, unless the wallet or the caller (`said`) has specified a type. */
function changeTypeFor(wallet: Wallet, said: OutputType | null, paid: readonly Bytes[]): OutputType {
  const { addressType, changeType } = wallet.options;
  const fixed = said ?? changeType;
  if (fixed !== null) return fixed;
  if (addressType === 'legacy') return 'legacy';
  return paid.some((script) => isWitnessProgram(stripClaimPrefix(script))) ? 'bech32' : addressType;
}

/**
 * Determines the change output. Takes a key out of the pool if the change needs one. Throws `SpendError` if no key is
 * available.
 */
export function reserveChange(
  wallet: Wallet,
  batch: WalletBatch,
  control: CoinControl,
  paid: readonly Bytes[],
): ChangePlace {
  if (control.changeScript !== null) return { script: control.changeScript, key: null };
  if (!wallet.hasPrivateKeys) {
    throw new SpendError("Can't generate a change-address key. Private keys are disabled for this wallet.");
  }
  const key = wallet.keys.reserve(batch, true);
  if (key === null) throw new SpendError('Keypool ran out, please call keypoolrefill first');
  const type = changeTypeFor(wallet, control.changeType, paid);
  learnRelatedScripts(wallet, batch, key.key.publicKey, type);
  return { script: scriptForDestination(destinationForKey(key.key.publicKey, type)), key };
}
