/** Accounts of a wallet: listing, creating, changing, removing. Source: lbry-sdk daemon.py `jsonrpc_account_*`. */
import { JsonObject, type JsonValue } from '../../../util/json/json.js';
import { pageOf, pageOfList } from '../../base/pages.js';
import { badValue } from '../../base/daemonError.js';
import { accountSecretOf } from '../../wallet/accountSecret.js';
import { MAX_GAP, type LoadedAccount } from '../../wallet/loadedAccount.js';
import type { GeneratorName, LoadedWallet } from '../../wallet/loadedWallet.js';
import {
  accountAdd,
  accountBalance,
  accountCreate,
  accountList,
  accountMaxAddressGap,
  accountRemove,
  accountSet,
} from '../declarations/account.js';
import { implement, type MethodImplementation } from '../implement.js';
import { accountToJson, balanceToJson, listedAccountToJson } from '../walletAnswers.js';

const generatorOf = (isSingle: boolean): GeneratorName =>
  isSingle ? 'single-address' : 'deterministic-chain';

const shown = (wallet: LoadedWallet, { account }: LoadedAccount) =>
  accountToJson(account, wallet.accounts[0]?.account === account);

const list = implement(accountList, async ({ services }, args) => {
  const wallet = services.wallets.get(args.wallet_id);
  const showsSeed = args.show_seed;
  if (args.account_id !== undefined && args.account_id !== '') {
    const one = wallet.account(args.account_id);
    const listed = listedAccountToJson(one.account, await one.balance(args.confirmations), { showsSeed });
    return pageOfList([listed], { page: 1, pageSize: 1, offset: 0 });
  }
  const items = await Promise.all(
    wallet.accounts.map(async (one, n) =>
      listedAccountToJson(one.account, await one.balance(args.confirmations), {
        showsSeed,
        isDefault: n === 0,
      }),
    ),
  );
  return pageOfList(items, pageOf(args));
});

const balance = implement(accountBalance, async ({ services }, args) =>
  balanceToJson(
    await services.wallets.get(args.wallet_id).account(args.account_id).balance(args.confirmations),
  ),
);

const add = implement(accountAdd, async ({ services }, args) => {
  const wallet = services.wallets.get(args.wallet_id);
  const { seed, private_key: privateKey, public_key: publicKey, path, passphrase } = args;
  const secret = accountSecretOf({ seed, privateKey, publicKey, path, passphrase }, services.ledger.params);
  const generator: [string, JsonValue][] = [['name', generatorOf(args.single_key)]];
  const account = await wallet.addAccount(
    new JsonObject([
      ['ledger', services.ledger.params.id],
      ['name', args.account_name],
      ['seed', secret.seed],
      ['private_key', secret.privateKey],
      ['public_key', secret.publicKey],
      ['address_generator', new JsonObject(generator)],
      ['address_type', secret.addressType],
    ]),
  );
  return { ...shown(wallet, account), form: secret.form };
});

const create = implement(accountCreate, async ({ services }, args) => {
  const wallet = services.wallets.get(args.wallet_id);
  return shown(wallet, await wallet.createAccount(args.account_name, generatorOf(args.single_key)));
});

const remove = implement(accountRemove, async ({ services }, args) => {
  const wallet = services.wallets.get(args.wallet_id);
  const account = wallet.account(args.account_id);
  await wallet.removeAccount(account);
  return shown(wallet, account);
});

const set = implement(accountSet, async ({ services }, args) => {
  const wallet = services.wallets.get(args.wallet_id);
  const account = wallet.account(args.account_id);
  await wallet.changeAccount(account, {
    isDefault: args.default,
    name: args.new_name,
    change: {
      gap: countOf('change_gap', args.change_gap),
      maxUses: countOf('change_max_uses', args.change_max_uses),
    },
    receiving: {
      gap: countOf('receiving_gap', args.receiving_gap),
      maxUses: countOf('receiving_max_uses', args.receiving_max_uses),
    },
  });
  return shown(wallet, account);
});

function countOf(argument: string, value: number | undefined): number | undefined {
  if (value !== undefined && (value < 1 || value > MAX_GAP))
    throw badValue(`Invalid value for '${argument}': it must be from 1 to ${MAX_GAP}, not ${value}.`);
  return value;
}

const maxAddressGap = implement(accountMaxAddressGap, async ({ services }, args) => {
  const gaps = await services.wallets.get(args.wallet_id).account(args.account_id).maxGaps();
  return { max_change_gap: gaps.change, max_receiving_gap: gaps.receiving };
});

export const accountMethods: readonly MethodImplementation[] = [
  list,
  balance,
  add,
  create,
  remove,
  set,
  maxAddressGap,
];
