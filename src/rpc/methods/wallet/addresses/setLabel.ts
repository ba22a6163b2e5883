/** `setlabel` and `setaccount`: sets the label of an address. Source: lbrycrd wallet/rpcwallet.cpp `setlabel`. */
import { MINE } from '../../../../wallet/keys/isMine.js';
import { destinationFlags } from '../../../../wallet/listing/amounts.js';
import { labelAddress } from '../../../../wallet/listing/labelAddress.js';
import { encodeDestination } from '../../../../script/address.js';
import { keyedDestination } from '../../../../wallet/destinationKey.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { defineMethod, type RpcContext } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { accountMethod } from './accountsOption.js';
import { checkLabel, ranOut } from './addressArguments.js';
import { addressKey } from './addressOf.js';
import { walletOf } from '../wallets/walletOf.js';

const ADDRESS_PARAM = {
  name: 'address',
  type: 'string',
  required: true,
  description: 'The address to be associated with a label',
} as const;

interface Named {
  readonly wallet: Wallet;
  readonly address: string;
  readonly isMine: boolean;
  readonly oldLabel: string;
}

async function setName(ctx: RpcContext, address: string, label: string): Promise<Named> {
  const wallet = walletOf(ctx);
  const key = addressKey(wallet, address);
  checkLabel(label);
  const canonical = encodeDestination(keyedDestination(key), wallet.prefixes);
  const oldLabel = wallet.book.at(key)?.label ?? '';
  const isMine = destinationFlags(wallet, key) !== MINE.no;
  await wallet.change((batch) => wallet.book.set(batch, canonical, label, isMine ? 'receive' : 'send'));
  return { wallet, address: canonical, isMine, oldLabel };
}

export const setLabel = defineMethod({
  name: 'setlabel',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Sets the label associated with the given address.',
  params: [
    ADDRESS_PARAM,
    { name: 'label', type: 'string', required: true, description: 'The label to assign to the address' },
  ],
  result: t.none(),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"', '"tabby"']],
  async run(ctx, { address, label }) {
    await setName(ctx, address, label);
    return null;
  },
});

export const setAccount = defineMethod({
  name: 'setaccount',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'DEPRECATED. Sets the account associated with the given address.',
  params: [
    ADDRESS_PARAM,
    { name: 'account', type: 'string', required: true, description: 'The account to assign the address to' },
  ],
  result: t.none(),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"', '"tabby"']],
  deprecated: accountMethod('setaccount'),
  async run(ctx, args) {
    const { wallet, address, isMine, oldLabel } = await setName(ctx, args.address, args.account);
    if (!isMine || oldLabel === args.account) return null;
    // The current address of the old account belongs to another account after this call, so the old account gets a new
    // current address.
    const current = await labelAddress(wallet, oldLabel);
    if (current === null) throw ranOut();
    if (current === address && (await labelAddress(wallet, oldLabel, { isNew: true })) === null)
      throw ranOut();
    return null;
  },
});
