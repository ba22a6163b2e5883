/** `claimname`: a claim to a name. */
import { claimName as makeClaim } from '../../../wallet/claims/stakes.js';
import { hashToHex } from '../../../util/bytes.js';
import { nameBytes } from '../../format/claimsText.js';
import { defineMethod } from '../../method.js';
import { t } from '../../../schema/schema.js';
import { valueBytes } from './claimArguments.js';
import { spending } from './spendArguments.js';
import { requireUnlocked, walletOf } from './walletOf.js';

export const claimName = defineMethod({
  name: 'claimname',
  category: 'claimtrie',
  needsWallet: 'one',
  summary:
    'Creates a transaction that claims a name for a value. The claim controls the name while its amount and that of its ' +
    'supports are the greatest among the unspent claims to the name.',
  params: [
    { name: 'name', type: 'string', required: true, description: 'The name that is claimed' },
    { name: 'value', type: 'string', required: true, description: 'What it is claimed for, in hexadecimal' },
    {
      name: 'amount',
      type: 'amount',
      required: true,
      late: true,
      description: 'The amount to hold the name with',
    },
  ],
  maxArgs: 4,
  result: t.hash('the transaction'),
  examples: [['"mindblown"', '"6f6d67"', '0.1']],
  async run(ctx, { name, value, amount }) {
    const wallet = walletOf(ctx);
    const bytes = valueBytes(value);
    const valueSat = amount();
    requireUnlocked(wallet);
    const { txid } = await spending(() => makeClaim(wallet, nameBytes(name), bytes, valueSat));
    return hashToHex(txid);
  },
});
