/** `getrawtransaction`: a transaction as hex or decoded. Source: lbrycrd rpc/rawtransaction.cpp. */
import { HOLE } from '../../../util/json/jsonFrame.js';
import { hexOf, type JsonOut } from '../../../util/json/jsonWrite.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { equalBytes, hashToHex, type Bytes } from '../../../util/bytes.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { findInBlock, findTransaction, type FoundTransaction } from '../../lookup/blockLookup.js';
import { keptTextsOf } from '../../lookup/keptTexts.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../declare/errors.js';
import { scriptContextOf } from '../../format/scriptContext.js';
import {
  rawTransactionAnswer,
  shownStored,
  shownTransaction,
  transactionAnswer,
  TRANSACTION_FIELDS,
  type ShownTransaction,
} from '../../format/transaction.js';
import { defineMethod, type Profile } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** Returns the fields about the block that contains the transaction. */
function placeAnswer({ chain }: RpcServices, block: number): Record<string, JsonOut> {
  const { headers } = chain;
  const { active } = chain.chain.index;
  const blockhash = hashToHex(headers.hash(block));
  if (!active.contains(block)) return { blockhash, confirmations: 0 };
  const timeSec = headers.timeSec(block);
  return {
    blockhash,
    confirmations: 1 + active.height - headers.height(block),
    time: timeSec,
    blocktime: timeSec,
  };
}

function isSynced(services: RpcServices, index: string): boolean {
  return services.indexes().some(({ name, synced }) => name === index && synced);
}

/** Creates the error for a transaction that is not in the block or, with `NO_HEADER`, was not found at all. */
export function transactionNotFound(services: RpcServices, block: number): RpcError {
  if (block !== NO_HEADER && !services.chain.hasData(block)) {
    return rpcError(RPC_ERROR.MISC_ERROR, services.chain.behindSnapshot(block) ?? 'Block not available');
  }
  const behind = block === NO_HEADER ? services.chain.transactionsBehindSnapshot : null;
  const older = behind === null ? '' : ` ${behind}.`;
  const what =
    block !== NO_HEADER
      ? 'No such transaction found in the provided block'
      : services.txIndex === null
        ? 'No such mempool transaction. Use -txindex to enable blockchain transaction queries'
        : isSynced(services, 'txindex')
          ? 'No such mempool or blockchain transaction'
          : 'No such mempool transaction. Blockchain transactions are still in the process of being indexed';
  return rpcError(
    RPC_ERROR.INVALID_ADDRESS_OR_KEY,
    `${what}. Use gettransaction for wallet transactions.${older}`,
  );
}

function givenBlock(services: RpcServices, hash: Bytes | undefined): number {
  if (hash === undefined) return NO_HEADER;
  const id = services.chain.headers.find(hash);
  if (id === NO_HEADER) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Block hash not found');
  return id;
}

function find(services: RpcServices, txid: Bytes, block: number): MaybePromise<FoundTransaction | null> {
  return block === NO_HEADER ? findTransaction(services, txid, true) : findInBlock(services, block, txid);
}

/**
 * Returns the serialized transaction. For a transaction of a block the stored bytes are used, unless the witness must be
 * removed.
 */
function rawAnswer(found: FoundTransaction, serializeWitness: boolean): JsonOut {
  const { stored } = found;
  return stored !== null && (serializeWitness || !stored.hasWitness)
    ? hexOf(stored.bytes)
    : rawTransactionAnswer(found.tx, serializeWitness);
}

/**
 * Identifies the form of the answer about a confirmed transaction, whose text is cached. Null without the transaction index: a
 * transaction is then found by its unspent outputs, which new blocks change.
 */
function keptForm({ txIndex }: RpcServices, profile: Profile, verbose: number): string | null {
  if (txIndex === null) return null;
  return verbose === 0 ? 'raw ' : `${profile} `;
}

/** Returns the cached answer about a confirmed transaction; null if there is none. */
function knownAnswer({ chain, mempool }: RpcServices, txid: Bytes, form: string): JsonOut | null {
  const known = keptTextsOf(chain).transaction(txid, form);
  if (known === null || (mempool.size > 0 && mempool.transaction(txid) !== null)) return null;
  return known.frame.fill(1 + chain.chain.index.active.height - chain.headers.height(known.block));
}

function shownOf({ tx, stored }: FoundTransaction): ShownTransaction {
  return stored === null ? shownTransaction(tx) : shownStored(stored);
}

export const getRawTransaction = defineMethod({
  name: 'getrawtransaction',
  category: 'rawtransactions',
  explorer: 'console',
  follows: 'chainAndMempool',
  summary:
    'Return the raw transaction data.\nBy default this function only works for mempool transactions. When called with a ' +
    'blockhash argument, getrawtransaction will return the transaction if the specified block is available and the ' +
    'transaction is found in that block. When called without a blockhash argument, getrawtransaction will return the ' +
    'transaction if it is in the mempool, or if -txindex is enabled and it is in a block in the blockchain.\nDEPRECATED ' +
    'for now: it also works for transactions with unspent outputs.',
  params: [
    {
      name: 'txid',
      type: 'hash',
      required: true,
      label: 'parameter 1',
      description: 'The transaction id',
    },
    {
      name: 'verbose',
      type: 'verbosity',
      default: 0,
      description: 'If false, return a string, otherwise return a json object',
    },
    {
      name: 'blockhash',
      type: 'hash',
      label: 'parameter 3',
      description: 'The block in which to look for the transaction',
    },
  ],
  result: t.union([
    { when: 'for verbose = false', schema: t.hex('the serialized transaction') },
    {
      when: 'for verbose = true',
      schema: t.object({
        in_active_chain: t.optional(
          t.bool('whether the given block is in the active chain'),
          'if a blockhash was given',
        ),
        ...TRANSACTION_FIELDS,
        hex: t.hex('the serialized transaction'),
        blockhash: t.optional(t.hash('the hash of the block'), 'if it is in a block'),
        confirmations: t.optional(t.int('the confirmations'), 'if it is in a block'),
        time: t.optional(t.time('the block time'), 'if it is in a block of the active chain'),
        blocktime: t.optional(t.time('the same value as "time"'), 'if it is in a block of the active chain'),
      }),
    },
  ]),
  examples: [['"mytxid"'], ['"mytxid"', 'true'], ['"mytxid"', 'true', '"myblockhash"']],
  run({ services, profile }, { txid, verbose, blockhash }): MaybePromise<JsonOut> {
    const { params, options, chain } = services;
    if (equalBytes(txid, params.genesis.merkleRoot)) {
      const message =
        'The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved';
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
    }
    const block = givenBlock(services, blockhash);
    const form = block === NO_HEADER ? keptForm(services, profile, verbose) : null;
    const known = form === null ? null : knownAnswer(services, txid, form);
    if (known !== null) return known;
    return whenResolved(find(services, txid, block), (found) => {
      if (found === null) throw transactionNotFound(services, block);
      const raw = rawAnswer(found, options.serializeWitness);
      if (verbose === 0) {
        if (form !== null) keptTextsOf(chain).keepTransaction(txid, form, found.block, raw);
        return raw;
      }
      const answer = {
        in_active_chain: block === NO_HEADER ? undefined : chain.chain.index.active.contains(block),
        ...transactionAnswer(shownOf(found), scriptContextOf(services, profile)),
        hex: raw,
        ...(found.block === NO_HEADER ? {} : placeAnswer(services, found.block)),
      };
      if (form !== null)
        keptTextsOf(chain).keepTransaction(txid, form, found.block, { ...answer, confirmations: HOLE });
      return answer;
    });
  },
});
