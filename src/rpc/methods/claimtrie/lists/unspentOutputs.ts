/** Finds the unspent outputs of one transaction of the active chain. Works even if the block of the transaction is pruned. */
import type { ChainReader } from '../../../../chain/chainReader.js';
import { OUTPOINT_SIZE_BYTES } from '../../../../store/cache/coinTable.js';
import { BlockFileError } from '../../../../store/files/blockFiles.js';
import type { CoinValue } from '../../../../native/binding.js';
import { coinKey, PREFIX } from '../../../../store/rows/keys.js';
import { prefixEnd } from '../../../../store/rows/rows.js';
import { NO_HEADER } from '../../../../store/files/headerTable.js';
import { fromLatin1, type Bytes } from '../../../../util/bytes.js';
import { isPromise, whenResolved, type MaybePromise } from '../../../../util/maybePromise.js';
import { findByIndex, findInBlock, type FoundTransaction } from '../../../lookup/blockLookup.js';
import type { RpcServices } from '../../../../interfaces/services.js';

export interface UnspentOutput {
  readonly n: number;
  readonly script: Bytes;
  readonly amountSat: bigint;
  /** Height of the block that contains the transaction. */
  readonly height: number;
}

/** Maximum number of outputs that are read together. Arbitrary. */
const READ_AT_ONCE = 512;

/**
 * Returns the numbers of outputs that may be unspent: all outputs of the transaction or, if its block is pruned, those in
 * the coin database. Empty if the transaction has no unspent output.
 */
async function candidates(services: RpcServices, txid: Bytes): Promise<number[]> {
  const { chain } = services;
  const { active } = chain.chain.index;
  const indexed = services.txIndex === null ? null : await findIndexed(services, txid);
  if (indexed !== null && active.contains(indexed.block)) return numbersOf(indexed);
  const any = await chain.anyCoinOf(txid);
  if (any === null) return [];
  const block = active.at(any.heightCode >>> 1);
  const found = block === NO_HEADER ? null : await findInBlock(services, block, txid);
  return found === null ? storedOutputs(chain, txid) : numbersOf(found);
}

const numbersOf = ({ tx }: FoundTransaction): number[] => tx.outputs.map((_, n) => n);

/** Finds a transaction by its position in the transaction index; null if its block cannot be read. */
async function findIndexed(services: RpcServices, txid: Bytes): Promise<FoundTransaction | null> {
  try {
    return await findByIndex(services, txid);
  } catch (error) {
    if (!(error instanceof BlockFileError)) throw error;
    return null;
  }
}

async function storedOutputs(chain: ChainReader, txid: Bytes): Promise<number[]> {
  const numbers: number[] = [];
  const prefix = coinKey(txid);
  for await (const [key] of chain.chain.deps.store.range({ gte: prefix, lt: prefixEnd(prefix) })) {
    const outPoint = fromLatin1(key.slice(PREFIX.coin.length));
    numbers.push(outPoint.readUInt32LE(OUTPOINT_SIZE_BYTES - 4));
  }
  return numbers.sort((a, b) => a - b);
}

/** Returns output `n` of a transaction; null if it is spent or does not exist. */
function unspentOutput({ chain }: RpcServices, txid: Bytes, n: number): MaybePromise<UnspentOutput | null> {
  return whenResolved(chain.coin(outPointOf(txid, n)), (coin) => (coin === null ? null : outputOf(n, coin)));
}

function outPointOf(txid: Bytes, n: number): Buffer {
  const outPoint = Buffer.allocUnsafe(OUTPOINT_SIZE_BYTES);
  outPoint.set(txid);
  outPoint.writeUInt32LE(n, OUTPOINT_SIZE_BYTES - 4);
  return outPoint;
}

function outputOf(n: number, { script, amount, heightCode }: CoinValue): UnspentOutput {
  return { n, script, amountSat: amount, height: heightCode >>> 1 };
}

/** Returns the unspent outputs sorted by number. Empty if all are spent or the transaction is unknown. */
export async function unspentOutputs(services: RpcServices, txid: Bytes): Promise<UnspentOutput[]> {
  const outputs: UnspentOutput[] = [];
  const numbers = await candidates(services, txid);
  for (let at = 0; at < numbers.length; at += READ_AT_ONCE) {
    const some = numbers.slice(at, at + READ_AT_ONCE);
    const soon = services.chain.coins(some.map((n) => outPointOf(txid, n)));
    const coins = isPromise(soon) ? await soon : soon;
    coins.forEach((coin, i) => {
      if (coin !== null) outputs.push(outputOf(some[i]!, coin));
    });
  }
  return outputs;
}

/** Number of outputs that are looked up before the transaction is read. Usually the first outputs are unspent. Arbitrary. */
const TRIED_FIRST = 16;

/**
 * Returns the unspent output with the lowest number; null if all outputs are spent or the transaction is unknown.
 * Synchronous if the output is cached.
 */
export function firstUnspentOutput(services: RpcServices, txid: Bytes): MaybePromise<UnspentOutput | null> {
  const tryFrom = (n: number): MaybePromise<UnspentOutput | null> => {
    if (n === TRIED_FIRST) return unspentOutputs(services, txid).then(([first]) => first ?? null);
    return whenResolved(unspentOutput(services, txid, n), (output) => output ?? tryFrom(n + 1));
  };
  return tryFrom(0);
}
