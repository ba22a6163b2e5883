/** Methods for supports and purchases: support_create, support_abandon, purchase_create. */
import { buyClaim } from '../../txBuilding/purchases.js';
import { abandonSupports, createSupport } from '../../txBuilding/supportBuilding.js';
import { purchaseCreate } from '../declarations/purchase.js';
import { supportAbandon, supportCreate } from '../declarations/support.js';
import { implement, type MethodImplementation } from '../implement.js';
import { answerWith, handOf, optionsOf, signingOf } from './txBuilding.js';

export const supportBuildingMethods: readonly MethodImplementation[] = [
  implement(supportCreate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const support = {
      claimId: args.claim_id,
      amountDewies: args.amount,
      isTip: args.tip,
      comment: args.comment,
      signing: signingOf(args),
    };
    return answerWith(context, await createSupport(txBuilder, wallet, support, optionsOf(args)), args);
  }),

  implement(supportAbandon, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const { claim_id: claimId, txid, nout, keep } = args;
    const choice = { claimId, txid, nout, keepDewies: keep ?? 0n };
    return answerWith(context, await abandonSupports(txBuilder, wallet, choice, optionsOf(args)), args);
  }),

  implement(purchaseCreate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const purchase = {
      claimId: args.claim_id,
      url: args.url,
      fundingAccountIds: args.funding_account_ids,
      allowDuplicatePurchase: args.allow_duplicate_purchase,
      overrideMaxKeyFee: args.override_max_key_fee,
    };
    return answerWith(context, await buyClaim(txBuilder, wallet, purchase, args), args);
  }),
];
