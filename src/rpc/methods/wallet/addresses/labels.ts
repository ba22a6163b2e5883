/** `listlabels` and `getaddressesbylabel`: queries of the address book by label. Source: lbrycrd wallet/rpcwallet.cpp. */
import { jsonArray, jsonObject } from '../../../../util/json/jsonWrite.js';
import { compareText } from '../../../../wallet/listing/received.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { checkLabel } from './addressArguments.js';
import { walletOf } from '../wallets/walletOf.js';

export const listLabels = defineMethod({
  name: 'listlabels',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Returns the list of all labels, or labels that are assigned to addresses with a specific purpose.',
  params: [
    {
      name: 'purpose',
      type: 'string',
      default: '',
      description: 'Only labels of addresses with this purpose ("send", "receive"); empty for all',
    },
  ],
  result: t.array(t.str('a label'), 'sorted'),
  examples: [[], ['"receive"']],
  run(ctx, { purpose }) {
    const { book } = walletOf(ctx);
    const labels =
      purpose === ''
        ? [...book.labels()]
        : [...book.labels()].filter((label) =>
            book.withLabel(label).some((address) => book.find(address)?.purpose === purpose),
          );
    return jsonArray(labels.sort(compareText));
  },
});

export const getAddressesByLabel = defineMethod({
  name: 'getaddressesbylabel',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Returns the list of addresses assigned the specified label.',
  params: [{ name: 'label', type: 'string', required: true, description: 'The label' }],
  result: t.map('address', t.object({ purpose: t.str('what the address is for: "send" or "receive"') })),
  examples: [['"tabby"']],
  run(ctx, { label }) {
    const { book } = walletOf(ctx);
    checkLabel(label);
    const found = book.destinationsWithLabel(label);
    if (found.length === 0) {
      throw rpcError(RPC_ERROR.WALLET_INVALID_LABEL_NAME, `No addresses with label ${label}`);
    }
    return jsonObject(
      found.map((key) => {
        const address = book.destinations().get(key)!;
        return [address, { purpose: book.find(address)!.purpose }] as const;
      }),
    );
  },
});
