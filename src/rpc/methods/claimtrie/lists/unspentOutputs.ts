/** Finds the unspent outputs of one transaction of the active chain, even if its block is pruned. */
import type { ChainReader } from '../../../../chain/chainReader.js';
import { OUTPOINT_SIZE_BYTES } from '../../../../store/cache/coinTable.js';
import { BlockFileError } from '../../../../store/files/blockFiles.js';
import { coinKey, PREFIX } from '../../../../store/rows/keys.js';
import { prefixEnd } from '../../../../store/rows/rows.js';
import { NO_HEADER } from '../../../../store/files/headerTable.js';
import { fromLatin1, type Bytes } from '../../../../util/bytes.js';
import { Writer } from '../../../../util/writer.js';
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

/**
 * Returns the numbers of outputs that may be unspent: all outputs of the transaction or, if its block is pruned, those in
 * the coin database.
 */
async function candidates(services: RpcServices, txid: Bytes, height: number): Promise<number[]> {
  const { chain } = services;
  const block = chain.chain.index.active.at(height);
  const found = block === NO_HEADER ? null : await findOutputs(services, block, txid);
  if (found !== null) return found.tx.outputs.map((_, n) => n);
  return storedOutputs(chain, txid);
}

/** Finds the transaction's outputs by its position in the transaction index if there is one, otherwise in its block. */
async function findOutputs(
  services: RpcServices,
  block: number,
  txid: Bytes,
): Promise<FoundTransaction | null> {
  try {
    return (await findByIndex(services, txid)) ?? (await findInBlock(services, block, txid));
  } catch (error) {
    if (!(error instanceof BlockFileError)) throw error;
    return findInBlock(services, block, txid);
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

/** Returns the output with that number; null if it is spent or does not exist. */
function unspentOutput({ chain }: RpcServices, txid: Bytes, n: number): MaybePromise<UnspentOutput | null> {
  const soon = chain.coin(new Writer(OUTPOINT_SIZE_BYTES).raw(txid).u32(n).finish());
  return whenResolved(soon, (coin) => {
    if (coin === null) return null;
    return { n, script: coin.script, amountSat: coin.amount, height: coin.heightCode >>> 1 };
  });
}

/** Returns the unspent outputs sorted by number. Empty if all are spent or the transaction is unknown. */
export async function unspentOutputs(services: RpcServices, txid: Bytes): Promise<UnspentOutput[]> {
  const any = await services.chain.anyCoinOf(txid);
  if (any === null) return [];
  const outputs: UnspentOutput[] = [];
  const numbers = await candidates(services, txid, any.heightCode >>> 1);
  for (const n of numbers) {
    const soon = unspentOutput(services, txid, n);
    const output = isPromise(soon) ? await soon : soon;
    if (output !== null) outputs.push(output);
  }
  return outputs;
}

/** Number of outputs looked up before the transaction is read, because the first outputs are usually unspent. Arbitrary. */
const TRIED_FIRST = 16;

/**
 * Returns the unspent output with the lowest number, synchronously if it is cached. Null if all outputs are spent or the
 * transaction is unknown.
 */
export function firstUnspentOutput(services: RpcServices, txid: Bytes): MaybePromise<UnspentOutput | null> {
  const tryFrom = (n: number): MaybePromise<UnspentOutput | null> => {
    if (n === TRIED_FIRST) return unspentOutputs(services, txid).then(([first]) => first ?? null);
    return whenResolved(unspentOutput(services, txid, n), (output) => output ?? tryFrom(n + 1));
  };
  return tryFrom(0);
}
