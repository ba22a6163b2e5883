/**
 * Formats the transactions of a block template as JSON. The text of each transaction is created when it is first sent, and
 * cached while the transaction is in the mempool.
 */
import type { BlockCandidate } from '../../../mempool/mempoolReader.js';
import { spentKeysOf, txKeyOf } from '../../../mempool/poolEntry.js';
import { hashToHex, toHex } from '../../../util/bytes.js';
import { RawJson } from '../../../util/json/jsonWrite.js';

interface Prepared {
  /** JSON text of the transaction's entry before its list of dependencies. */
  readonly head: string;
  /** Complete JSON text of the transaction's entry if it has no dependencies. */
  readonly alone: string;
}

const prepared = new WeakMap<BlockCandidate, Prepared>();

function prepare(candidate: BlockCandidate): Prepared {
  const data = toHex(candidate.bytes);
  const [txid, hash] = [hashToHex(candidate.txid), hashToHex(candidate.wtxid)];
  const head = `{"data":"${data}","txid":"${txid}","hash":"${hash}","depends":[`;
  return { head, alone: head + tailOf(candidate, 1) };
}

function tailOf({ feeSat, sigopsCost, weight }: BlockCandidate, sigopsDivisor: number): string {
  return `],"fee":${feeSat},"sigops":${sigopsCost / sigopsDivisor},"weight":${weight}}`;
}

/**
 * Number of characters that are combined to one piece before they are written, because a write costs more than creating a
 * short entry.
 */
const PIECE_CHARS = 16 << 10;

/**
 * Yields the entries in order as text with commas between them, several entries per piece. `sigopsDivisor` is the cost of a
 * signature operation if costs do not apply yet (before segwit), otherwise 1. The dependencies of an entry are the earlier
 * entries whose outputs it spends. They are numbered from 1 and listed once per input.
 */
export function* templateTransactions(
  transactions: readonly BlockCandidate[],
  sigopsDivisor: number,
): Generator<RawJson> {
  const numbers = new Map<string, number>();
  for (const { parents } of transactions) for (const { key } of parents) numbers.set(key, 0);
  let piece = '';
  for (const [at, candidate] of transactions.entries()) {
    let entry = prepared.get(candidate);
    if (!entry) prepared.set(candidate, (entry = prepare(candidate)));
    if (numbers.has(candidate.key)) numbers.set(candidate.key, at + 1);
    if (piece !== '') piece += ',';
    if (candidate.parents.length === 0 && sigopsDivisor === 1) piece += entry.alone;
    else {
      const depends = spentKeysOf(candidate.bytes).flatMap((spent) => numbers.get(txKeyOf(spent)) || []);
      piece += entry.head + depends.join() + tailOf(candidate, sigopsDivisor);
    }
    if (piece.length < PIECE_CHARS) continue;
    yield new RawJson(piece);
    piece = '';
  }
  if (piece !== '') yield new RawJson(piece);
}
