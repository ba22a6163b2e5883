/** Which outputs of a transaction are the wallet's, or watched. */
import type { Transaction } from '../../primitives/transaction.js';
import { claimPrefixLength } from '../../script/claimScript.js';
import { extractDestination, solveScript } from '../../script/standard.js';
import type { Bytes } from '../../util/bytes.js';
import { destinationKey } from '../destinationKey.js';
import type { OwnOutput } from './entry.js';
import type { LedgerPort } from './ledgerPort.js';

/** `canonical`: the same `destinationKey` as it is kept already, so that equal ones take memory once. */
export function ownOutputs(
  tx: Transaction,
  port: Pick<LedgerPort, 'mine'>,
  canonical: (key: string) => string,
): OwnOutput[] {
  const own: OwnOutput[] = [];
  tx.outputs.forEach(({ value, script }, n) => {
    const mine = port.mine(script);
    if (mine === 0) return;
    const destination = extractDestination(script);
    const to = destination === null ? '' : canonical(destinationKey(destination));
    const isPlain = to !== '' && claimPrefixLength(script) === 0 && !isBareKey(script);
    own.push({ n, valueSat: value, mine, to, isPlain });
  });
  // A list that grew has room for sixteen more.
  return own.slice();
}

/** Whether a script pays to a key itself; others of its length are solved for nothing. */
function isBareKey(script: Bytes): boolean {
  return (script.length === 35 || script.length === 67) && solveScript(script).type === 'pubkey';
}
