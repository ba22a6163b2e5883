/** What the ledger asks of its surroundings, and what it is told. */
import type { Bytes } from '../../util/bytes.js';
import type { Entry } from './entry.js';
import type { TxRecord } from './txRecord.js';

/** What the ledger asks of its surroundings. */
export interface LedgerPort {
  /** `MINE` flags of an output script. */
  mine(script: Bytes): number;
  /** The same of the P2PKH script of a key's id, a byte a character. */
  mineOfKeyHash(keyId: string): number;
  /** Another whenever `mine` may answer otherwise. */
  readonly mineRevision: number;
  /** Height of a block of the active chain (as far as the wallet has followed it), −1 for others. Wire order. */
  heightOf(blockHash: Bytes): number;
  /** Height of the tip that the wallet has followed the chain to. */
  readonly height: number;
  nowSec(): number;
  /** The row of a transaction as it is on disk. */
  readRow(key: string): Buffer | undefined;
  /** What else has a place in the order of transactions, the latest last (`move`). */
  moves(): readonly { readonly orderPos: number; readonly timeSec: number }[];
  /** Notified of what came to conflict with a block, or does not any more, and of what was abandoned. */
  settledOtherwise(entry: Entry): void;
  /** Notified of the outputs (`outputKey`) that a new transaction spends, whatever becomes of it. */
  spentBy(inputs: readonly string[]): void;
}

/** Position of a transaction in a block. */
export interface Place {
  readonly blockHash: Bytes;
  readonly height: number;
  readonly timeSec: number;
  /** Place among the block's transactions. */
  readonly index: number;
}

/** What is known of a transaction that the wallet itself makes. */
export interface OwnTransaction {
  readonly notes?: ReadonlyMap<string, string>;
  readonly orderForm?: TxRecord['orderForm'];
  readonly fromAccount?: string;
}
