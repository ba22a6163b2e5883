/** Extracts the claim operations of a block: the claims and supports that it spends and creates. */
import {
  OUTPUT_CLAIM_KIND,
  OUTPUT_STRIDE,
  TX_CLAIM_OUTPUTS,
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_OUTPUT_COUNT,
  TX_START,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import { outputAmountAt, outputScriptAt, prevoutAt, txidAt } from '../../primitives/blockView.js';
import { loadNative, type ResolvedInputs } from '../../native/binding.js';
import { claimIdOf, decodeClaimScript } from '../../script/claimScript.js';
import type { ClaimBlock, ClaimOutput, ClaimSpend, ClaimTx } from '../../store/claims/claimStore.js';
import { assert } from '../../util/assert.js';
import { spentScript } from './checkSpends.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';

/** The operations of `blockClaims` in packed form. Needs the addon. */
export function packedClaims({ raw, parsed }: LoadedBlock, resolved: ResolvedInputs): Buffer {
  const addon = loadNative();
  assert(addon, 'only the addon packs claim operations');
  return addon.claimOperations(raw, parsed, resolved);
}

/**
 * Claim operations of the block's transactions, in order. Transactions without operations are omitted, and the coinbase is
 * ignored.
 */
export function blockClaims(block: LoadedBlock, resolved: ResolvedInputs, height: number): ClaimBlock {
  const { raw, parsed } = block;
  const { txs } = parsed;
  const transactions: ClaimTx[] = [];
  for (let tx = 0; tx < parsed.txCount; tx++) {
    const row = tx * TX_STRIDE;
    if ((txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) continue;
    const spends: ClaimSpend[] = [];
    const first = txs[row + TX_FIRST_INPUT]!;
    for (let input = first; input < first + txs[row + TX_INPUT_COUNT]!; input++) {
      if (resolved.claimKinds[input] === 0) continue;
      const claim = decodeClaimScript(spentScript(resolved, input));
      assert(claim, 'the coin table and the claim parser disagree about a spent script');
      const prevout = prevoutAt(raw, parsed, input);
      const txid = prevout.subarray(0, 32);
      const n = prevout.readUInt32LE(32);
      spends.push({
        txid,
        n,
        coinHeight: resolved.heightCodes[input]! >>> 1,
        kind: claim.kind,
        hasMetadata: claim.kind === 'support' && claim.value !== undefined,
        name: claim.name,
        claimId: claim.claimId ?? claimIdOf(txid, n),
        amount: resolved.amounts[input]!,
      });
    }
    const outputs: ClaimOutput[] = [];
    if (txs[row + TX_CLAIM_OUTPUTS]! > 0) {
      const firstOutput = txs[row + TX_FIRST_OUTPUT]!;
      for (let n = 0; n < txs[row + TX_OUTPUT_COUNT]!; n++) {
        if (parsed.outputs[(firstOutput + n) * OUTPUT_STRIDE + OUTPUT_CLAIM_KIND] === 0) continue;
        const claim = decodeClaimScript(outputScriptAt(raw, parsed, firstOutput + n));
        assert(claim, 'the block view and the claim parser disagree about an output script');
        outputs.push({
          n,
          kind: claim.kind,
          hasMetadata: claim.kind === 'support' && claim.value !== undefined,
          name: claim.name,
          amount: outputAmountAt(raw, parsed, firstOutput + n),
          ...(claim.claimId ? { claimId: claim.claimId } : {}),
        });
      }
    }
    if (spends.length + outputs.length > 0) {
      transactions.push({ txid: txidAt(parsed, tx), txOffset: txs[row + TX_START]!, spends, outputs });
    }
  }
  return { height, transactions };
}
