/** The interface through which the ledger queries its environment and sends notifications. */
import type { Bytes } from '../../util/bytes.js';
import type { Entry } from './entry.js';
import type { TxRecord } from './txRecord.js';

/** Data that the ledger needs from its environment. */
export interface LedgerPort {
  /** Ownership flags (`MINE`) of an output script. */
  mine(script: Bytes): number;
  /** Ownership flags (`MINE`) of the P2PKH script of a key id (latin1). */
  mineOfKeyHash(keyId: string): number;
  /** Number that changes whenever `mine` may return a different result. */
  readonly mineRevision: number;
  /** Height of a block (hash in wire order) in the active chain as far as the wallet has followed it; −1 for other blocks. */
  heightOf(blockHash: Bytes): number;
  /** Height of the last block that the wallet has applied. */
  readonly height: number;
  nowSec(): number;
  /** Reads the row of a transaction from disk. */
  readRow(key: string): Buffer | undefined;
  /** Moves between accounts, which are part of the order of transactions, the latest last. */
  moves(): readonly { readonly orderPos: number; readonly timeSec: number }[];
  /** Called when a transaction starts or stops conflicting with a block, or is abandoned. */
  settledOtherwise(entry: Entry): void;
  /** Called with the keys (`outputKey`) of the outputs that a new transaction spends, whatever the state of the transaction. */
  spentBy(inputs: readonly string[]): void;
}

/** Position of a transaction in a block. */
export interface ChainPlace {
  readonly blockHash: Bytes;
  readonly height: number;
  readonly timeSec: number;
  /** Position of the transaction among the transactions of the block. */
  readonly index: number;
}

/** Additional data of a transaction that the wallet itself created. */
export interface OwnTransaction {
  readonly notes?: ReadonlyMap<string, string>;
  readonly orderForm?: TxRecord['orderForm'];
  readonly fromAccount?: string;
}
