/**
 * Collects the data for `gettxinfo`: the coins that a transaction spends, and the transactions that spend its outputs.
 * `format/txInfo.ts` formats the data.
 */
import { positionInBlock } from '../../../chain/blocks/storedTransactions.js';
import type { LoadedBlock } from '../../../chain/blocks/loadedBlock.js';
import type { CoinValue } from '../../../native/binding.js';
import { TX_FIRST_INPUT, TX_INPUT_COUNT, TX_STRIDE } from '../../../primitives/blockLayout.js';
import { formatOutPoint, type Transaction } from '../../../primitives/transaction.js';
import { BlockFileError } from '../../../store/files/blockFiles.js';
import { OUTPOINT_SIZE_BYTES } from '../../../store/cache/coinTable.js';
import { undoCoins } from '../../../store/cache/coinRow.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { equalBytes, type Bytes } from '../../../util/bytes.js';
import { isPromise, type MaybePromise } from '../../../util/maybePromise.js';
import type { OutputStatus } from '../../format/txInfoOutputs.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** A coin that an input spends. `height` is undefined if the coin is unconfirmed. */
export interface InputCoin {
  readonly amount: bigint;
  readonly script: Bytes;
  readonly height: number | undefined;
}

const ofChain = ({ amount, script, heightCode }: CoinValue): InputCoin => ({
  amount,
  script,
  height: heightCode >>> 1,
});

/** A block and the position of a transaction in it. */
export interface PlaceInBlock {
  readonly block: LoadedBlock;
  readonly position: number;
}

export async function placeInBlock(
  { chain }: RpcServices,
  id: number,
  txid: Bytes,
): Promise<PlaceInBlock | null> {
  if (!chain.hasData(id)) return null;
  try {
    const block = await chain.readBlock(id);
    const position = positionInBlock(block, txid);
    return position < 0 ? null : { block, position };
  } catch (error) {
    // The error means that the block was pruned while it was being read.
    if (error instanceof BlockFileError && !chain.hasData(id)) return null;
    throw error;
  }
}

/** Returns the coins that the inputs of a confirmed transaction spend, in order. Null if the undo data cannot be read. */
export function coinsInUndo(
  { chain }: RpcServices,
  id: number,
  { block, position }: PlaceInBlock,
): InputCoin[] | null {
  const { txs } = block.parsed;
  const row = position * TX_STRIDE;
  const count = txs[row + TX_INPUT_COUNT]!;
  // The undo data has no entries for the coinbase, so the number of inputs of the coinbase is subtracted.
  const from = txs[row + TX_FIRST_INPUT]! - txs[TX_INPUT_COUNT]!;
  try {
    const found = undoCoins(chain.readUndo(id), from, count);
    return found.length === count ? found.map(ofChain) : null;
  } catch (error) {
    if (error instanceof BlockFileError) return null;
    throw error;
  }
}

/**
 * Returns the outputs that the inputs of a mempool transaction spend, in order; null for an output that does not exist any
 * more.
 */
export async function coinsOfWaiting(
  { chain, mempool }: RpcServices,
  inputs: Transaction['inputs'],
): Promise<(InputCoin | null)[]> {
  const found: (InputCoin | null)[] = [];
  let since = performance.now();
  for (const { prevout } of inputs) {
    const outPoint = formatOutPoint(prevout);
    const made = mempool.output(outPoint);
    if (made !== null) found.push({ amount: made.amountSat, script: made.script, height: undefined });
    else {
      const coin = await chain.coin(outPoint);
      found.push(coin && ofChain(coin));
    }
    since = await yieldIfDue(since);
  }
  return found;
}

/** Returns the number of the input that spends the output; −1 if no input does. */
function inputThatSpends({ inputs }: Transaction, txid: Bytes, n: number): number {
  return inputs.findIndex(({ prevout }) => prevout.index === n && equalBytes(prevout.hash, txid));
}

const UNSPENT: Omit<OutputStatus, 'state'> = { isSpent: false, spender: null };

/** Finds the transactions that spend outputs of one transaction. */
export class Spenders {
  private readonly services: RpcServices;
  private readonly txid: Bytes;
  private readonly outPoint: Buffer;
  /** Transactions read from blocks, by height and offset in the block file. */
  private readonly read = new Map<string, Transaction & { readonly id: Bytes }>();

  constructor(services: RpcServices, txid: Bytes) {
    this.services = services;
    this.txid = txid;
    this.outPoint = formatOutPoint({ hash: txid, index: 0 });
  }

  /** Whether a transaction of the mempool spends one of `count` outputs from `from` on. */
  isWaiting(from: number, count: number): boolean {
    const { mempool } = this.services;
    if (mempool.size === 0) return false;
    for (let n = from; n < from + count; n++) if (mempool.spender(this.outPointOf(n)) !== null) return true;
    return false;
  }

  private outPointOf(n: number): Buffer {
    this.outPoint.writeUInt32LE(n, OUTPOINT_SIZE_BYTES - 4);
    return this.outPoint;
  }

  /**
   * Returns the data about the input that spends output `n`. `isConfirmed`: the transaction is in the active chain.
   * Synchronous if the data is in memory.
   */
  of(n: number, isUnspendable: boolean, isConfirmed: boolean): MaybePromise<Omit<OutputStatus, 'state'>> {
    const { mempool, chain } = this.services;
    const outPoint = this.outPointOf(n);
    const waiting = mempool.spender(outPoint);
    if (waiting !== null) {
      const tx = mempool.transaction(waiting);
      const input = tx === null ? -1 : inputThatSpends(tx, this.txid, n);
      if (input >= 0)
        return {
          isSpent: true,
          spender: { txid: waiting, n: input, height: undefined, blockHash: undefined },
        };
    }
    if (!isConfirmed || isUnspendable) return UNSPENT;
    // A lookup that is not synchronous needs its own copy of the bytes, because the buffer is reused.
    const coin = chain.coin(Buffer.from(outPoint));
    if (!isPromise(coin) && coin !== null) return UNSPENT;
    return this.later(n, coin);
  }

  private async later(n: number, coin: MaybePromise<CoinValue | null>): Promise<Omit<OutputStatus, 'state'>> {
    return (await coin) === null ? { isSpent: true, spender: await this.confirmed(n) } : UNSPENT;
  }

  private async confirmed(n: number): Promise<OutputStatus['spender']> {
    const { chain, spends } = this.services;
    for (const { height, offset, txidStart } of (await spends?.find(this.txid, n)) ?? []) {
      const block = chain.chain.index.active.at(height);
      if (block === NO_HEADER || !chain.hasData(block)) continue;
      const place = `${block}:${offset}`;
      let tx = this.read.get(place);
      if (tx === undefined) {
        const stored = await chain.readTransactionAt(block, offset, txidStart);
        if (stored === null) continue;
        this.read.set(place, (tx = { ...stored.tx, id: stored.txid }));
      }
      const input = inputThatSpends(tx, this.txid, n);
      if (input >= 0) return { txid: tx.id, n: input, height, blockHash: chain.headers.hash(block) };
    }
    return null;
  }
}
