/** The row with the state of the whole trie: its root and its totals. */
import { EMPTY_ROOT } from '../../../claimtrie/trieNode.js';
import type { NameState } from '../../../claimtrie/nameState.js';
import type { Bytes } from '../../../util/bytes.js';
import type { RowWriter } from '../../rows/rows.js';
import { SUMMARY_KEY } from './claimKeys.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

export interface ClaimTotals {
  /** Number of names with an active claim. */
  names: number;
  /** Active claims. */
  claims: number;
  /** Sum of the amounts of all active claims in satoshis, without supports. */
  amount: bigint;
  /** Sum of the amounts of the controlling claims in satoshis, without supports. */
  controllingAmount: bigint;
}

export interface Summary {
  root: Bytes;
  totals: ClaimTotals;
}

const encoder = new RowEncoder();

export function noTotals(): ClaimTotals {
  return { names: 0, claims: 0, amount: 0n, controllingAmount: 0n };
}

function formatSummaryRow({ root, totals }: Summary): Buffer {
  encoder.bytes(root).number(totals.names).number(totals.claims);
  return encoder.amount(totals.amount).amount(totals.controllingAmount).finish();
}

export function parseSummaryRow(row: Bytes | undefined): Summary {
  if (!row) return { root: EMPTY_ROOT, totals: noTotals() };
  const input = new RowDecoder(row);
  return {
    root: input.bytes(32),
    totals: {
      names: input.number(),
      claims: input.number(),
      amount: input.amount(),
      controllingAmount: input.amount(),
    },
  };
}

/** Writes the row, or deletes it if the trie is empty. */
export function putSummary(rows: RowWriter, summary: Summary): void {
  if (summary.totals.names === 0) rows.del(SUMMARY_KEY);
  else rows.put(SUMMARY_KEY, formatSummaryRow(summary));
}

/** Returns the share of one name in the totals of the trie. */
export function totalsOf({ claims }: NameState): ClaimTotals {
  const best = claims[0];
  if (!best) return noTotals();
  let amount = 0n;
  for (const claim of claims) amount += claim.amount;
  return { names: 1, claims: claims.length, amount, controllingAmount: best.amount };
}

/** Replaces a name's former share `before` of the totals by its new share `after`. */
export function moveTotals(totals: ClaimTotals, before: ClaimTotals, after: ClaimTotals): void {
  totals.names += after.names - before.names;
  totals.claims += after.claims - before.claims;
  totals.amount += after.amount - before.amount;
  totals.controllingAmount += after.controllingAmount - before.controllingAmount;
}
