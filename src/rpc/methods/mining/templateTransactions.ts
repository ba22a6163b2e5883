/**
 * The transactions of a block template as JSON. Each text is created once, when the result is sent, and cached while the
 * transaction is in the mempool.
 */
import type { BlockCandidate } from '../../../mempool/mempoolReader.js';
import { spentKeysOf, txKeyOf } from '../../../mempool/poolEntry.js';
import { hashToHex, toHex } from '../../../util/bytes.js';
import { RawJson } from '../../../util/json/jsonWrite.js';

interface Prepared {
  /** The text before the list of dependencies. */
  readonly head: string;
  /** Text of a transaction without dependencies. */
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

/** Entries are written in pieces of about this many characters, since a writer step costs more than a short entry. */
const PIECE_CHARS = 16 << 10;

/**
 * The entries in order, several to a piece, with commas between them. `sigopsDivisor` is the cost of a signature operation
 * if costs do not apply yet (before segwit), else 1. An entry depends on the earlier entries that it spends, numbered from
 * 1, once for each input.
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
