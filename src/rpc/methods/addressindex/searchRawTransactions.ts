/**
 * `searchrawtransactions`: the transactions of an address, by the address index. Source: lbcd rpcserver.go
 * `handleSearchRawTransactions`. Differences from lbcd: the method needs the transaction index only if other addresses than
 * the requested one are shown, and one call returns at most 10,000 transactions.
 */
import { scriptKeyOf } from '../../../index/addressScripts.js';
import { isCoinbase, type Transaction, type TxOutput } from '../../../primitives/transaction.js';
import { decodeDestination } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex, toHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import { coins, type JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import type { MaybePromise } from '../../../util/maybePromise.js';
import { SpreadMap } from '../../../util/spreadMap.js';
import { findInBlock, findTransaction, type FoundTransaction } from '../../lookup/blockLookup.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { confirmationsOf } from '../../format/block.js';
import { scriptAnswer, type ScriptContext } from '../../format/script.js';
import { scriptContextOf } from '../../format/scriptContext.js';
import {
  inputAnswer,
  outputAnswer,
  rawTransactionAnswer,
  shownTransaction,
  TRANSACTION_FIELDS,
} from '../../format/transaction.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import type { AddressService, RpcServices } from '../../../interfaces/services.js';
import { atOneTip } from './atOneTip.js';

const DEFAULT_COUNT = 100;
/** Maximum number of transactions in a result. All of them are in memory before the result is written. */
const MAX_COUNT = 10_000;
/** Number of history entries that are read in one call while the entries before the requested ones are skipped. */
const PAGE_ENTRIES = 10_000;

/** A transaction of the address and its height; −1 for a mempool transaction. */
interface Place {
  readonly txid: Bytes;
  readonly height: number;
}

/** Options for formatting a transaction. */
interface Shown {
  readonly context: ScriptContext;
  readonly vinExtra: boolean;
  /** Addresses to which inputs and outputs are restricted; null for no restriction. */
  readonly only: AddressFilter | null;
}

type AddressFilter = Pick<SpreadMap<true>, 'has'>;

/** Returns the filter for the addresses of `filteraddrs`; null if there are none. */
async function addressFilter(addresses: readonly JsonValue[]): Promise<AddressFilter | null> {
  const filter = new SpreadMap<true>();
  let since = performance.now();
  for (const address of addresses) {
    filter.set(getString(address), true);
    since = await yieldIfDue(since);
  }
  return addresses.length > 0 ? filter : null;
}

function requireIndex({ addresses }: RpcServices): AddressService {
  if (addresses) return addresses;
  throw rpcError(RPC_ERROR.MISC_ERROR, 'Address index must be enabled (-addressindex)');
}

function keyOf({ params }: RpcServices, address: string): string {
  const destination = decodeDestination(address, addressPrefixes(params));
  const key = destination && scriptKeyOf(scriptForDestination(destination));
  if (key) return key;
  throw rpcError(
    RPC_ERROR.INVALID_ADDRESS_OR_KEY,
    'Invalid address or key: decoded address is of unknown format',
  );
}

/** Returns the confirmed transactions with numbers `from` to `to` − 1. The oldest has number 0. */
async function confirmed(index: AddressService, key: string, from: number, to: number): Promise<Place[]> {
  const places: Place[] = [];
  let after: Buffer | undefined;
  for (let at = 0; at < to;) {
    const { entries, next } = await index.history([key], { limit: PAGE_ENTRIES, after });
    for (const entry of entries) {
      if (at >= from && at < to) places.push(entry);
      at++;
    }
    if (next === null) break;
    after = next;
  }
  return places;
}

/** Returns up to `count` transactions after skipping `skip`: in chain order, then mempool order; or all in reverse order. */
async function findPlaces(
  index: AddressService,
  key: string,
  { skip, count, reverse }: { skip: number; count: number; reverse: boolean },
): Promise<Place[]> {
  const waiting = index.mempoolTransactions([key]).map(({ txid }): Place => ({ txid, height: -1 }));
  const [totals] = await index.totals([key]);
  const total = totals?.txCount ?? 0;
  if (reverse) {
    const first = waiting.slice(skip, skip + count);
    const end = total - Math.max(0, skip - waiting.length);
    const older = await confirmed(index, key, Math.max(0, end - (count - first.length)), Math.max(0, end));
    return [...first, ...older.reverse()];
  }
  const first = await confirmed(index, key, Math.min(skip, total), Math.min(skip + count, total));
  const behind = Math.max(0, skip - total);
  return [...first, ...waiting.slice(behind, behind + count - first.length)];
}

/** Reads a transaction. Null if it does not exist any more. */
function read(services: RpcServices, { txid, height }: Place): MaybePromise<FoundTransaction | null> {
  if (height < 0 || services.txIndex !== null) return findTransaction(services, txid, false);
  const block = services.chain.chain.index.active.at(height);
  return block === NO_HEADER ? null : findInBlock(services, block, txid);
}

/** Returns the outputs that a transaction spends, by outpoint. Outputs that are not found are omitted. */
async function spentOutputs(services: RpcServices, tx: Transaction): Promise<Map<string, TxOutput>> {
  const outputs = new Map<string, TxOutput>();
  let since = performance.now();
  for (const { prevout } of tx.inputs) {
    since = await yieldIfDue(since);
    const output = (await findTransaction(services, prevout.hash, false))?.tx.outputs[prevout.index];
    if (output) outputs.set(toLatin1(prevout.hash) + prevout.index, output);
  }
  return outputs;
}

function isWanted({ only }: Shown, addresses: readonly string[] | undefined): boolean {
  return only === null || (addresses ?? []).some((address) => only.has(address));
}

async function inputsAnswer(services: RpcServices, tx: Transaction, shown: Shown): Promise<JsonOut> {
  const { context, vinExtra, only } = shown;
  if (isCoinbase(tx)) {
    const { scriptSig, sequence } = tx.inputs[0]!;
    return only !== null ? null : [{ coinbase: toHex(scriptSig), sequence }];
  }
  const spent = vinExtra || only !== null ? await spentOutputs(services, tx) : new Map<string, TxOutput>();
  const list: JsonOut[] = [];
  for (const input of tx.inputs) {
    const output = spent.get(toLatin1(input.prevout.hash) + input.prevout.index);
    const script = output && scriptAnswer(output.script, context, false);
    if (!isWanted(shown, script?.addresses)) continue;
    const { isclaim, issupport, addresses } = script ?? {};
    const answer = await inSlices(inputAnswer(input, false, context.profile));
    const prevOut =
      vinExtra && output ? { addresses, value: coins(output.value), isclaim, issupport } : undefined;
    list.push({ ...(answer as Record<string, JsonOut>), prevOut });
  }
  return list;
}

async function outputsAnswer(tx: Transaction, shown: Shown): Promise<JsonOut> {
  const list: JsonOut[] = [];
  for (const [n, output] of tx.outputs.entries()) {
    if (!isWanted(shown, scriptAnswer(output.script, shown.context, false).addresses)) continue;
    list.push(await inSlices(outputAnswer(output, n, shown.context)));
  }
  return list;
}

function blockAnswer({ chain }: RpcServices, block: number): Record<string, JsonOut> {
  if (block === NO_HEADER) return {};
  const time = chain.headers.timeSec(block);
  const blockhash = hashToHex(chain.headers.hash(block));
  return { blockhash, confirmations: confirmationsOf(chain, block), time, blocktime: time };
}

async function verboseAnswer(services: RpcServices, found: FoundTransaction, shown: Shown): Promise<JsonOut> {
  const { tx, block } = found;
  return {
    hex: rawTransactionAnswer(tx, true),
    txid: hashToHex(shownTransaction(tx).txid),
    // lbcd returns these fields as empty strings.
    hash: '',
    size: '',
    vsize: '',
    weight: '',
    version: tx.version,
    locktime: tx.lockTime,
    vin: await inputsAnswer(services, tx, shown),
    vout: await outputsAnswer(tx, shown),
    ...blockAnswer(services, block),
  };
}

function noInformation(): RpcError {
  return rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'No information available about address');
}

const EMPTY = t.str('always empty');

export const searchRawTransactions = defineMethod({
  name: 'searchrawtransactions',
  category: 'addressindex',
  chainUse: 'reads',
  summary:
    'Returns the transactions that pay to an address or spend from it, oldest first, those in the ' +
    'mempool last (needs -addressindex).',
  params: [
    { name: 'address', type: 'string', required: true, description: 'The address' },
    {
      name: 'verbose',
      type: 'integer',
      default: 1,
      description: '0 returns hex-encoded transactions, another value JSON objects',
    },
    { name: 'skip', type: 'integer', default: 0, description: 'Number of transactions to skip' },
    {
      name: 'count',
      type: 'integer',
      default: DEFAULT_COUNT,
      description: `Maximum number of transactions to return, at most ${MAX_COUNT}`,
    },
    {
      name: 'vinextra',
      type: 'integer',
      default: 0,
      description:
        'If not 0, add the address and amount of each spent output to the inputs as prevOut (needs -txindex)',
    },
    { name: 'reverse', type: 'boolean', default: false, description: 'Return the newest transactions first' },
    {
      name: 'filteraddrs',
      type: 'array',
      description: 'Show only inputs and outputs of these addresses (needs -txindex)',
    },
  ],
  result: t.union([
    { when: 'for verbose = 0', schema: t.array(t.hex('the serialized transaction')) },
    {
      when: 'otherwise',
      schema: t.array(
        t.object({
          hex: t.hex('the serialized transaction'),
          ...TRANSACTION_FIELDS,
          hash: EMPTY,
          size: EMPTY,
          vsize: EMPTY,
          weight: EMPTY,
          vin: t.any('the inputs, with prevOut if requested; null for a coinbase with filteraddrs'),
          blockhash: t.optional(t.hash('the hash of the block'), 'if it is in a block'),
          confirmations: t.optional(t.int('the confirmations'), 'if it is in a block'),
          time: t.optional(t.time('the block time'), 'if it is in a block'),
          blocktime: t.optional(t.time('the same value as "time"'), 'if it is in a block'),
        }),
      ),
    },
    { when: 'for count = 0', schema: t.none() },
  ]),
  examples: [['"bXYZ…"'], ['"bXYZ…"', '1', '0', '10', '1', 'true']],
  profiles: ['lbcd'],
  async run({ services, profile }, args): Promise<JsonOut> {
    const index = requireIndex(services);
    const only = await addressFilter(args.filteraddrs ?? []);
    const vinExtra = args.vinextra !== 0;
    if (services.txIndex === null && (vinExtra || only !== null))
      throw rpcError(RPC_ERROR.MISC_ERROR, 'Transaction index must be enabled (-txindex)');
    const key = keyOf(services, args.address);
    const count = args.count < 0 ? 1 : args.count;
    if (count === 0) return null;
    if (count > MAX_COUNT)
      throw rpcError(
        RPC_ERROR.INVALID_PARAMETER,
        `A call can return at most ${MAX_COUNT} transactions. Pass the number of transactions that you ` +
          'already have as skip',
      );
    const wanted = { skip: Math.max(0, args.skip), count, reverse: args.reverse };
    const places = await atOneTip(services, () => findPlaces(index, key, wanted));
    const shown: Shown = { context: scriptContextOf(services, profile), vinExtra, only };
    const list: JsonOut[] = [];
    let since = performance.now();
    for (const place of places) {
      const found = await read(services, place);
      if (found === null) continue;
      list.push(
        args.verbose === 0
          ? rawTransactionAnswer(found.tx, true)
          : await verboseAnswer(services, found, shown),
      );
      since = await yieldIfDue(since);
    }
    if (list.length === 0) throw noInformation();
    return list;
  },
});
