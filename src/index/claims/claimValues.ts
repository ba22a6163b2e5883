/** Reads the values of claims from the block files, or from the coins if a block is not on disk. */
import type { StoredTransaction, WantedTransaction } from '../../chain/blocks/storedTransactions.js';
import { pointIndex, pointTxid } from '../../claimtrie/item.js';
import { formatOutPoint } from '../../primitives/transaction.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Bytes } from '../../util/bytes.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';

/** Number of values that are read concurrently. Arbitrary: a disk serves several reads in the time of one. */
const VALUES_AT_ONCE = 16;

/** Position of a claim's output on the active chain. */
export interface ValuePlace {
  /** Outpoint, encoded as in the claim trie. */
  readonly point: string;
  readonly height: number;
  /** Index of the output's transaction in its block, and offset of the transaction in the bytes of the block. */
  readonly position: number;
  readonly txOffset: number;
}

export interface ValueSource {
  /** Returns the header id of the block at a height of the active chain. */
  readonly blockAt: (height: number) => number;
  /** Reads a transaction from a block; null if the block is not on disk: it was pruned, or is below a snapshot. */
  readonly readTransaction: (
    block: number,
    wanted: WantedTransaction,
  ) => StoredTransaction | Promise<StoredTransaction | null> | null;
  /** See `RecentScripts.find`. */
  readonly recentScript: (block: number, position: number, point: string) => Bytes | null;
  /** Returns the script of an unspent output; null for another output. */
  readonly coinScript: (outPoint: Bytes) => MaybePromise<Bytes | null>;
}

/** Values of claims in the order of `places`; null if the output does not exist. */
export async function readValues(
  source: ValueSource,
  places: readonly ValuePlace[],
): Promise<(Bytes | null)[]> {
  const found: (Bytes | null)[] = [];
  let since = performance.now();
  for (let at = 0; at < places.length; at += VALUES_AT_ONCE) {
    const values = places.slice(at, at + VALUES_AT_ONCE).map((place) => valueAt(source, place));
    found.push(...(values.some(isPromise) ? await Promise.all(values) : (values as (Bytes | null)[])));
    since = await yieldIfDue(since);
  }
  return found;
}

function valueAt(
  source: ValueSource,
  { point, height, position, txOffset }: ValuePlace,
): MaybePromise<Bytes | null> {
  const block = source.blockAt(height);
  const script = source.recentScript(block, position, point);
  if (script !== null) return valueIn(script);
  const wanted = { txid: pointTxid(point), offset: txOffset, witness: 'ignored' } as const;
  return whenResolved(
    source.readTransaction(block, wanted) as MaybePromise<StoredTransaction | null>,
    (found) => {
      if (found === null) return valueOfCoin(source, point);
      const output = found.tx.outputs[pointIndex(point)];
      return output === undefined ? null : valueIn(output.script);
    },
  );
}

function valueOfCoin({ coinScript }: ValueSource, point: string): MaybePromise<Bytes | null> {
  const outPoint = formatOutPoint({ hash: pointTxid(point), index: pointIndex(point) });
  return whenResolved(coinScript(outPoint), (script) => script && valueIn(script));
}

function valueIn(script: Bytes): Bytes | null {
  return decodeClaimScript(script)?.value ?? null;
}
