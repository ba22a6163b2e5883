/** Methods of lbcwallet for balances and received amounts of accounts and addresses. */
import { encodeDestination } from '../../../script/address.js';
import { destinationKey, keyedDestination } from '../../../wallet/destinationKey.js';
import { LbcdAccounts } from '../../../wallet/lbcd/accounts.js';
import {
  balancesBy,
  lbcdCoins,
  receivedByDestination,
  walletBalance,
  type LbcdCoin,
} from '../../../wallet/lbcd/coins.js';
import { receivedSumsOf } from '../../../wallet/lbcd/receivedSums.js';
import { outputNumber } from '../../../wallet/ledger/entry.js';
import { spendStateOf } from '../../../wallet/spending/spendState.js';
import type { Wallet } from '../../../wallet/wallet.js';
import { fromLatin1, hashToHex, toHex } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { t } from '../../../schema/schema.js';
import { walletOf } from '../wallet/wallets/walletOf.js';
import {
  ACCOUNT_PARAM,
  ADDRESS_TYPE_PARAM,
  destinationOf,
  lbcwalletMethod,
  MINCONF_PARAM,
} from './lbcwalletMethod.js';

/** Parameters that lbcwallet accepts and ignores. */
const IGNORED_PARAMS = [
  { name: 'includeempty', type: 'boolean', default: false, description: 'Ignored' },
  { name: 'includewatchonly', type: 'boolean', default: false, description: 'Ignored' },
] as const;

/** Returns the total amount and the spendable amount of one account, in satoshis. */
function accountBalance(wallet: Wallet, account: string, minDepth: number) {
  const accounts = new LbcdAccounts(wallet);
  const number = accounts.numberOf(account);
  const balances = balancesBy(wallet.ledger, minDepth, ({ output }) => accounts.ofDestination(output.to));
  return balances.get(number) ?? { totalSat: 0n, spendableSat: 0n };
}

export const getBalance = lbcwalletMethod({
  name: 'getbalance',
  summary: 'Returns the balance of an account, or of all accounts ("*"), without claims and supports.',
  params: [ACCOUNT_PARAM, MINCONF_PARAM, ADDRESS_TYPE_PARAM],
  result: t.coins('the balance'),
  run(ctx, { account, minconf }) {
    const wallet = walletOf(ctx);
    if (account === '*') return coins(walletBalance(wallet, minconf).balanceSat);
    return coins(accountBalance(wallet, account, minconf).spendableSat);
  },
});

export const getUnconfirmedBalance = lbcwalletMethod({
  name: 'getunconfirmedbalance',
  summary: 'Returns the unconfirmed or immature balance of an account.',
  params: [ACCOUNT_PARAM],
  result: t.coins('the balance'),
  run(ctx, { account }) {
    const { totalSat, spendableSat } = accountBalance(walletOf(ctx), account, 1);
    return coins(totalSat - spendableSat);
  },
});

export const getReceivedByAccount = lbcwalletMethod({
  name: 'getreceivedbyaccount',
  summary:
    'Returns the total amount received by the addresses of an account, including change, claims and supports.',
  params: [ACCOUNT_PARAM, MINCONF_PARAM],
  result: t.coins('the sum'),
  async run(ctx, { account, minconf }) {
    const wallet = walletOf(ctx);
    const number = new LbcdAccounts(wallet).numberOf(account);
    const sums = receivedSumsOf(wallet);
    await inSlices(sums.refresh());
    return coins(sums.received(number, minconf).sumSat);
  },
});

export const getReceivedByAddress = lbcwalletMethod({
  name: 'getreceivedbyaddress',
  summary: 'Returns the total amount received by an address.',
  params: [{ name: 'address', type: 'string', required: true, description: 'The address' }, MINCONF_PARAM],
  result: t.coins('the sum'),
  run(ctx, { address, minconf }) {
    const wallet = walletOf(ctx);
    const { ledger } = wallet;
    const key = destinationKey(destinationOf(wallet, address));
    let sumSat = 0n;
    for (const entry of ledger.payingTo(key)) {
      if (ledger.depth(entry) < minconf || entry.state === 'abandoned') continue;
      for (const { to, valueSat } of entry.outputs) if (to === key) sumSat += valueSat;
    }
    return coins(sumSat);
  },
});

export const listReceivedByAccount = lbcwalletMethod({
  name: 'listreceivedbyaccount',
  summary: 'Returns the total amount received by the addresses of each account.',
  params: [MINCONF_PARAM, ...IGNORED_PARAMS],
  result: t.array(
    t.object({
      account: t.str('the account'),
      amount: t.coins('the total amount received by its addresses'),
      confirmations: t.int('confirmations of the latest transaction'),
    }),
  ),
  async run(ctx, { minconf }) {
    const wallet = walletOf(ctx);
    const sums = receivedSumsOf(wallet);
    await inSlices(sums.refresh());
    return new LbcdAccounts(wallet).list().map(({ number, name }) => {
      const { sumSat, depth } = sums.received(number, minconf);
      return { account: name, amount: coins(sumSat), confirmations: depth };
    });
  },
});

export const listReceivedByAddress = lbcwalletMethod({
  name: 'listreceivedbyaddress',
  summary:
    'Returns the total amount received by each address of the wallet, including addresses that received nothing.',
  params: [MINCONF_PARAM, ...IGNORED_PARAMS],
  result: t.array(
    t.object({
      address: t.str('the address'),
      amount: t.coins('the total amount received'),
      confirmations: t.int('confirmations of the latest transaction'),
      txids: t.optional(t.array(t.hash('a transaction id')), 'when there are any'),
    }),
  ),
  async run(ctx, { minconf }) {
    const wallet = walletOf(ctx);
    const sums = await inSlices(receivedByDestination(wallet.ledger, minconf));
    const known = new Set([...wallet.book.entries()].filter(isReceiving).map(([address]) => address));
    const received = new Map(
      [...sums]
        .filter(([to]) => to !== '')
        .map(([to, sum]) => [encodeDestination(keyedDestination(to), wallet.prefixes), sum] as const),
    );
    const addresses = [...new Set([...known, ...received.keys()])].sort();
    return addresses.map((address) => {
      const { sumSat = 0n, depth = 0, txKeys = [] } = received.get(address) ?? {};
      const txids = txKeys.map((key) => hashToHex(fromLatin1(key)));
      const answer = { address, amount: coins(sumSat), confirmations: depth };
      return txids.length === 0 ? answer : { ...answer, txids };
    });
  },
});

function isReceiving([, { purpose }]: [string, { readonly purpose: string }]): boolean {
  return purpose === 'receive';
}

/** Sorts coins: newest first, outputs of one transaction from last to first. Source: lbcwallet wallet/wallet.go `creditSlice`. */
function newestFirst(a: LbcdCoin, b: LbcdCoin): number {
  const height = ({ depth, entry }: LbcdCoin): number => (depth === 0 ? Infinity : entry.height);
  if (a.entry === b.entry) return outputNumber(b.key) - outputNumber(a.key);
  if (height(a) !== height(b)) return height(b) - height(a);
  return b.entry.orderPos - a.entry.orderPos;
}

export const listUnspent = lbcwalletMethod({
  name: 'listunspent',
  summary: 'Returns the unspent outputs of the wallet that are mature and not locked, newest first.',
  params: [
    MINCONF_PARAM,
    { name: 'maxconf', type: 'integer', default: 9_999_999, description: 'Maximum number of confirmations' },
    {
      name: 'addresses',
      type: 'array',
      description: 'Not supported: filtering by addresses was removed, and a value is refused',
    },
  ],
  result: t.array(
    t.object({
      txid: t.hash('the transaction'),
      vout: t.int('the index of the output'),
      address: t.str('the address; empty if there is none'),
      account: t.str('the account of the address'),
      scriptPubKey: t.hex('the script in hex'),
      amount: t.coins('the amount of the output'),
      confirmations: t.int('the confirmations'),
      solvable: t.bool('always false'),
      spendable: t.bool('whether the wallet has the key to spend it'),
      isstake: t.bool('whether it is a claim or support'),
    }),
  ),
  run(ctx, { minconf, maxconf, addresses }) {
    const wallet = walletOf(ctx);
    if (addresses !== undefined && addresses.length > 0)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Filtering by addresses has been deprecated');
    const found = [...lbcdCoins(wallet.ledger)].filter(
      ({ key, depth, isMature }) =>
        isMature && depth >= minconf && depth <= maxconf && !wallet.lockedOutputs.has(key),
    );
    return jsonArray(unspentItems(wallet, found.sort(newestFirst)));
  },
});

function* unspentItems(wallet: Wallet, found: readonly LbcdCoin[]): Generator<JsonOut> {
  const accounts = new LbcdAccounts(wallet);
  const names = new Map(accounts.list().map(({ number, name }) => [number, name]));
  const { scripts } = spendStateOf(wallet);
  for (const { key, entry, output, depth, isStake } of found) {
    const { to, valueSat } = output;
    yield {
      txid: hashToHex(fromLatin1(entry.key)),
      vout: outputNumber(key),
      address: to === '' ? '' : encodeDestination(keyedDestination(to), wallet.prefixes),
      account: names.get(accounts.ofDestination(to)) ?? '',
      scriptPubKey: toHex(scripts.of(entry, output)),
      amount: coins(valueSat),
      confirmations: depth,
      solvable: false,
      spendable: true,
      isstake: isStake,
    };
  }
}
