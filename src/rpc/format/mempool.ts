/** Mempool entries as answers show them. Source: lbrycrd rpc/blockchain.cpp `entryToJSON`. */
import type { MempoolEntry } from '../../mempool/mempoolReader.js';
import { breathe } from '../../util/breathe.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json.js';
import { jsonArray, jsonObject, type JsonMember, type JsonOut } from '../../util/jsonWrite.js';
import { t } from '../../schema/schema.js';
import type { RpcContext } from '../method.js';
import { whenWhole } from '../onChain.js';
import type { RpcServices } from '../services.js';

export const MEMPOOL_ENTRY_SCHEMA = t.named(
  'MempoolEntry',
  t.object({
    fees: t.object({
      base: t.coins('the fee'),
      modified: t.coins('the fee with the deltas that mining goes by'),
      ancestor: t.coins('modified fees of the unconfirmed ancestors and itself'),
      descendant: t.coins('modified fees of the unconfirmed descendants and itself'),
    }),
    size: t.int('virtual size as BIP 141 defines it'),
    fee: t.coins('the fee (deprecated)'),
    modifiedfee: t.coins('the fee with the deltas that mining goes by (deprecated)'),
    time: t.time('when it entered the mempool'),
    height: t.int('height of the chain when it entered'),
    descendantcount: t.int('number of unconfirmed descendants and itself'),
    descendantsize: t.int('virtual size of the unconfirmed descendants and itself'),
    descendantfees: t.sats('modified fees of the unconfirmed descendants and itself (deprecated)'),
    ancestorcount: t.int('number of unconfirmed ancestors and itself'),
    ancestorsize: t.int('virtual size of the unconfirmed ancestors and itself'),
    ancestorfees: t.sats('modified fees of the unconfirmed ancestors and itself (deprecated)'),
    wtxid: t.hash('the hash with witness'),
    depends: t.array(t.hash('an unconfirmed transaction that it spends')),
    spentby: t.array(t.hash('an unconfirmed transaction that spends it')),
  }),
);

/** Result of the methods which list transactions by id, or verbosely by what is known of each. */
export const MEMPOOL_LIST_SCHEMA = t.union([
  { when: 'for verbose = false', schema: t.array(t.hash('a transaction id')) },
  { when: 'for verbose = true', schema: t.map('txid', MEMPOOL_ENTRY_SCHEMA) },
]);

export function mempoolEntryAnswer(entry: MempoolEntry): JsonOut {
  return {
    fees: {
      base: coins(entry.feeSat),
      modified: coins(entry.modifiedFeeSat),
      ancestor: coins(entry.ancestorFeesSat),
      descendant: coins(entry.descendantFeesSat),
    },
    size: entry.sizeBytes,
    fee: coins(entry.feeSat),
    modifiedfee: coins(entry.modifiedFeeSat),
    time: entry.entryTimeSec,
    height: entry.entryHeight,
    descendantcount: entry.descendantCount,
    descendantsize: entry.descendantSizeBytes,
    descendantfees: entry.descendantFeesSat,
    ancestorcount: entry.ancestorCount,
    ancestorsize: entry.ancestorSizeBytes,
    ancestorfees: entry.ancestorFeesSat,
    wtxid: hashToHex(entry.wtxid),
    depends: entry.parents.map(hashToHex).sort(),
    spentby: entry.children.map(hashToHex),
  };
}

/** Entries as ids, or by id with all that is known; made while it is written. */
export function mempoolListAnswer(entries: readonly MempoolEntry[], verbose: boolean): JsonOut {
  function* ids(): Generator<JsonOut> {
    for (const entry of entries) yield hashToHex(entry.txid);
  }
  function* members(): Generator<JsonMember> {
    for (const entry of entries) yield [hashToHex(entry.txid), mempoolEntryAnswer(entry)];
  }
  return verbose ? jsonObject(members()) : jsonArray(ids());
}

/**
 * All that is known of each transaction, as it is when it is written, but never in the midst of a reorganisation; what has left
 * the mempool by then is left out.
 */
export async function* mempoolMembers(
  { mempool, chain: { chain } }: Pick<RpcServices, 'mempool' | 'chain'>,
  txids: Iterable<Bytes>,
  caller: Pick<RpcContext, 'signal' | 'outOfTurn'>,
): AsyncGenerator<JsonMember> {
  let since = performance.now();
  for (const txid of txids) {
    if (!chain.reorganisation.isWhole) await whenWhole(chain.reorganisation, caller);
    const entry = mempool.entry(txid);
    if (entry !== null) yield [hashToHex(txid), mempoolEntryAnswer(entry)];
    since = await breathe(since);
  }
}
