/** `addtimelockedaddress`: adds an address that cannot be spent before a given time. Source: lbrycrd wallet/rpcwallet.cpp. */
import { decodeDestination, encodeDestination } from '../../../../script/address.js';
import { OP } from '../../../../script/opcodes.js';
import { pushData } from '../../../../script/script.js';
import { encodeScriptNumber } from '../../../../script/scriptNumber.js';
import { scriptForDestination } from '../../../../script/standard.js';
import { toHex } from '../../../../util/bytes.js';
import { addScriptDestination } from '../../../../wallet/keys/keyOfDestination.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { ADDED_ADDRESS_PARAMS, addressTypeOf, checkLabel } from '../addresses/addressArguments.js';
import { runImport } from './importing.js';
import { walletOf } from '../wallets/walletOf.js';

export const addTimelockedAddress = defineMethod({
  name: 'addtimelockedaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Add an address that cannot be spent from until a given time. Requires a new wallet backup.\n' +
    'Payments to it do not count in the balance; watch it with importaddress.',
  params: [
    {
      name: 'timelock',
      type: 'integer',
      required: true,
      description: 'Block height if < 500 million or unix timestamp if greater',
    },
    {
      name: 'address',
      type: 'string',
      required: true,
      description: 'The destination wallet address',
    },
    ...ADDED_ADDRESS_PARAMS,
  ],
  result: t.object({
    address: t.str('the new P2SH address'),
    redeemScript: t.hex('the redemption script'),
  }),
  examples: [['1700000', '"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"']],
  async run(ctx, { timelock, address, label, address_type }) {
    const wallet = walletOf(ctx);
    checkLabel(label);
    const paid = decodeDestination(address, wallet.prefixes);
    if (paid === null) {
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid LBRY address: ${address}`);
    }
    const type = addressTypeOf(address_type, wallet.options.addressType);
    // The lock time is always pushed as bytes, even if an opcode exists for the number.
    const script = Buffer.concat([
      pushData(encodeScriptNumber(timelock)),
      Buffer.of(OP.OP_CHECKLOCKTIMEVERIFY, OP.OP_DROP),
      scriptForDestination(paid),
    ]);
    const text = await runImport(wallet, (batch) => {
      const destination = addScriptDestination(wallet.keyring, batch, script, type);
      const locked = encodeDestination(destination, wallet.prefixes);
      wallet.book.set(batch, locked, label, 'timelock');
      return locked;
    });
    return { address: text, redeemScript: toHex(script) };
  },
});
