/** `getclaimstatus`: a claim by its id, alive or ended, with its last output. */
import { expirationHeight } from '../../../claimtrie/rules.js';
import { pointIndex, pointTxid, REMOVAL, type Item } from '../../../claimtrie/item.js';
import type { ClaimRecord } from '../../../index/claims/claimReader.js';
import { prevoutAt, txidAt } from '../../../primitives/blockView.js';
import { TX_FIRST_INPUT, TX_INPUT_COUNT, TX_STRIDE } from '../../../primitives/blockLayout.js';
import { formatOutPoint } from '../../../primitives/transaction.js';
import { decodeClaimScript } from '../../../script/claimScript.js';
import { equalBytes, fromLatin1, hashFromHex, hashToHex, toHex, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { readBlockOrNull } from '../../lookup/blockLookup.js';
import { BRIEF_VALUE_FIELDS, briefValue } from '../../format/claimsBrief.js';
import { NAME_HEX, nameHex, ofBlock, OF_BLOCK_FIELDS } from '../../format/claimsExplorer.js';
import { showScript } from '../../format/claimsOutput.js';
import { readOutputs } from '../../lookup/outputScripts.js';
import { nameText } from '../../format/claimsText.js';
import { outputOf } from '../../../store/claims/query/claimQueries.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { retryWhileGone } from '../claimtrie/atBlock.js';
import { CLAIM_ID_PARAM, claimNotFound, requireWholeId } from '../claimtrie/lists/listSupports.js';
import { requireClaimIndex } from './claimAnswer.js';

type Answer = Record<string, JsonOut | undefined>;

async function livingAnswer({ chain, params }: RpcServices, claim: ClaimRecord): Promise<Answer> {
  const { txid, nout, activationHeight } = claim;
  const isActive = activationHeight <= chain.chain.height;
  const coin = await chain.coin(formatOutPoint({ hash: txid, index: nout }));
  const value = coin === null ? undefined : decodeClaimScript(coin.script)?.value;
  return {
    state: isActive ? 'active' : 'pending',
    name: nameText(claim.name),
    normalized_name: nameText(claim.normalizedName),
    namehex: nameHex(claim.name),
    txid: hashToHex(txid),
    n: nout,
    amount: coins(claim.amountSat),
    outputHeight: claim.height,
    validAtHeight: activationHeight,
    expirationHeight: claim.expirationHeight,
    isControlling: claim.isControlling,
    effectiveAmount: coins(claim.effectiveAmountSat),
    address: coin === null ? undefined : showScript(params, coin.script).address,
    ...briefValue(value, false),
    value: value && toHex(value),
  };
}

/**
 * Returns the txid of the transaction in the block at `height` that spends an output; undefined if the block is not on
 * disk.
 */
async function spenderIn(services: RpcServices, height: number, outPoint: Bytes): Promise<Bytes | undefined> {
  const block = await readBlockOrNull(services, services.chain.chain.index.active.at(height));
  if (block === null) return undefined;
  const { raw, parsed } = block;
  for (let tx = 1; tx < parsed.txCount; tx++) {
    const first = parsed.txs[tx * TX_STRIDE + TX_FIRST_INPUT]!;
    const end = first + parsed.txs[tx * TX_STRIDE + TX_INPUT_COUNT]!;
    for (let input = first; input < end; input++)
      if (equalBytes(prevoutAt(raw, parsed, input), outPoint)) return txidAt(parsed, tx);
  }
  return undefined;
}

async function endedAnswer(services: RpcServices, item: Item): Promise<Answer> {
  const { chain, claims } = services;
  const validAtHeight = item.activated === 0 ? item.dueHeight : item.activated;
  const output = outputOf(item, item.activated !== 0, validAtHeight);
  const outputs = await readOutputs(services, [output]);
  const value = outputs.claimOf(output)?.value;
  const { address, isPruned } = outputs.of(output);
  const wasSpent = item.removal === REMOVAL.spent;
  const txid = pointTxid(item.point);
  const n = pointIndex(item.point);
  const spender = wasSpent
    ? await spenderIn(services, item.removed, formatOutPoint({ hash: txid, index: n }))
    : undefined;
  const block = chain.chain.index.active.at(item.removed);
  return {
    state: wasSpent ? 'spent' : 'expired',
    name: nameText(output.name),
    normalized_name: nameText(fromLatin1(item.name)),
    namehex: nameHex(output.name),
    txid: hashToHex(txid),
    n,
    amount: coins(item.amount),
    outputHeight: item.height,
    validAtHeight,
    expirationHeight: expirationHeight(claims.rules, item.height),
    endedHeight: item.removed,
    endedBlockhash: hashToHex(chain.headers.hash(block)),
    spentBy: spender && hashToHex(spender),
    address,
    ...briefValue(value, false),
    value: value && toHex(value),
    pruned: isPruned ? true : undefined,
  };
}

export const getClaimStatus = defineMethod({
  name: 'getclaimstatus',
  category: 'claimindex',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the state of a claim: its last output as of the latest block and, if the claim was spent or ' +
    'has expired, the block in which that happened (needs -claimindex). If one block created and ' +
    'spent the output, endedHeight equals outputHeight. In a data folder of an older ' +
    'version, claims that ended long ago are available only after an upgrade of the index in the ' +
    'background.',
  params: [CLAIM_ID_PARAM],
  result: t.object({
    claimId: t.claimId('the claim id'),
    ...OF_BLOCK_FIELDS,
    state: t.oneOf(
      ['active', 'pending', 'spent', 'expired'],
      'spent: abandoned, or spent by an invalid update',
    ),
    name: t.str('the name in the last output'),
    normalized_name: t.str('the normalized name, by which the claim trie stores or stored the claim'),
    namehex: NAME_HEX,
    txid: t.hash('the transaction that contains the last output'),
    n: t.int('the index of that output'),
    amount: t.coins('the amount of the output'),
    outputHeight: t.int('the height of the block that contains the output'),
    validAtHeight: t.int('the activation height'),
    expirationHeight: t.int('the height at which the claim or support expires'),
    isControlling: t.optional(t.bool('whether it controls its name'), 'if the claim is active or pending'),
    effectiveAmount: t.optional(
      t.coins('the effective amount: the amount with that of the active supports'),
      'if the claim is active or pending',
    ),
    endedHeight: t.optional(
      t.int('the height at which it was spent or expired'),
      'if the claim was spent or has expired',
    ),
    endedBlockhash: t.optional(t.hash('the hash of that block'), 'if the claim was spent or has expired'),
    spentBy: t.optional(
      t.hash('the transaction that spent the output'),
      'if it was spent and that block is on disk',
    ),
    address: t.optional(t.str('the address to which the output pays'), 'if the script has one'),
    ...BRIEF_VALUE_FIELDS,
    value: t.optional(t.hex('the value of the claim'), 'if it is not pruned'),
    pruned: t.optional(
      t.bool('true if the block is pruned, so that value and address are unknown'),
      'if they are pruned',
    ),
  }),
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b3"']],
  run({ services }, { claimid }) {
    requireWholeId(claimid);
    const index = requireClaimIndex(services);
    const { chain } = services;
    const find = () => ({ id: chain.chain.tip, height: chain.chain.height });
    return retryWhileGone(services, find, async ({ id, height }): Promise<JsonOut> => {
      const place = { claimId: claimid, ...ofBlock(chain, id, height) };
      const living = await index.claim(hashFromHex(claimid));
      if (living !== null) return { ...place, ...(await livingAnswer(services, living)) };
      const { item, isKnown } = await index.ended(hashFromHex(claimid));
      if (item !== null) return { ...place, ...(await endedAnswer(services, item)) };
      if (isKnown) throw claimNotFound(claimid);
      throw rpcError(
        RPC_ERROR.MISC_ERROR,
        'Claims that ended are not available yet: the claim index was written by an older version, and an ' +
          'upgrade runs in the background. Retry later',
      );
    });
  },
});
