/**
 * Signs the inputs of a transaction with the wallet's keys. The keyring overwrites these keys when the wallet is locked.
 * Source: lbrycrd wallet/wallet.cpp `SignTransaction`.
 */
import type { Transaction } from '../../primitives/transaction.js';
import { PrecomputedSighash, SIGHASH } from '../../script/sighash.js';
import { produceSignature } from '../../signing/produceSignature.js';
import { InputSigner } from '../../signing/signatureCreator.js';
import { emptySignatureData } from '../../signing/signatureData.js';
import type { SigningProvider } from '../../signing/signingProvider.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { ChosenCoin } from './chooseCoins.js';

/** Signs every input. `coins` are the spent outputs in the order of the inputs. Returns false if an input could not be signed. */
export async function signInputs(
  provider: SigningProvider,
  tx: Transaction,
  coins: readonly ChosenCoin[],
): Promise<boolean> {
  const shared = new PrecomputedSighash(tx);
  let since = performance.now();
  for (const [index, { script, valueSat }] of coins.entries()) {
    const data = emptySignatureData();
    const signer = new InputSigner(tx, index, valueSat, SIGHASH.ALL, shared);
    if (!produceSignature(provider, signer, script, data)) return false;
    const input = tx.inputs[index]!;
    input.scriptSig = data.scriptSig;
    input.witness = data.scriptWitness;
    since = await yieldIfDue(since);
  }
  return true;
}
