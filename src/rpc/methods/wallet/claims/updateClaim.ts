/** `updateclaim`: replaces the value and the amount of a claim. */
import { updateClaim as makeUpdate } from '../../../../wallet/claims/stakes.js';
import { hashToHex } from '../../../../util/bytes.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { CLAIM_TXID_PARAM, ownTransaction, valueBytes } from './claimArguments.js';
import { requireStakeKeys } from './requireStakeKeys.js';
import { spending } from '../sending/spendArguments.js';
import { walletOf } from '../wallets/walletOf.js';

export const updateClaim = defineMethod({
  name: 'updateclaim',
  category: 'claimtrie',
  needsWallet: 'one',
  summary:
    'Creates a transaction that spends the output of a claim and creates a new output for the same ' +
    'claim, with another value and amount. The claim keeps its id, name and supports.',
  params: [
    CLAIM_TXID_PARAM,
    { name: 'value', type: 'string', required: true, description: 'The new value in hex' },
    {
      name: 'amount',
      type: 'amount',
      required: true,
      late: true,
      description: 'The new amount of the claim, in coins',
    },
  ],
  maxArgs: 4,
  result: t.hash('the new transaction'),
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b36eea532df961229d936272a1"', '"6f6d67"', '0.1']],
  async run(ctx, { txid, value, amount }) {
    const wallet = walletOf(ctx);
    const bytes = valueBytes(value);
    const valueSat = amount();
    const entry = ownTransaction(wallet, txid);
    requireStakeKeys(wallet, entry, 'claim');
    const sent = await spending(() => makeUpdate(wallet, entry, bytes, valueSat));
    return hashToHex(sent.txid);
  },
});
