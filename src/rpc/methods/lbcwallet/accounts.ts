/** Methods of lbcwallet for accounts: creating and naming them, and finding the account of an address. */
import { encodeDestination } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { destinationKey, keyedDestination } from '../../../wallet/destinationKey.js';
import { isMine, MINE } from '../../../wallet/keys/isMine.js';
import { newAddress } from '../../../wallet/keys/newAddress.js';
import { DEFAULT_ACCOUNT, IMPORTED_ACCOUNT, LbcdAccounts } from '../../../wallet/lbcd/accounts.js';
import { balancesBy } from '../../../wallet/lbcd/coins.js';
import type { Wallet } from '../../../wallet/wallet.js';
import { coins } from '../../../util/json/json.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { t } from '../../../schema/schema.js';
import { ranOut } from '../wallet/addresses/addressArguments.js';
import { walletOf } from '../wallet/wallets/walletOf.js';
import {
  ACCOUNT_PARAM,
  ADDRESS_TYPE_PARAM,
  addressKind,
  destinationOf,
  kindOf,
  lbcwalletMethod,
  MINCONF_PARAM,
  unlockNeeded,
} from './lbcwalletMethod.js';

/** Key scopes by address type. Balances are listed per scope. Source: waddrmgr `KeyScope.String`. */
const SCOPES = { legacy: "m/44'/140'", 'p2sh-segwit': "m/49'/140'", bech32: "m/84'/140'" } as const;

function refuseReserved(name: string): void {
  if (name === '*') throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Account name is reserved by RPC server');
}

export const createNewAccount = lbcwalletMethod({
  name: 'createnewaccount',
  summary: 'Creates a new account. Addresses belong to an account if they are requested with its name.',
  params: [{ name: 'account', type: 'string', required: true, description: 'The name of the account' }],
  result: t.none(),
  async run(ctx, { account }) {
    const wallet = walletOf(ctx);
    refuseReserved(account);
    if (wallet.isLocked) {
      throw rpcError(
        RPC_ERROR.WALLET_UNLOCK_NEEDED,
        'Creating an account requires the wallet to be unlocked. Enter the wallet passphrase with walletpassphrase to unlock',
      );
    }
    await wallet.change((batch) => new LbcdAccounts(wallet).create(batch, account));
    return null;
  },
});

export const renameAccount = lbcwalletMethod({
  name: 'renameaccount',
  summary: 'Renames an account.',
  params: [
    { name: 'oldaccount', type: 'string', required: true, description: 'The current name of the account' },
    { name: 'newaccount', type: 'string', required: true, description: 'The new name of the account' },
  ],
  result: t.none(),
  async run(ctx, { oldaccount, newaccount }) {
    const wallet = walletOf(ctx);
    refuseReserved(newaccount);
    await wallet.change((batch) => new LbcdAccounts(wallet).rename(batch, oldaccount, newaccount));
    return null;
  },
});

export const getAccount = lbcwalletMethod({
  name: 'getaccount',
  summary: 'Returns the account of an address.',
  params: [{ name: 'address', type: 'string', required: true, description: 'The address' }],
  result: t.str('the name of the account'),
  run(ctx, { address }) {
    const wallet = walletOf(ctx);
    const destination = destinationOf(wallet, address);
    if (isMine(wallet.keyring, scriptForDestination(destination)) === MINE.no)
      throw rpcError(RPC_ERROR.WALLET_ERROR, 'address not found in wallet');
    const accounts = new LbcdAccounts(wallet);
    return accounts.nameOf(accounts.ofAddress(encodeDestination(destination, wallet.prefixes)));
  },
});

/** Creates an address of an account. */
export async function accountAddress(wallet: Wallet, number: number, kind: string): Promise<string> {
  if (number === IMPORTED_ACCOUNT)
    throw rpcError(RPC_ERROR.WALLET_ERROR, 'account number may not exceed 2147483647');
  const address = await newAddress(wallet, addressKind(kind) ?? 'legacy', { label: '' });
  if (address === null) throw wallet.isLocked ? unlockNeeded() : ranOut();
  if (number !== DEFAULT_ACCOUNT)
    await wallet.change((batch) => new LbcdAccounts(wallet).assign(batch, address, number));
  return address;
}

/** Returns the receiving addresses of an account in the order of their creation. */
function addressesOf(wallet: Wallet, number: number): string[] {
  const accounts = new LbcdAccounts(wallet);
  const found = new Set<string>();
  for (const [address, { purpose }] of wallet.book.entries())
    if (purpose === 'receive' && accounts.ofAddress(address) === number) found.add(address);
  for (const [address, assigned] of accounts.assigned()) if (assigned === number) found.add(address);
  return [...found];
}

export const getAccountAddress = lbcwalletMethod({
  name: 'getaccountaddress',
  summary:
    'Returns the latest address of an account if it has not received a payment, otherwise a new address.',
  params: [ACCOUNT_PARAM, { ...ADDRESS_TYPE_PARAM, default: 'legacy' }],
  result: t.str('the address'),
  run(ctx, { account, addresstype }) {
    const wallet = walletOf(ctx);
    const number = new LbcdAccounts(wallet).numberOf(account);
    const kind = addressKind(addresstype) ?? 'legacy';
    const latest = addressesOf(wallet, number).findLast(
      (address) => kindOf(destinationOf(wallet, address)) === kind,
    );
    if (latest !== undefined) {
      const isUsed = wallet.ledger.payingTo(destinationKey(destinationOf(wallet, latest))).length > 0;
      if (!isUsed) return latest;
    }
    return accountAddress(wallet, number, kind);
  },
});

export const getAddressesByAccount = lbcwalletMethod({
  name: 'getaddressesbyaccount',
  summary: 'Returns the addresses of an account.',
  params: [ACCOUNT_PARAM, ADDRESS_TYPE_PARAM],
  result: t.array(t.str('an address')),
  run(ctx, { account, addresstype }) {
    const wallet = walletOf(ctx);
    const number = new LbcdAccounts(wallet).numberOf(account);
    const kind = addressKind(addresstype);
    const addresses = addressesOf(wallet, number);
    if (kind === null) return addresses;
    return addresses.filter((address) => kindOf(destinationOf(wallet, address)) === kind);
  },
});

export const listAccounts = lbcwalletMethod({
  name: 'listaccounts',
  summary: 'Returns the balances of all accounts, without claims and supports.',
  params: [MINCONF_PARAM, ADDRESS_TYPE_PARAM],
  result: t.map(
    'account',
    t.map("key scope (type and path of addresses), or 'total'", t.coins('the balance')),
  ),
  run(ctx, { minconf, addresstype }) {
    const wallet = walletOf(ctx);
    const accounts = new LbcdAccounts(wallet);
    const only = addressKind(addresstype);
    const kinds = (['legacy', 'p2sh-segwit', 'bech32'] as const).filter(
      (kind) => only === null || kind === only,
    );
    const balances = balancesBy(wallet.ledger, minconf, ({ output: { to } }) => {
      const kind = to === '' ? 'legacy' : kindOf(keyedDestination(to));
      return `${accounts.ofDestination(to)} ${kind}`;
    });
    const byName = accounts.list().sort((a, b) => (a.name < b.name ? -1 : 1));
    return Object.fromEntries(
      byName.map(({ number, name }) => {
        const sums = kinds.map((kind) => balances.get(`${number} ${kind}`)?.spendableSat ?? 0n);
        const total = sums.reduce((sum, one) => sum + one, 0n);
        const members = kinds.map((kind, i) => [SCOPES[kind], coins(sums[i]!)] as const);
        return [name, { ...Object.fromEntries(members), total: coins(total) }];
      }),
    );
  },
});
