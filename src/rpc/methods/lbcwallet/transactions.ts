/** Methods of lbcwallet that list transactions, in lbcwallet's format. */
import { writeTransaction } from '../../../primitives/transaction.js';
import { destinationKey } from '../../../wallet/destinationKey.js';
import { DEFAULT_ACCOUNT } from '../../../wallet/lbcd/accounts.js';
import { assignedOf } from '../../../wallet/lbcd/assigned.js';
import { isAlive } from '../../../wallet/lbcd/coins.js';
import { LbcdHistory, type LbcdItem } from '../../../wallet/lbcd/history.js';
import { MINE } from '../../../wallet/keys/isMine.js';
import type { Entry } from '../../../wallet/ledger/entry.js';
import { ofOneState } from '../../../wallet/listing/oneState.js';
import { entriesSince } from '../../../wallet/listing/sinceBlock.js';
import type { Wallet } from '../../../wallet/wallet.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { fromLatin1, hashToHex, toHex } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import { sortedInSlices, type Slices } from '../../../util/slices.js';
import { SpreadMap } from '../../../util/spreadMap.js';
import { Writer } from '../../../util/writer.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import { walletOf } from '../wallet/wallets/walletOf.js';
import { ACCOUNT_PARAM, destinationOf, idOf, lbcwalletMethod } from './lbcwalletMethod.js';

/** Maximum number of items of a result that is created at once. Longer results are created while they are sent. */
const ITEMS_AT_ONCE = 256;
/** Number of entries skipped between two yields to the event loop. */
const ENTRIES_AT_ONCE = 1024;

const IN_BLOCK = 'if it is in a block';
const CATEGORY = t.oneOf(['send', 'receive', 'generate', 'immature']);
const ITEM = t.named(
  'LbcwalletTransaction',
  t.object({
    abandoned: t.bool('always false: abandoned transactions are not listed'),
    account: t.str('the account; empty if the item is not of the wallet'),
    address: t.optional(t.str('the address'), 'when there is one'),
    amount: t.coins('the amount; negative for "send"'),
    blockhash: t.optional(t.hash('the hash of the block'), IN_BLOCK),
    blocktime: t.optional(t.time('the time of the block'), IN_BLOCK),
    category: CATEGORY,
    confirmations: t.int('the confirmations'),
    fee: t.optional(t.coins('the fee; 0 or negative'), 'for "send"'),
    generated: t.optional(t.bool('true'), 'for a coinbase'),
    time: t.time('the time at which the wallet first saw it'),
    timereceived: t.time('the same value as "time"'),
    trusted: t.bool('always false'),
    txid: t.hash('the transaction'),
    vout: t.int('the index of the output'),
    walletconflicts: t.array(t.hash('a transaction id'), 'always empty'),
  }),
);

function itemAnswer(
  { ledger, node }: Wallet,
  { entry, n, category, address, account, valueSat, feeSat }: LbcdItem,
): JsonOut {
  const { row, height, state, isCoinbase } = entry;
  const isInBlock = state === 'confirmed';
  return {
    abandoned: false,
    account,
    address: address ?? undefined,
    amount: coins(valueSat),
    blockhash: isInBlock ? hashToHex(row.blockHash) : undefined,
    blocktime: isInBlock ? node.chain.timeSecAt(height) : undefined,
    category,
    confirmations: ledger.depth(entry),
    fee: feeSat === null ? undefined : coins(feeSat),
    generated: isCoinbase ? true : undefined,
    time: row.timeReceivedSec,
    timereceived: row.timeReceivedSec,
    trusted: false,
    txid: hashToHex(fromLatin1(entry.key)),
    vout: n,
    walletconflicts: [],
  };
}

/** Yields all wallet transactions, newest first. */
function* newestFirst(wallet: Wallet): Generator<Entry> {
  const entries = wallet.ledger.inOrder();
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries.at(i);
    if (isAlive(entry)) yield entry;
  }
}

/**
 * Yields wallet transactions, newest first. With an account, transactions without items of the account may be omitted.
 */
function* ofAccount(wallet: Wallet, { accounts }: LbcdHistory, account: string): Slices<Iterable<Entry>> {
  const number = accounts.list().find(({ name }) => name === account)?.number;
  // For the first account all transactions are returned, because nearly all belong to it, and payments to others belong to
  // no account.
  if (account === '*' || account === '' || number === DEFAULT_ACCOUNT) return newestFirst(wallet);
  if (number === undefined) return [];
  return (yield* payingToAny(wallet, assignedOf(wallet).of(number))).reverse();
}

/** Returns transactions that paid to one of the destinations, in order of arrival. */
function* payingToAny({ ledger }: Wallet, destinations: Iterable<string>): Slices<Entry[]> {
  const found: Entry[] = [];
  const known = new SpreadMap<true>();
  let looked = 0;
  for (const destination of destinations) {
    for (const entry of ledger.payingTo(destination)) {
      if (++looked % ENTRIES_AT_ONCE === 0) yield;
      if (known.has(entry.key) || !isAlive(entry)) continue;
      known.set(entry.key, true);
      found.push(entry);
    }
    if (++looked % ENTRIES_AT_ONCE === 0) yield;
  }
  return yield* sortedInSlices(found, byOrder);
}

function byOrder(a: Entry, b: Entry): number {
  return a.orderPos - b.orderPos;
}

/** Returns the latest items of an account: skips `from` items, then returns up to `count`. The newest transaction is first. */
function* latestItems(wallet: Wallet, account: string, count: number, from: number): Slices<LbcdItem[]> {
  const history = new LbcdHistory(wallet);
  const found: LbcdItem[] = [];
  let skipped = 0;
  let before = Infinity;
  if (from > 0)
    for (const entry of newestFirst(wallet)) {
      before = entry.orderPos;
      if (++skipped >= from) break;
      if (skipped % ENTRIES_AT_ONCE === 0) yield;
    }
  for (const entry of yield* ofAccount(wallet, history, account)) {
    if (found.length >= count) break;
    if (entry.orderPos < before) for (const item of history.items(entry, account)) found.push(item);
    yield;
  }
  return found.slice(0, Math.max(count, 0));
}

export const listTransactions = lbcwalletMethod({
  name: 'listtransactions',
  summary: 'Returns the latest transaction items of an account, or of all accounts ("*"), oldest first.',
  params: [
    ACCOUNT_PARAM,
    { name: 'count', type: 'integer', default: 10, description: 'Maximum number of items' },
    { name: 'from', type: 'integer', default: 0, description: 'Number of transactions to skip' },
    { name: 'includewatchonly', type: 'boolean', default: false, description: 'Ignored' },
  ],
  result: t.array(ITEM),
  async run(ctx, { account, count, from }): Promise<JsonOut> {
    const wallet = walletOf(ctx);
    const latest = await ofOneState(wallet, () => latestItems(wallet, account, count, from));
    const answers = oldestFirst(wallet, latest);
    return latest.length <= ITEMS_AT_ONCE ? [...answers] : jsonArray(answers);
  },
});

function* oldestFirst(wallet: Wallet, latest: readonly LbcdItem[]): Generator<JsonOut> {
  for (let i = latest.length - 1; i >= 0; i--) {
    const item = latest[i]!;
    // The transaction may have been removed from the wallet while earlier items were sent.
    if (wallet.ledger.has(item.entry.key)) yield itemAnswer(wallet, item);
  }
}

export const listAllTransactions = lbcwalletMethod({
  name: 'listalltransactions',
  summary: 'Returns all transaction items of an account, or of all accounts ("*"), newest first.',
  params: [ACCOUNT_PARAM],
  result: t.array(ITEM),
  run(ctx, { account }) {
    const wallet = walletOf(ctx);
    return jsonArray(itemsOf(wallet, [...newestFirst(wallet)], account));
  },
});

/** Yields the items of transactions. Yields to the event loop even among transactions without items. */
async function* itemsOf(wallet: Wallet, entries: Iterable<Entry>, account: string): AsyncGenerator<JsonOut> {
  const history = new LbcdHistory(wallet);
  let since = performance.now();
  for (const entry of entries) {
    since = await yieldIfDue(since);
    // The transaction may have been removed from the wallet while earlier items were sent.
    if (!wallet.ledger.has(entry.key)) continue;
    for (const item of history.items(entry, account)) yield itemAnswer(wallet, item);
  }
}

export const listAddressTransactions = lbcwalletMethod({
  name: 'listaddresstransactions',
  summary: 'Returns the items of all transactions that paid to one of the addresses, oldest first.',
  params: [{ name: 'addresses', type: 'array', required: true, description: 'The addresses' }, ACCOUNT_PARAM],
  result: t.array(ITEM),
  async run(ctx, { addresses, account }): Promise<JsonOut> {
    const wallet = walletOf(ctx);
    const keys: string[] = [];
    const known = new SpreadMap<true>();
    let since = performance.now();
    for (const address of addresses) {
      const key = destinationKey(destinationOf(wallet, getString(address)));
      if (!known.has(key)) keys.push(key);
      known.set(key, true);
      since = await yieldIfDue(since);
    }
    const entries = await ofOneState(wallet, () => payingToAny(wallet, keys));
    return jsonArray(itemsOf(wallet, entries, account));
  },
});

/** Returns transactions above a height, and unconfirmed ones, in order of arrival. */
function* entriesAfter(wallet: Wallet, after: number): Slices<Entry[]> {
  const found = yield* entriesSince(wallet, after);
  return yield* sortedInSlices(found.filter(isAlive), byOrder);
}

export const listSinceBlock = lbcwalletMethod({
  name: 'listsinceblock',
  summary:
    'Returns the items of all transactions in blocks after the given block, and of unconfirmed transactions.',
  params: [
    {
      name: 'blockhash',
      type: 'string',
      description: 'The hash of the block; without it all items are returned',
    },
    {
      name: 'targetconfirmations',
      type: 'integer',
      default: 1,
      description: 'Number of confirmations of the block that is returned as lastblock',
    },
    { name: 'includewatchonly', type: 'boolean', default: false, description: 'Ignored' },
  ],
  result: t.object({
    transactions: t.array(ITEM),
    lastblock: t.hash('the block to pass to the next call'),
  }),
  async run(ctx, { blockhash, targetconfirmations }): Promise<JsonOut> {
    const wallet = walletOf(ctx);
    const { chain } = wallet.node;
    const last = chain.hashAt(wallet.followedHeight + 1 - targetconfirmations);
    if (last === null) throw rpcError(RPC_ERROR.MISC_ERROR, 'Block number out of range');
    let after = -1;
    if (blockhash !== undefined) {
      const hash = idOf(blockhash);
      after = chain.heightOf(hash);
      if (after < 0) {
        const problem = `Block not found: block ${hashToHex(hash)} does not exist`;
        throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, problem);
      }
    }
    const entries =
      after < 0
        ? wallet.ledger.inOrder().toArray().filter(isAlive)
        : await ofOneState(wallet, () => entriesAfter(wallet, after));
    return { transactions: jsonArray(itemsOf(wallet, entries, '*')), lastblock: hashToHex(last) };
  },
});

const DETAIL = t.object({
  account: t.str('the account; empty for "send"'),
  address: t.optional(t.str('the address'), 'for received amounts'),
  amount: t.coins('the amount; negative for "send"'),
  category: CATEGORY,
  fee: t.optional(t.coins('the fee'), 'for "send"'),
  vout: t.int('the index of the output; 0 for "send"'),
});

export const getTransaction = lbcwalletMethod({
  name: 'gettransaction',
  summary: 'Returns a transaction of the wallet.',
  params: [
    { name: 'txid', type: 'string', required: true, description: 'The transaction' },
    { name: 'includewatchonly', type: 'boolean', default: false, description: 'Ignored' },
  ],
  result: t.object({
    amount: t.coins('the amount paid to the wallet, without change'),
    fee: t.optional(t.coins('the fee'), 'if the wallet paid the fee'),
    confirmations: t.int('the confirmations'),
    blockhash: t.str('the hash of the block; empty if there is none'),
    blockindex: t.int('always 0'),
    blocktime: t.int('the time of the block; 0 if there is none'),
    txid: t.hash('the transaction'),
    walletconflicts: t.array(t.hash('a transaction id'), 'always empty'),
    time: t.time('the time at which the wallet first saw it'),
    timereceived: t.time('the same value as "time"'),
    details: t.array(DETAIL),
    hex: t.hex('the serialized transaction'),
    generated: t.bool('whether it is a coinbase'),
  }),
  run(ctx, { txid }) {
    const wallet = walletOf(ctx);
    const entry = wallet.ledger.find(idOf(txid, 'Transaction hash string decode failed: '));
    if (entry === undefined || !isAlive(entry))
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'No information for transaction');
    return transactionAnswer(wallet, entry);
  },
});

function transactionAnswer(wallet: Wallet, entry: Entry): JsonOut {
  const history = new LbcdHistory(wallet);
  const { ledger, node } = wallet;
  const tx = ledger.transaction(entry);
  const { debitSat, debits, feeSat } = history.sums(entry, tx.outputs);
  const writer = new Writer(512);
  writeTransaction(writer, tx);
  const isInBlock = entry.state === 'confirmed';
  const { timeReceivedSec } = entry.row;
  const details: JsonOut[] = [];
  if (debits > 0) {
    details.push({ account: '', amount: coins(-debitSat), category: 'send', fee: coins(feeSat), vout: 0 });
  }
  let amountSat = 0n;
  for (const output of entry.outputs) {
    const address = history.addressOf(tx.outputs[output.n]!.script);
    if ((output.mine & MINE.spendable) === 0) continue;
    if (debits > 0 && history.isChange(output, address)) continue;
    amountSat += output.valueSat;
    details.push({
      account: history.accountName(address),
      address: address ?? undefined,
      amount: coins(output.valueSat),
      category: history.category(entry),
      vout: output.n,
    });
  }
  return {
    amount: coins(amountSat),
    fee: feeSat === 0n ? undefined : coins(feeSat),
    confirmations: ledger.depth(entry),
    blockhash: isInBlock ? hashToHex(entry.row.blockHash) : '',
    blockindex: 0,
    blocktime: isInBlock ? node.chain.timeSecAt(entry.height) : 0,
    txid: hashToHex(fromLatin1(entry.key)),
    walletconflicts: [],
    time: timeReceivedSec,
    timereceived: timeReceivedSec,
    details,
    hex: toHex(writer.finish()),
    generated: entry.isCoinbase,
  };
}
