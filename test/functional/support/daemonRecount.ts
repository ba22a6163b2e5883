/**
 * Computes the lists and balances of a daemon from the transactions that a node has for its addresses, and finds differences.
 */
import { CLAIM_TXO_TYPES, SPENDABLE_TXO_TYPES, TXO_TYPE } from '../../../src/daemon/ledger/txoQuery.js';
import type { TxoFilter } from '../../../src/daemon/ledger/txoQuery.js';
import { formatLbc } from '../../../src/metadata/amounts.js';
import { hashToHex, toHex } from '../../../src/util/bytes.js';
import { parseTransaction } from '../../../src/primitives/transaction.js';
import { Reader } from '../../../src/util/reader.js';
import { LedgerModel, type ModelTx, type ModelTxo } from '../../support/ledgerModel.js';
import { made } from '../../support/ledgerTransactions.js';
import type { RegtestNode } from './node.js';

interface Item {
  readonly txid: string;
  readonly nout: number;
  readonly height: number;
  readonly amount: string;
  readonly is_spent?: boolean;
  readonly is_my_input?: boolean;
  readonly is_my_output?: boolean;
}
interface HistoryItem {
  readonly txid: string;
  readonly confirmations: number;
  readonly value: string;
  readonly fee: string;
}
interface Page<Member> {
  readonly items: readonly Member[];
  readonly total_items: number;
}
interface AddressItem {
  readonly address: string;
  readonly account: string;
  readonly used_times: number;
}
type Ask = <Result>(method: string, params?: object) => Promise<Result>;

export const ALL = { page_size: 1_000_000 };
const TYPES = Object.entries(TXO_TYPE);
const EITHER = { isMyInputOrOutput: true };

/** Lists and their expected items. All lists except `txo_list` have unspent outputs only, by default. */
const LISTS: readonly (readonly [method: string, params: object, filter: Omit<TxoFilter, 'accountIds'>])[] = [
  ['txo_list', {}, {}],
  ['txo_list', { is_my_input_or_output: true }, EITHER],
  [
    'txo_list',
    { is_my_input_or_output: true, exclude_internal_transfers: true },
    { ...EITHER, excludeInternalTransfers: true },
  ],
  ...TYPES.map(
    ([type, number]) =>
      ['txo_list', { type, is_my_input_or_output: true }, { ...EITHER, types: [number] }] as const,
  ),
  ['txo_list', { is_spent: true }, { isSpent: true }],
  ['txo_list', { is_not_spent: true }, { isSpent: false }],
  ['txo_list', { is_my_input: true, is_not_my_output: true }, { isMyInput: true, isMyOutput: false }],
  ['utxo_list', {}, { types: SPENDABLE_TXO_TYPES, isSpent: false }],
  ['claim_list', {}, { types: CLAIM_TXO_TYPES, isSpent: false }],
  ['claim_list', { is_spent: true }, { types: CLAIM_TXO_TYPES, isSpent: true }],
  ['claim_list', { claim_type: 'repost' }, { types: [TXO_TYPE.repost], isSpent: false }],
  ['channel_list', {}, { types: [TXO_TYPE.channel], isSpent: false }],
  ['stream_list', {}, { types: [TXO_TYPE.stream], isSpent: false }],
  ['collection_list', {}, { types: [TXO_TYPE.collection], isSpent: false }],
  ['support_list', {}, { types: [TXO_TYPE.support], isSpent: false }],
  ['support_list', { received: true }, { types: [TXO_TYPE.support], isSpent: false, isMyInput: false }],
  ['support_list', { sent: true }, { types: [TXO_TYPE.support], isMyInput: true, isMyOutput: false }],
  ['support_list', { staked: true }, { types: [TXO_TYPE.support], isSpent: false, isMyInput: true }],
  ['purchase_list', {}, { types: [TXO_TYPE.purchase], isMyInput: true, isMyOutput: null }],
];

const sorted = (lines: Iterable<string>): string[] => [...lines].sort();

/** Empty if both have the same lines. */
function difference(what: string, ours: Iterable<string>, theirs: Iterable<string>): string {
  const [reported, counted] = [new Set(ours), new Set(theirs)];
  const missing = sorted(counted).filter((line) => !reported.has(line));
  const extra = sorted(reported).filter((line) => !counted.has(line));
  if (missing.length + extra.length === 0) return '';
  return `${what}: missing: ${missing.join(', ')}; too much: ${extra.join(', ')}`;
}

const sum = (txos: readonly ModelTxo[]): bigint =>
  txos.reduce((total, { amountDewies }) => total + amountDewies, 0n);

export class DaemonRecount {
  private readonly node: RegtestNode;
  /** Transactions by printed id. Only their heights change. */
  private readonly transactions = new Map<string, ModelTx>();

  constructor(node: RegtestNode) {
    this.node = node;
  }

  /** The first difference between the daemon and the computed state; empty if there is none. */
  async differs(ask: Ask): Promise<string> {
    const { items: addresses } = await ask<Page<AddressItem>>('address_list', ALL);
    const model = await this.model(addresses);
    const accountIds = [...new Set(addresses.map(({ account }) => account))];
    const checks = [
      () => usesOf(model, addresses),
      () => this.balances(model, accountIds, ask),
      ...LISTS.map(
        ([method, params, filter]) =>
          () =>
            listed(method, params, model.select({ ...filter, accountIds }), accountIds, ask),
      ),
      () => this.history(model, accountIds, ask),
    ];
    for (const check of checks) {
      const found = await check();
      if (found !== '') return found;
    }
    return '';
  }

  private async model(addresses: readonly AddressItem[]): Promise<LedgerModel> {
    const model = new LedgerModel();
    for (const { address, account } of addresses) model.own(account, address);
    const query = { addresses: addresses.map(({ address }) => address), verbose: true, mempool: true };
    const reported = await this.node.rpc<{ txid: string; height?: number }[]>('getaddresstxids', [query]);
    for (const { txid, height = 0 } of reported) {
      const tx = await this.transaction(txid);
      tx.height = height;
      model.txs.set(toHex(tx.txid), tx);
    }
    return model;
  }

  private async transaction(txid: string): Promise<ModelTx> {
    const known = this.transactions.get(txid);
    if (known) return known;
    const raw = Buffer.from(await this.node.rpc<string>('getrawtransaction', [txid]), 'hex');
    const tx: ModelTx = { ...made(parseTransaction(new Reader(raw))), height: 0, position: 0 };
    this.transactions.set(txid, tx);
    return tx;
  }

  /** Compares the balances of each account, and of all accounts together. */
  private async balances(model: LedgerModel, accountIds: readonly string[], ask: Ask): Promise<string> {
    const all: Record<string, bigint> = {};
    const linesOf = (parts: Record<string, bigint>): string[] =>
      Object.entries(parts).map(([name, dewies]) => `${name} ${formatLbc(dewies)}`);
    const reported = async (method: string, params: object): Promise<string[]> => {
      const { reserved_subtotals: subtotals, ...rest } = await ask<
        Record<string, string> & { reserved_subtotals: Record<string, string> }
      >(method, params);
      return Object.entries({ ...rest, ...subtotals }).map(([name, text]) => `${name} ${text as string}`);
    };
    for (const account_id of accountIds) {
      const parts = balanceOf(model, account_id);
      for (const [name, dewies] of Object.entries(parts)) all[name] = (all[name] ?? 0n) + dewies;
      const found = difference(
        `account_balance ${account_id}`,
        await reported('account_balance', { account_id }),
        linesOf(parts),
      );
      if (found !== '') return found;
    }
    return difference('wallet_balance', await reported('wallet_balance', {}), linesOf(all));
  }

  private async history(model: LedgerModel, accountIds: readonly string[], ask: Ask): Promise<string> {
    const tip = await this.node.rpc<number>('getblockcount');
    const { items } = await ask<Page<HistoryItem>>('transaction_list', ALL);
    const reported = items.map(
      ({ txid, confirmations, value, fee }) => `${txid} ${confirmations} ${value} ${fee}`,
    );
    const mine = new Map(
      model
        .select({ accountIds })
        .map((txo) => [`${toHex(txo.tx.txid)}:${txo.nout}`, txo.amountDewies] as const),
    );
    const counted = model.transactionIds(accountIds).map((id) => {
      const { tx, txid, height } = model.txs.get(id)!;
      const spent = tx.inputs.map(({ prevout }) => mine.get(`${toHex(prevout.hash)}:${prevout.index}`));
      const isAllMine = spent.every((amount) => amount !== undefined);
      const paid = spent.reduce<bigint>((total, amount) => total + (amount ?? 0n), 0n);
      const got = tx.outputs.reduce((total, _, nout) => total + (mine.get(`${id}:${nout}`) ?? 0n), 0n);
      const fee = isAllMine ? paid - tx.outputs.reduce((total, { value }) => total + value, 0n) : 0n;
      const confirmations = height > 0 ? tip + 1 - height : 0;
      return `${hashToHex(txid)} ${confirmations} ${formatLbc(got - paid + fee)} ${formatLbc(-fee)}`;
    });
    return difference('transaction_list', reported, counted);
  }
}

function balanceOf(model: LedgerModel, accountId: string): Record<string, bigint> {
  const txos = model.select({ accountIds: [accountId], isSpent: false });
  const ofTypes = (types: readonly number[]): ModelTxo[] => txos.filter(({ type }) => types.includes(type));
  const supports = ofTypes([TXO_TYPE.support]);
  const own = supports.filter(({ inputOwners }) => inputOwners.has(accountId));
  const available = sum(ofTypes(SPENDABLE_TXO_TYPES));
  return {
    total: sum(txos),
    available,
    reserved: sum(txos) - available,
    claims: sum(ofTypes(CLAIM_TXO_TYPES)),
    supports: sum(own),
    tips: sum(supports) - sum(own),
  };
}

async function listed(
  method: string,
  params: object,
  counted: readonly ModelTxo[],
  accountIds: readonly string[],
  ask: Ask,
): Promise<string> {
  const what = `${method} ${JSON.stringify(params)}`;
  const { items, total_items } = await ask<Page<Item>>(method, { ...params, ...ALL });
  // Some lists do not contain the owner of an output or whether it is spent.
  const isBare = items.every(({ is_spent }) => is_spent === undefined);
  const lineOf = (place: string, height: number, amount: string, notes: readonly unknown[]): string =>
    [place, Math.max(0, height), amount, ...(isBare ? [] : notes)].join(' ');
  const reported = items.map((item) =>
    lineOf(`${item.txid}:${item.nout}`, item.height, item.amount, [
      item.is_spent,
      item.is_my_input,
      item.is_my_output,
    ]),
  );
  const isMine = (owners: ReadonlySet<string>): boolean => accountIds.some((id) => owners.has(id));
  const wanted = counted.map(({ tx, nout, amountDewies, isSpent, owners, inputOwners }) =>
    lineOf(`${hashToHex(tx.txid)}:${nout}`, tx.height, formatLbc(amountDewies), [
      isSpent,
      isMine(inputOwners),
      isMine(owners),
    ]),
  );
  if (total_items !== items.length) return `${what}: ${total_items} in all, ${items.length} listed`;
  return difference(what, reported, wanted);
}

/** The daemon counts the uses of each address correctly, and no address was given out for a second payment. */
function usesOf(model: LedgerModel, addresses: readonly AddressItem[]): string {
  const uses = new Map<string, Set<string>>();
  const payments = new Map<string, Set<string>>();
  const note = (of: Map<string, Set<string>>, address: string, txid: string): void =>
    void of.set(address, (of.get(address) ?? new Set()).add(txid));
  const accountIds = [...new Set(addresses.map(({ account }) => account))];
  const owned = model.select({ accountIds });
  const byPlace = new Map(owned.map((txo) => [txo.key, txo]));
  for (const { address, tx, type } of owned) {
    note(uses, address!, toHex(tx.txid));
    if (type === TXO_TYPE.other) note(payments, address!, toHex(tx.txid));
  }
  for (const [id, { tx }] of model.txs)
    for (const { prevout } of tx.inputs) {
      const spent = byPlace.get(`${toHex(prevout.hash)}:${prevout.index}`);
      if (spent) note(uses, spent.address!, id);
    }
  const twice = [...payments].filter(([, txids]) => txids.size > 1).map(([address]) => address);
  if (twice.length > 0) return `paid to by more than one transaction: ${twice.join(', ')}`;
  return difference(
    'uses of addresses',
    addresses.map(({ address, used_times }) => `${address} ${used_times}`),
    addresses.map(({ address }) => `${address} ${uses.get(address)?.size ?? 0}`),
  );
}
