/**
 * Computes the amounts of a transaction from the point of view of the wallet: inputs, payments by receiver, and received
 * outputs. Source: lbrycrd wallet/wallet.cpp `GetAmounts`, `IsChange`, `GetCredit`.
 */
import { extractDestination, scriptForDestination } from '../../script/standard.js';
import { destinationKey, keyedDestination } from '../destinationKey.js';
import { isMine, MINE, MINE_STAKE } from '../keys/isMine.js';
import { blocksToMaturity } from '../ledger/balances.js';
import type { Entry, OwnOutput } from '../ledger/entry.js';
import type { TxRecord } from '../ledger/txRecord.js';
import type { Wallet } from '../wallet.js';

/** An output in the list of a transaction's payments or receipts. */
export interface ListedOutput {
  readonly n: number;
  readonly valueSat: bigint;
  /** Destination (`destinationKey`) of the output; empty if the script has no destination. */
  readonly to: string;
}

export interface Amounts {
  /** Sum of the inputs that belong to the wallet; 0 for transactions of others. */
  readonly debitSat: bigint;
  /** The wallet's inputs minus all outputs. Negative if other users also have inputs; 0 if the wallet has no inputs. */
  readonly feeSat: bigint;
  /** Payments without change. Empty for transactions of others. */
  readonly sent: readonly ListedOutput[];
  /** Outputs that the wallet received. */
  readonly received: readonly ListedOutput[];
}

/** The label of a destination; empty if the destination has no label. Source: `GetLabelName`. */
export function labelOf({ book }: Wallet, destination: string): string {
  return book.at(destination)?.label ?? '';
}

/** Ownership flags (`MINE`) of an output with the standard script of a destination; 0 for an empty destination. */
export function destinationFlags({ keyring }: Wallet, destination: string): number {
  return destination === '' ? MINE.no : isMine(keyring, scriptForDestination(keyedDestination(destination)));
}

/**
 * Whether an output is change: the wallet owns it and its address is not in the address book. Claims and supports are never
 * change. Source: `IsChange`.
 */
export function isChange({ book }: Wallet, { mine, to }: OwnOutput): boolean {
  return (mine & MINE_STAKE) === 0 && (to === '' || book.at(to) === undefined);
}

/** Computes the amounts of a transaction. `filter`: `MINE` flags of the outputs that count as owned. */
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

/** Counts the sent and received outputs that `amountsOf` would return, without reading the transaction from disk. */
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

/** Sum of the outputs that belong to the wallet; 0 while they are immature. Source: `CWalletTx::GetCredit`. */
export function creditSat({ ledger }: Wallet, entry: Entry, filter: number): bigint {
  if (blocksToMaturity(ledger, entry) > 0) return 0n;
  let sum = 0n;
  for (const { mine, valueSat } of entry.outputs) if ((mine & filter) !== 0) sum += valueSat;
  return sum;
}
