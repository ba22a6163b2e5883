/**
 * Formats wallet transactions: the fields of a whole transaction, and of each listed output. Source: lbrycrd
 * wallet/rpcwallet.cpp `WalletTxToJSON`, `ListTransactions`, `AcentryToJSON`.
 */
import { signalsReplacement } from '../../../../mempool/replacement.js';
import { encodeDestination } from '../../../../script/address.js';
import { fromLatin1, hashToHex } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { keyedDestination } from '../../../../wallet/destinationKey.js';
import { MINE, MINE_ALL } from '../../../../wallet/keys/isMine.js';
import { blocksToMaturity, isTrusted } from '../../../../wallet/ledger/balances.js';
import type { AccountingEntry } from '../../../../wallet/ledger/accounts.js';
import type { Entry } from '../../../../wallet/ledger/entry.js';
import { timeSecOf } from '../../../../wallet/ledger/smartTime.js';
import type { TxRecord } from '../../../../wallet/ledger/txRecord.js';
import { amountsOf, destinationFlags, type ListedOutput } from '../../../../wallet/listing/amounts.js';
import { listsReceived, listsSent, type ListSelection } from '../../../../wallet/listing/selection.js';
import { byId } from '../../../../wallet/listing/sinceBlock.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { t, type Schema, type SchemaFields } from '../../../../schema/schema.js';

type Fields = Record<string, JsonOut>;

/** Returns the `MINE` flags of the outputs to include, from the argument `include_watchonly`. */
export const filterOf = (withWatched: boolean): number => (withWatched ? MINE_ALL : MINE.spendable);

export const WATCHED_PARAM = {
  name: 'include_watchonly',
  type: 'boolean',
  default: false,
  description: 'Include watch-only addresses (see importaddress)',
} as const;

const CATEGORIES = ['send', 'receive', 'generate', 'immature', 'orphan', 'move'];

/** Schema of the fields that describe the whole transaction. */
export const TRANSACTION_FIELDS: SchemaFields = {
  confirmations: t.int(
    'number of confirmations; negative if a transaction that conflicts with it has that many confirmations',
  ),
  generated: t.optional(t.bool('true: the transaction is a coinbase'), 'when it is a coinbase'),
  blockhash: t.optional(t.hash('the hash of the block that contains it'), 'if it is confirmed'),
  blockindex: t.optional(t.int('the position in the block'), 'if it is confirmed'),
  blocktime: t.optional(t.time('the time of the block'), 'if it is confirmed'),
  trusted: t.optional(t.bool('whether its outputs are safe to spend'), 'if it is not confirmed'),
  txid: t.hash('the transaction id'),
  walletconflicts: t.array(t.hash('a wallet transaction that conflicts with it')),
  time: t.time('the time of creation or arrival; increases with the order of transactions'),
  timereceived: t.time('the time at which the wallet first saw it'),
  'bip125-replaceable': t.oneOf(
    ['yes', 'no', 'unknown'],
    'whether it can be replaced (BIP125); unknown for unconfirmed transactions outside the mempool',
  ),
  comment: t.optional(t.str('the comment on the purpose of the transaction'), 'if such a comment was given'),
  to: t.optional(t.str('the comment on the recipient'), 'if such a comment was given'),
  replaces_txid: t.optional(t.hash('the transaction that it replaces'), 'after bumpfee'),
  replaced_by_txid: t.optional(t.hash('the transaction that replaces it'), 'after bumpfee'),
};

/** Schema of the fields that describe one output. In a result they are placed before and after the fields of the transaction. */
const ITEM_FIELDS: SchemaFields = {
  involvesWatchonly: t.optional(t.bool('true: a watch-only address is involved'), 'if one is involved'),
  account: t.optional(t.str('DEPRECATED. The account'), 'with -deprecatedrpc=accounts'),
  address: t.optional(t.str('the address'), 'when the output has one'),
  category: t.oneOf(CATEGORIES, 'type of the entry'),
  amount: t.coins('the amount; negative for "send"'),
  label: t.optional(t.str('the label of the address'), 'when it has one'),
  vout: t.int('the index of the output'),
  fee: t.optional(t.coins('the fee; negative'), 'for "send"'),
};

const ABANDONED_FIELD: SchemaFields = {
  abandoned: t.optional(t.bool('whether the transaction was abandoned'), 'for "send"'),
};

/** Schema of one listed output. Additional fields are allowed, because the owner's notes may have any keys. */
export const LISTED_TRANSACTION: Schema = t.named(
  'WalletTransactionItem',
  t.openObject({ ...ITEM_FIELDS, ...TRANSACTION_FIELDS, ...ABANDONED_FIELD }),
);

export const LISTED_DETAIL: Schema = t.object({ ...ITEM_FIELDS, ...ABANDONED_FIELD });

export const LISTED_MOVE: Schema = t.object({
  account: t.str('DEPRECATED. The account'),
  category: t.oneOf(['move'], 'type of the entry'),
  time: t.time('the time of the move'),
  amount: t.coins('the amount; negative for the account from which it was moved'),
  otheraccount: t.str('DEPRECATED. The other account of the move'),
  comment: t.str('the comment on the purpose of the transaction'),
});

/** Returns the fields that describe the whole transaction, in the reference's order. */
export function transactionFields(wallet: Wallet, entry: Entry, { tx }: TxRecord): Fields {
  const { ledger, node } = wallet;
  const depth = ledger.depth(entry);
  const fields: Fields = { confirmations: depth };
  if (entry.isCoinbase) fields.generated = true;
  if (depth > 0) {
    fields.blockhash = hashToHex(entry.row.blockHash);
    fields.blockindex = entry.row.index;
    fields.blocktime = node.chain.timeSecAt(entry.height);
  } else fields.trusted = isTrusted(ledger, entry, wallet.balanceOptions);
  const txid = fromLatin1(entry.key);
  fields.txid = hashToHex(txid);
  fields.walletconflicts = ledger
    .conflictsOf(entry)
    .sort(byId)
    .map(({ key }) => hashToHex(fromLatin1(key)));
  fields.time = timeSecOf(entry.row);
  fields.timereceived = entry.row.timeReceivedSec;
  fields['bip125-replaceable'] = depth > 0 ? 'no' : replaceable(wallet, txid, tx);
  for (const [name, note] of [...entry.row.notes].sort(([a], [b]) => (a < b ? -1 : 1))) fields[name] = note;
  return fields;
}

/** Returns whether the transaction can be replaced: `yes`, `no` or `unknown`. Source: lbrycrd policy/rbf.cpp `IsRBFOptIn`. */
function replaceable({ node: { mempool } }: Wallet, txid: Buffer, tx: TxRecord['tx']): string {
  if (signalsReplacement(tx)) return 'yes';
  if (!mempool.has(txid)) return 'unknown';
  return mempool.isReplaceable(txid) ? 'yes' : 'no';
}

/**
 * Returns the list items of a transaction: first the sent amounts, then the received amounts. With `isLong` each item
 * includes the fields of the transaction.
 */
export function transactionItems(
  wallet: Wallet,
  selection: ListSelection,
  entry: Entry,
  record: TxRecord,
  isLong: boolean,
): Fields[] {
  const { ledger, book, prefixes } = wallet;
  const { sent, received, feeSat } = amountsOf(wallet, entry, record, selection.filter);
  const whole = isLong ? transactionFields(wallet, entry, record) : {};
  const isWatched = ledger.debit(entry, MINE.watchOnly) > 0n;
  const item = (output: ListedOutput, account: string, category: string, isSent: boolean): Fields => {
    const { to, n, valueSat } = output;
    const known = book.at(to);
    const fields: Fields = {};
    if (isWatched || (destinationFlags(wallet, to) & MINE.watchOnly) !== 0) fields.involvesWatchonly = true;
    if (selection.withAccounts) fields.account = account;
    if (to !== '') fields.address = encodeDestination(keyedDestination(to), prefixes);
    fields.category = category;
    fields.amount = coins(isSent ? -valueSat : valueSat);
    if (known !== undefined) fields.label = known.label;
    fields.vout = n;
    if (isSent) fields.fee = coins(-feeSat);
    Object.assign(fields, whole);
    if (isSent) fields.abandoned = entry.state === 'abandoned';
    return fields;
  };
  const items: Fields[] = [];
  if (listsSent(selection, entry))
    for (const output of sent) items.push(item(output, entry.row.fromAccount, 'send', true));
  if (ledger.depth(entry) < selection.minDepth) return items;
  const category = receivedCategory(wallet, entry);
  for (const output of received)
    if (listsReceived(wallet, selection, output.to))
      items.push(item(output, book.at(output.to)?.label ?? '', category, false));
  return items;
}

function receivedCategory({ ledger }: Wallet, entry: Entry): string {
  if (!entry.isCoinbase) return 'receive';
  if (ledger.depth(entry) < 1) return 'orphan';
  return blocksToMaturity(ledger, entry) > 0 ? 'immature' : 'generate';
}

export function moveItem({
  account,
  otherAccount,
  creditDebitSat,
  timeSec,
  comment,
}: AccountingEntry): Fields {
  return {
    account,
    category: 'move',
    time: timeSec,
    amount: coins(creditDebitSat),
    otheraccount: otherAccount,
    comment,
  };
}
