/**
 * Amounts of a transaction from the wallet's view: inputs, payments by receiver, and received outputs. Source: lbrycrd
 * wallet/wallet.cpp `GetAmounts`, `IsChange`, `GetCredit`.
 */
import { extractDestination, scriptForDestination } from '../../script/standard.js';
import { destinationKey, keyedDestination } from '../destinationKey.js';
import { isMine, MINE, MINE_STAKE } from '../keys/isMine.js';
import { blocksToMaturity } from '../ledger/balances.js';
import type { Entry, OwnOutput } from '../ledger/entry.js';
import type { TxRecord } from '../ledger/txRecord.js';
import type { Wallet } from '../wallet.js';

/** An output in a list. */
export interface ListedOutput {
  readonly n: number;
  readonly valueSat: bigint;
  /** `destinationKey`; empty without a destination. */
  readonly to: string;
}

export interface Amounts {
  /** Sum of the wallet's inputs; 0 for transactions of others. */
  readonly debitSat: bigint;
  /** The wallet's inputs minus all outputs. Negative if others have inputs too; 0 if the wallet has none. */
  readonly feeSat: bigint;
  /** Sent outputs without change; empty for transactions of others. */
  readonly sent: readonly ListedOutput[];
  /** Outputs to the wallet. */
  readonly received: readonly ListedOutput[];
}

/** The label of a destination; empty if it has none. Source: `GetLabelName`. */
export function labelOf({ book }: Wallet, destination: string): string {
  return book.at(destination)?.label ?? '';
}

/** `MINE` flags of outputs with the standard script of a destination; 0 without one. */
export function destinationFlags({ keyring }: Wallet, destination: string): number {
  return destination === '' ? MINE.no : isMine(keyring, scriptForDestination(keyedDestination(destination)));
}

/** Whether an output is change: it is the wallet's, and its address has no label. Never a claim. Source: `IsChange`. */
export function isChange({ book }: Wallet, { mine, to }: OwnOutput): boolean {
  return (mine & MINE_STAKE) === 0 && (to === '' || book.at(to) === undefined);
}

/** `filter`: `MINE` flags of what counts as the wallet's. */
export function amountsOf(wallet: Wallet, entry: Entry, { tx }: TxRecord, filter: number): Amounts {
  const debitSat = wallet.ledger.debit(entry, filter);
  const isSent = debitSat > 0n;
  const sent: ListedOutput[] = [];
  const received: ListedOutput[] = [];
  let own = 0;
  let valueOutSat = 0n;
  tx.outputs.forEach(({ value, script }, n) => {
    valueOutSat += value;
    const mine = entry.outputs[own]?.n === n ? entry.outputs[own++] : undefined;
    const isReceived = mine !== undefined && (mine.mine & filter) !== 0;
    if (isSent ? mine !== undefined && isChange(wallet, mine) : !isReceived) return;
    const listed = { n, valueSat: value, to: mine?.to ?? destinationIn(script) };
    if (isSent) sent.push(listed);
    if (isReceived) received.push(listed);
  });
  return { debitSat, feeSat: isSent ? debitSat - valueOutSat : 0n, sent, received };
}

function destinationIn(script: Uint8Array): string {
  const destination = extractDestination(script);
  return destination === null ? '' : destinationKey(destination);
}

/** Number of outputs that `amountsOf` would list, without reading the transaction. */
export function listedCounts(
  wallet: Wallet,
  entry: Entry,
  filter: number,
): { sent: number; received: readonly OwnOutput[] } {
  const isSent = wallet.ledger.debit(entry, filter) > 0n;
  const change = isSent ? entry.outputs.filter((output) => isChange(wallet, output)) : [];
  return {
    sent: isSent ? entry.outputCount - change.length : 0,
    received: entry.outputs.filter((output) => (output.mine & filter) !== 0 && !change.includes(output)),
  };
}

/** Sum of the wallet's outputs; 0 while they are immature. Source: `CWalletTx::GetCredit`. */
export function creditSat({ ledger }: Wallet, entry: Entry, filter: number): bigint {
  if (blocksToMaturity(ledger, entry) > 0) return 0n;
  let sum = 0n;
  for (const { mine, valueSat } of entry.outputs) if ((mine & filter) !== 0) sum += valueSat;
  return sum;
}
