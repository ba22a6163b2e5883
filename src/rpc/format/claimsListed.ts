/** Formats pages of claims for a name and of supports of a claim, for methods that return lists. */
import { expirationHeight } from '../../claimtrie/rules.js';
import type { ClaimInfo, OutputInfo } from '../../store/claims/query/claimQueries.js';
import { hashToHex, toLatin1 } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { Lru } from '../../util/lru.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { BRIEF_VALUE_FIELDS, briefValue, type BriefValue } from './claimsBrief.js';
import type { DocumentedDeps } from './claimsDocumented.js';
import { nameHex, NAME_HEX } from './claimsExplorer.js';
import { readOutputs } from '../lookup/outputScripts.js';
import { nameText } from './claimsText.js';

type Answer = Record<string, JsonOut | undefined>;

const OUTPUT_FIELDS: SchemaFields = {
  txid: t.hash('the transaction that contains the output'),
  n: t.int('the index of the output'),
  height: t.int('the height of the block that contains the output'),
  active: t.bool('whether it is active'),
  validAtHeight: t.int('the activation height'),
  expirationHeight: t.int('the height at which the claim or support expires'),
  amount: t.coins('the amount of the output'),
};

const SHOWN_FIELDS: SchemaFields = {
  address: t.optional(t.str('the address to which the output pays'), 'if the script has one'),
  pruned: t.optional(
    t.bool('true if the block is pruned, so that value and address are unknown'),
    'if they are pruned',
  ),
};

export const LISTED_BID_SCHEMA = t.named(
  'ListedBid',
  t.object({
    bid: t.int('position in the order of effective amounts; 0 is the highest amount'),
    sequence: t.int('position in the order of age; 0 is the oldest claim'),
    claimId: t.claimId('the claim id'),
    name: t.str('the name in the output'),
    namehex: NAME_HEX,
    ...OUTPUT_FIELDS,
    effectiveAmount: t.coins(
      'the effective amount: the active part of the amounts of the claim and its supports',
    ),
    pendingAmount: t.optional(
      t.coins('the effective amount after all pending amounts have become active'),
      'if it exceeds the effective amount',
    ),
    supports: t.int('the number of its supports'),
    supportAmount: t.coins('the sum of its active supports'),
    ...BRIEF_VALUE_FIELDS,
    ...SHOWN_FIELDS,
  }),
);

export const LISTED_SUPPORT_SCHEMA = t.named(
  'ListedSupport',
  t.object({ ...OUTPUT_FIELDS, channelId: BRIEF_VALUE_FIELDS['channelId']!, ...SHOWN_FIELDS }),
);

function outputFields(rules: DocumentedDeps['claims']['rules'], item: OutputInfo): Answer {
  return {
    txid: hashToHex(item.txid),
    n: item.n,
    height: item.height,
    active: item.active,
    validAtHeight: item.validAtHeight,
    expirationHeight: expirationHeight(rules, item.height),
    amount: coins(item.amount),
  };
}

/** Returns the sum in satoshis of a claim's active supports. */
export function supportAmount({ amount, active, effectiveAmount }: ClaimInfo): bigint {
  return effectiveAmount - (active ? amount : 0n);
}

/** Data of an output script that lists contain. */
interface OutputFacts {
  readonly brief: BriefValue;
  readonly address: string | undefined;
  readonly isPruned: boolean;
}

/**
 * Maximum number of outputs whose data is cached, about 500 bytes each. Arbitrary: enough for the pages of a few names with
 * many claims.
 */
const KEPT_OUTPUTS = 4096;
/** Cached data of outputs, by node object. An output never changes, so the data stays valid after new blocks. */
const kept = new WeakMap<object, Lru<string, OutputFacts>>();

function keptBy({ claims }: DocumentedDeps): Lru<string, OutputFacts> {
  let known = kept.get(claims);
  if (known === undefined) kept.set(claims, (known = new Lru(KEPT_OUTPUTS)));
  return known;
}

/** Returns the data of outputs, in the order of `items`. */
async function outputFacts(
  deps: DocumentedDeps,
  items: readonly OutputInfo[],
  isSupport: boolean,
): Promise<OutputFacts[]> {
  const known = keptBy(deps);
  const keys = items.map(({ txid, n }) => `${toLatin1(txid)}${n}`);
  const found = keys.map((key) => known.get(key));
  const missing = items.filter((_, i) => found[i] === undefined);
  if (missing.length === 0) return found as OutputFacts[];
  const outputs = await readOutputs(deps, missing);
  return items.map((item, i) => {
    const before = found[i];
    if (before !== undefined) return before;
    const { address, isPruned } = outputs.of(item);
    const facts = { brief: briefValue(outputs.claimOf(item)?.value, isSupport), address, isPruned };
    if (!isPruned) known.set(keys[i]!, facts);
    return facts;
  });
}

export async function listedBids(deps: DocumentedDeps, bids: readonly ClaimInfo[]): Promise<Answer[]> {
  const { rules } = deps.claims;
  const facts = await outputFacts(deps, bids, false);
  return bids.map((bid, i) => {
    const { brief, address, isPruned } = facts[i]!;
    return {
      bid: bid.bid,
      sequence: bid.sequence,
      claimId: hashToHex(bid.claimId),
      name: nameText(bid.name),
      namehex: nameHex(bid.name),
      ...outputFields(rules, bid),
      effectiveAmount: coins(bid.effectiveAmount),
      pendingAmount: bid.fullAmount > bid.effectiveAmount ? coins(bid.fullAmount) : undefined,
      supports: bid.supports.length,
      supportAmount: coins(supportAmount(bid)),
      ...brief,
      address,
      pruned: isPruned ? true : undefined,
    };
  });
}

export async function listedSupports(
  deps: DocumentedDeps,
  supports: readonly OutputInfo[],
): Promise<Answer[]> {
  const { rules } = deps.claims;
  const facts = await outputFacts(deps, supports, true);
  return supports.map((support, i) => {
    const { brief, address, isPruned } = facts[i]!;
    return {
      ...outputFields(rules, support),
      channelId: brief.channelId,
      address,
      pruned: isPruned ? true : undefined,
    };
  });
}
