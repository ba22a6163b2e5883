/** `abandonclaim` and `abandonsupport`: spend the output of a claim or support, which ends the claim or support. */
import type { StakeKind } from '../../../../wallet/claims/ownStake.js';
import { abandonStake } from '../../../../wallet/claims/stakes.js';
import { hashToHex, type Bytes } from '../../../../util/bytes.js';
import { defineMethod, type RpcContext } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { ABANDON_PARAMS, ownTransaction } from './claimArguments.js';
import { requireStakeKeys } from './requireStakeKeys.js';
import { scriptOfAddress, spending } from '../sending/spendArguments.js';
import { walletOf } from '../wallets/walletOf.js';

const TO_AN_ADDRESS = 'and so abandons it: its amount, minus the fee, is sent to an address.';
const RESULT = t.hash('the new transaction');
const EXAMPLES = [
  [
    '"36a719a156a1df178531f3c712b8b37f8e7cc3b36eea532df961229d936272a1"',
    '"mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8"',
  ],
] as const;

async function abandon(
  ctx: RpcContext,
  { txid, address }: { readonly txid: Bytes; readonly address: string },
  kind: StakeKind,
): Promise<string> {
  const wallet = walletOf(ctx);
  const entry = ownTransaction(wallet, txid);
  requireStakeKeys(wallet, entry, kind);
  // An invalid address is rejected at this point. The reference accepts any text, and its payment then has no recipient.
  const script = scriptOfAddress(wallet, address, 'Invalid address');
  return hashToHex(await spending(() => abandonStake(wallet, entry, kind, script)));
}

export const abandonClaim = defineMethod({
  name: 'abandonclaim',
  category: 'claimtrie',
  needsWallet: 'one',
  summary: `Creates a transaction that spends the output of a claim, ${TO_AN_ADDRESS}`,
  params: ABANDON_PARAMS,
  result: RESULT,
  examples: EXAMPLES,
  run: (ctx, args) => abandon(ctx, args, 'claim'),
});

export const abandonSupport = defineMethod({
  name: 'abandonsupport',
  category: 'claimtrie',
  needsWallet: 'one',
  summary: `Creates a transaction that spends the output of a support, ${TO_AN_ADDRESS}`,
  params: ABANDON_PARAMS,
  result: RESULT,
  examples: EXAMPLES,
  run: (ctx, args) => abandon(ctx, args, 'support'),
});
