/**
 * Formats mempool entries for RPC results. Source: lbrycrd rpc/blockchain.cpp `entryToJSON`; lbcd mempool/mempool.go
 * `RawMempoolVerbose`.
 */
import type { MempoolEntry, MempoolReader } from '../../mempool/mempoolReader.js';
import { WITNESS_SCALE_FACTOR } from '../../consensus/limits.js';
import { formatTransaction } from '../../primitives/transaction.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { jsonArray, jsonObject, type JsonMember, type JsonOut } from '../../util/json/jsonWrite.js';
import { t, type Schema } from '../../schema/schema.js';
import type { Profile, RpcContext } from '../declare/method.js';
import { whenWhole } from '../call/onChain.js';
import type { RpcServices } from '../../interfaces/services.js';

function feesSchema(text: string): Schema {
  return t.union([
    { when: 'in the lbcd profile', schema: t.coins(text) },
    { when: 'otherwise', schema: t.sats(text) },
  ]);
}

export const MEMPOOL_ENTRY_SCHEMA = t.named(
  'MempoolEntry',
  t.object({
    fees: t.object({
      base: t.coins('the fee'),
      modified: t.coins('the fee with the fee deltas that are used for mining priority'),
      ancestor: t.coins('sum of modified fees of the unconfirmed ancestors and this transaction'),
      descendant: t.coins('sum of modified fees of the unconfirmed descendants and this transaction'),
    }),
    size: t.int('virtual size as defined in BIP 141; in the lbcd profile the size with witness data'),
    vsize: t.optional(t.int('virtual size as defined in BIP 141'), 'in the lbcd profile'),
    weight: t.optional(t.int('weight as BIP 141 defines it'), 'in the lbcd profile'),
    fee: t.coins('the fee (deprecated)'),
    modifiedfee: t.coins('the fee with the fee deltas that are used for mining priority (deprecated)'),
    time: t.time('the time at which the transaction entered the mempool'),
    height: t.int('block height at which the transaction entered the mempool'),
    descendantcount: t.int('number of unconfirmed descendants, including this transaction'),
    descendantsize: t.int('virtual size of the unconfirmed descendants, including this transaction'),
    descendantfees: feesSchema(
      'sum of modified fees of the unconfirmed descendants and this transaction (deprecated)',
    ),
    ancestorcount: t.int('number of unconfirmed ancestors, including this transaction'),
    ancestorsize: t.int('virtual size of the unconfirmed ancestors, including this transaction'),
    ancestorfees: feesSchema(
      'sum of modified fees of the unconfirmed ancestors and this transaction (deprecated)',
    ),
    wtxid: t.hash('the hash of the serialized transaction, including witness data'),
    depends: t.array(t.hash('the id of an unconfirmed transaction whose output this one spends')),
    spentby: t.array(t.hash('the id of an unconfirmed transaction that spends an output of this one')),
  }),
);

/** Parameters of methods that list the relatives of a mempool transaction. */
export const MEMPOOL_RELATIVES_PARAMS = [
  {
    name: 'txid',
    type: 'hash',
    required: true,
    label: 'parameter 1',
    description: 'The transaction id (must be in mempool)',
  },
  {
    name: 'verbose',
    type: 'verbosity',
    default: 0,
    description: 'True for a json object, false for array of transaction ids',
  },
] as const;

/** Schema of the result of methods that list mempool transactions: txids, or objects with all fields if verbose. */
export const MEMPOOL_LIST_SCHEMA = t.union([
  { when: 'for verbose = false', schema: t.array(t.hash('a transaction id')) },
  { when: 'for verbose = true', schema: t.map('txid', MEMPOOL_ENTRY_SCHEMA) },
]);

/** Data for formatting a mempool entry: the profile of the result, and the mempool that contains the entry. */
export interface EntryView {
  readonly profile: Profile;
  readonly mempool: MempoolReader;
}

/** Formats a mempool entry. In the lbcd profile `size` includes the witness, and all fees are in coins. */
export function mempoolEntryAnswer(entry: MempoolEntry, { profile, mempool }: EntryView): JsonOut {
  const isLbcd = profile === 'lbcd';
  const fees = (sat: bigint): JsonOut => (isLbcd ? coins(sat) : sat);
  return {
    fees: {
      base: coins(entry.feeSat),
      modified: coins(entry.modifiedFeeSat),
      ancestor: coins(entry.ancestorFeesSat),
      descendant: coins(entry.descendantFeesSat),
    },
    size: isLbcd ? totalBytes(mempool, entry) : entry.sizeBytes,
    vsize: isLbcd ? Math.ceil(entry.weight / WITNESS_SCALE_FACTOR) : undefined,
    weight: isLbcd ? entry.weight : undefined,
    fee: coins(entry.feeSat),
    modifiedfee: coins(entry.modifiedFeeSat),
    time: entry.entryTimeSec,
    height: entry.entryHeight,
    descendantcount: entry.descendantCount,
    descendantsize: entry.descendantSizeBytes,
    descendantfees: fees(entry.descendantFeesSat),
    ancestorcount: entry.ancestorCount,
    ancestorsize: entry.ancestorSizeBytes,
    ancestorfees: fees(entry.ancestorFeesSat),
    wtxid: hashToHex(entry.wtxid),
    depends: entry.parents.map(hashToHex).sort(),
    spentby: entry.children.map(hashToHex),
  };
}

/** Returns the size in bytes with witness, or the virtual size if the transaction has left the mempool. */
function totalBytes(mempool: MempoolReader, { txid, sizeBytes }: MempoolEntry): number {
  const tx = mempool.transaction(txid);
  return tx === null ? sizeBytes : formatTransaction(tx).length;
}

/** Returns entries as a list of txids, or as objects by txid. The list is created while the result is written. */
export function mempoolListAnswer(
  entries: readonly MempoolEntry[],
  verbose: boolean,
  view: EntryView,
): JsonOut {
  function* ids(): Generator<JsonOut> {
    for (const entry of entries) yield hashToHex(entry.txid);
  }
  function* members(): Generator<JsonMember> {
    for (const entry of entries) yield [hashToHex(entry.txid), mempoolEntryAnswer(entry, view)];
  }
  return verbose ? jsonObject(members()) : jsonArray(ids());
}

/**
 * Yields the fields of each transaction. The fields of a transaction are read when it is written, but never during a reorg.
 * A transaction that has left the mempool in the meantime is omitted.
 */
export async function* mempoolMembers(
  { mempool, chain: { chain } }: Pick<RpcServices, 'mempool' | 'chain'>,
  txids: Iterable<Bytes>,
  caller: Pick<RpcContext, 'signal' | 'outOfTurn'> & { readonly profile?: Profile },
): AsyncGenerator<JsonMember> {
  const { profile = 'documented' } = caller;
  let since = performance.now();
  for (const txid of txids) {
    if (!chain.reorganisation.isWhole) await whenWhole(chain.reorganisation, caller);
    const entry = mempool.entry(txid);
    if (entry !== null) yield [hashToHex(txid), mempoolEntryAnswer(entry, { profile, mempool })];
    since = await yieldIfDue(since);
  }
}
