/** The interface through which the ledger queries and notifies its environment. */
import type { Bytes } from '../../util/bytes.js';
import type { Entry } from './entry.js';
import type { TxRecord } from './txRecord.js';

/** Data that the ledger queries. */
export interface LedgerPort {
  /** `MINE` flags of an output script. */
  mine(script: Bytes): number;
  /** The same for the P2PKH script of a key id (latin1). */
  mineOfKeyHash(keyId: string): number;
  /** Changes whenever `mine` may return another result. */
  readonly mineRevision: number;
  /** Height of a block of the active chain (as far as the wallet has followed it), −1 for others. Wire order. */
  heightOf(blockHash: Bytes): number;
  /** Height up to which the wallet has followed the chain. */
  readonly height: number;
  nowSec(): number;
  /** The row of a transaction on disk. */
  readRow(key: string): Buffer | undefined;
  /** Other items in the order of transactions, the latest last (`move`). */
  moves(): readonly { readonly orderPos: number; readonly timeSec: number }[];
  /** Called when an entry starts or stops to conflict with a block, or is abandoned. */
  settledOtherwise(entry: Entry): void;
  /** Called with the outputs (`outputKey`) that a new transaction spends, whatever its state. */
  spentBy(inputs: readonly string[]): void;
}

/** Position of a transaction in a block. */
export interface Place {
  readonly blockHash: Bytes;
  readonly height: number;
  readonly timeSec: number;
  /** Position among the block's transactions. */
  readonly index: number;
}

/** Additional data of a transaction that the wallet itself created. */
export interface OwnTransaction {
  readonly notes?: ReadonlyMap<string, string>;
  readonly orderForm?: TxRecord['orderForm'];
  readonly fromAccount?: string;
}
