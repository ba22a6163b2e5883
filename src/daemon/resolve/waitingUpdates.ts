/**
 * Checks unconfirmed updates of claims. Such a transaction cannot be proven to exist, so a hub could invent an update of
 * any claim. The owner's signature proves it: an input must spend the claim, and its script must be valid. New claims need
 * no such check, because the id of a new claim is derived from its transaction.
 */
import { normalizeName } from '../../claimtrie/normalize.js';
import type { Transaction, TxOutput } from '../../primitives/transaction.js';
import { TransactionChecker } from '../../script/checker.js';
import { claimIdOf, decodeClaimScript, type ClaimScript } from '../../script/claimScript.js';
import { STANDARD_SCRIPT_VERIFY_FLAGS } from '../../script/flags.js';
import { verifyScript } from '../../script/interpreter.js';
import { SCRIPT_ERROR } from '../../script/scriptError.js';
import { equalBytes, hashToHex, type Bytes } from '../../util/bytes.js';
import type { DaemonLedger, LedgerTransaction } from '../ledger/ledger.js';
import { WrongAnswerError, type OutputPlace } from './hubAnswer.js';

/** Maximum number of inputs that are searched for the spent claim. Arbitrary: wallets spend the claim as the first input. */
const MAX_INPUTS = 16;
/** Maximum length of a chain of unconfirmed updates. Source: lbrycrd validation.h `DEFAULT_ANCESTOR_LIMIT`. */
const MAX_CHAIN = 25;

type Transactions = ReadonlyMap<string, LedgerTransaction>;

interface Update {
  readonly tx: Transaction;
  readonly claimId: Bytes;
  readonly name: Bytes;
}

/** Checks unconfirmed updates of claims. Throws `WrongAnswerError` for an update that does not spend its claim. */
export async function checkWaitingUpdates(
  places: readonly OutputPlace[],
  transactions: Transactions,
  port: Pick<DaemonLedger, 'transactions'>,
): Promise<void> {
  let updates = places.flatMap((place) => updateAt(place, transactions.get(hashToHex(place.txid))));
  for (let length = 1; updates.length > 0; length++) {
    if (length > MAX_CHAIN)
      throw new WrongAnswerError('there are more unconfirmed updates of one claim than a mempool accepts');
    const parents = await parentsOf(updates, port);
    updates = updates.flatMap((update) => formerUpdate(update, parents));
  }
}

/**
 * Returns the claim update in an output of an unconfirmed transaction; empty if the transaction is confirmed or the output
 * is not an update.
 */
function updateAt({ nout }: OutputPlace, found: LedgerTransaction | undefined): Update[] {
  const output = found?.tx.outputs[nout];
  if (output === undefined || found!.isVerified) return [];
  const script = decodeClaimScript(output.script);
  return script?.kind === 'update' ? [{ tx: found!.tx, claimId: script.claimId!, name: script.name }] : [];
}

async function parentsOf(
  updates: readonly Update[],
  port: Pick<DaemonLedger, 'transactions'>,
): Promise<Transactions> {
  const wanted = new Map<string, Bytes>();
  for (const { tx } of updates)
    for (const { prevout } of tx.inputs.slice(0, MAX_INPUTS))
      wanted.set(hashToHex(prevout.hash), prevout.hash);
  return port.transactions([...wanted.values()]);
}

/**
 * Returns the output that the update spends, if it is an unconfirmed update. Throws if the update does not validly spend its
 * claim.
 */
function formerUpdate(update: Update, parents: Transactions): Update[] {
  const { tx, claimId } = update;
  for (const [i, { prevout }] of tx.inputs.slice(0, MAX_INPUTS).entries()) {
    const parent = parents.get(hashToHex(prevout.hash));
    const output = parent?.tx.outputs[prevout.index];
    const spent = output === undefined ? null : decodeClaimScript(output.script);
    if (spent === null || !isOfClaim(update, spent, prevout)) continue;
    if (!mayUnlock(tx, i, output!)) break;
    return updateAt({ txid: prevout.hash, nout: prevout.index }, parent);
  }
  // A new block or a replacement transaction may have changed the spent outputs, so the hub may be honest.
  throw new WrongAnswerError(
    `an update of ${hashToHex(claimId)} is not signed by the owner of the claim`,
    true,
  );
}

function isOfClaim(
  { claimId, name }: Update,
  spent: ClaimScript,
  { hash, index }: { readonly hash: Bytes; readonly index: number },
): boolean {
  if (spent.kind === 'support') return false;
  const id = spent.claimId ?? claimIdOf(hash, index);
  return equalBytes(id, claimId) && equalBytes(normalizeName(spent.name), normalizeName(name));
}

function mayUnlock(tx: Transaction, input: number, { value, script }: TxOutput): boolean {
  const { scriptSig, witness } = tx.inputs[input]!;
  const checker = new TransactionChecker(tx, input, value);
  return verifyScript(scriptSig, script, witness, STANDARD_SCRIPT_VERIFY_FLAGS, checker) === SCRIPT_ERROR.OK;
}
