/** `claimname`: creates a claim for a name. */
import { claimName as makeClaim } from '../../../../wallet/claims/stakes.js';
import { hashToHex } from '../../../../util/bytes.js';
import { givenName, walletHexParam } from '../../claimtrie/hexNames.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { valueBytes } from './claimArguments.js';
import { spending } from '../sending/spendArguments.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

const EMPTY_NAME =
  'The name is empty, and no lbry:// URL can refer to such a claim. To claim it anyway, pass true as ' +
  'the fourth argument (force)';

export const claimName = defineMethod({
  name: 'claimname',
  category: 'claimtrie',
  needsWallet: 'one',
  summary:
    'Creates a transaction that claims a name for a value. The claim controls the name while its amount and that of its ' +
    'supports are the greatest among the unspent claims to the name.',
  params: [
    { name: 'name', type: 'string', required: true, description: 'The name that is claimed' },
    { name: 'value', type: 'string', required: true, description: 'The value of the claim in hex' },
    {
      name: 'amount',
      type: 'amount',
      required: true,
      late: true,
      description: 'The amount of the claim, in coins',
    },
    {
      name: 'force',
      type: 'boolean',
      default: false,
      late: true,
      description: 'Allow an empty name. Ignored in the other profiles, as lbrycrd ignores a fourth argument',
    },
    walletHexParam('name'),
  ],
  maxArgsInReference: 4,
  result: t.hash('the transaction'),
  examples: [['"mindblown"', '"6f6d67"', '0.1']],
  async run(ctx, { name, value, amount, force, hex }) {
    const wallet = walletOf(ctx);
    const bytes = valueBytes(value);
    const valueSat = amount();
    // lbrycrd accepts the empty name without the option `force`.
    if (ctx.profile === 'documented' && !force() && name === '')
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, EMPTY_NAME);
    const claimed = givenName('name', name, hex());
    requireUnlocked(wallet);
    const { txid } = await spending(() => makeClaim(wallet, claimed, bytes, valueSat));
    return hashToHex(txid);
  },
});
