/**
 * Answers of `getclaimsfortx` about transactions with many claims, cached until a block spends one of the outputs or changes the
 * state of one of the claims. Only the depth of the transaction changes with each block. The cache is limited in size.
 */
import type { ChainEvents } from '../../../chain/chainEvents.js';
import type { OutputState, OutputStatesQuery } from '../../../store/claims/query/outputStates.js';
import type { Bytes } from '../../../util/bytes.js';
import { encodedJson, RawJson } from '../../../util/json/jsonWrite.js';
import { TransactionCache, type ChainMark } from '../../lookup/transactionCache.js';

/** Limit of the cached texts in characters. Each answer is also cached as a whole, with the depth at the latest request. */
const MOST_CHARS = 2 << 20;

type States = readonly (OutputState | null)[];

/** A cached answer without the depth of the transaction. */
export class TxClaims {
  /** Query for the states of the claims. The answer is valid as long as the query returns `states`. */
  readonly query: OutputStatesQuery;
  readonly states: States;
  /** JSON text of the answer, split at each place of the depth. */
  private readonly pieces: readonly string[];
  private latest: { readonly depth: number; readonly json: RawJson } | null = null;

  constructor(query: OutputStatesQuery, states: States, pieces: readonly string[]) {
    this.query = query;
    this.states = states;
    this.pieces = pieces;
  }

  get chars(): number {
    return this.pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** The answer at a depth. */
  at(depth: number): RawJson {
    if (this.latest?.depth !== depth)
      this.latest = { depth, json: new RawJson(encodedJson(this.pieces.join(String(depth)))) };
    return this.latest.json;
  }
}

export class KeptTxClaims {
  private readonly answers: TransactionCache<TxClaims>;

  constructor(events: Pick<ChainEvents, 'on'>) {
    this.answers = new TransactionCache(events, MOST_CHARS);
  }

  get mark(): ChainMark {
    return this.answers.mark;
  }

  find(txid: Bytes): TxClaims | undefined {
    return this.answers.get(txid);
  }

  /** Caches an answer, unless a block was connected or disconnected since `mark`. */
  keep(txid: Bytes, answer: TxClaims, mark: ChainMark): void {
    this.answers.set(txid, answer, answer.chars, mark);
  }
}
