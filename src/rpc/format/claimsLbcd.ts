/**
 * Formats claims as lbcd does: field names in lower case, amounts in satoshis, no `supports` if there are none, and null for
 * `claims` if there are none. Source: lbcd rpcclaimtrie.go, btcjson/claimcmds.go, claimtrie/node/node.go.
 *
 * Difference from lbcd: values need no transaction index.
 */
import { compareClaims } from '../../claimtrie/nameState.js';
import { pointKey } from '../../claimtrie/item.js';
import type { ClaimInfo, NameInfo, OutputInfo } from '../../store/claims/query/claimQueries.js';
import { hashToHex } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { METADATA } from './claimMetadata.js';
import type { ClaimOutputReader } from './claimsOutput.js';
import { type OutputDeps, readOutputs } from '../lookup/outputScripts.js';
import { nameTextWithReplacements } from './claimsText.js';

/** Maximum number of items of a list that is created at once. Longer lists are created while they are sent. */
const LISTED_AT_ONCE = 64;

type Answer = Record<string, JsonOut | undefined>;

const OUTPUT_FIELDS: SchemaFields = {
  txid: t.hash('the transaction'),
  n: t.int('the index of the output'),
  height: t.int('the height of the block that contains the output'),
  validatheight: t.int('the activation height: the block from which the claim or support is active'),
  amount: t.sats('the amount of the output'),
  address: t.optional(t.str('the address to which the output pays'), 'if values were requested'),
  value: t.optional(t.hex('the value of the claim'), 'if values were requested and the output has one'),
  metadata: METADATA,
};

const CLAIM_SCHEMA = t.object({
  claimid: t.claimId('the claim id'),
  bid: t.int('position in the order of effective amounts; 0 is the highest amount'),
  sequence: t.int('the number of claims for the name when this claim was created'),
  ...OUTPUT_FIELDS,
  effectiveamount: t.sats(
    'the effective amount: the active part of the amounts of the claim and its supports',
  ),
  supports: t.optional(
    t.array(t.object(OUTPUT_FIELDS), 'the active supports of the claim'),
    'when there are any',
  ),
});

/** Schema of the result of methods for the claims of a name. */
export const LBCD_NAME_SCHEMA = t.object({
  hash: t.hash('the hash of that block'),
  height: t.int('the height of the block'),
  lasttakeoverheight: t.int('the height at which the controlling claim of the name last changed'),
  normalizedname: t.str('the normalized name, by which the claim trie stores the claims'),
  claims: t.union([
    { when: 'when there are any', schema: t.array(t.named('LbcdClaim', CLAIM_SCHEMA)) },
    { when: 'otherwise', schema: t.none() },
  ]),
});

/** A claim with its rank in lbcd's order. lbcd ranks pending claims together with the active ones. */
export interface RankedClaim {
  readonly claim: ClaimInfo;
  readonly bid: number;
}

/** Sorts claims in lbcd's order. The rank of a pending claim counts only its valid supports. Source: `SortClaimsByBid`. */
export function rankByBid(claims: readonly ClaimInfo[]): RankedClaim[] {
  return claims
    .map((claim) => ({
      claim,
      effective: claim.effectiveAmount,
      height: claim.height,
      point: pointKey(claim.txid, claim.n),
    }))
    .sort(compareClaims)
    .map(({ claim }, bid) => ({ claim, bid }));
}

function outputAnswer(item: OutputInfo, outputs: ClaimOutputReader | null): Answer {
  const shown = outputs?.of(item);
  return {
    txid: hashToHex(item.txid),
    n: item.n,
    height: item.height,
    validatheight: item.validAtHeight,
    amount: item.amount,
    address: shown?.address,
    value: shown?.value === '' ? undefined : shown?.value,
    metadata: outputs?.metadataOf(item),
  };
}

function activeSupports({ supports }: ClaimInfo): OutputInfo[] {
  return supports.filter((support) => support.active);
}

function claimAnswer({ claim, bid }: RankedClaim, outputs: ClaimOutputReader | null): Answer {
  const supports = activeSupports(claim);
  return {
    claimid: hashToHex(claim.claimId),
    bid,
    sequence: claim.sequence,
    ...outputAnswer(claim, outputs),
    effectiveamount: claim.effectiveAmount,
    supports:
      supports.length > 0
        ? listed(supports, supports.length, (support) => outputAnswer(support, outputs))
        : undefined,
  };
}

function listed<T>(items: Iterable<T>, count: number, answer: (item: T) => JsonOut): JsonOut {
  const answers = answersOf(items, answer);
  return count <= LISTED_AT_ONCE ? [...answers] : jsonArray(answers);
}

function* answersOf<T>(items: Iterable<T>, answer: (item: T) => JsonOut): Generator<JsonOut> {
  for (const item of items) yield answer(item);
}

export interface ChosenClaims {
  /** Claims to format, without duplicates. */
  readonly claims: readonly RankedClaim[];
  /** Claims in the order of the output, in which a claim may occur more than once. Default: `claims`. */
  readonly shown?: Iterable<RankedClaim>;
  /** Maximum number of claims taken from `shown`. */
  readonly shownCount?: number;
}

export interface LbcdNameRequest extends ChosenClaims {
  readonly info: NameInfo;
  readonly height: number;
  /** Hash of the block at `height`, in display order. */
  readonly blockHash: string;
  readonly includeValues: boolean;
}

export async function lbcdName(deps: OutputDeps, query: LbcdNameRequest): Promise<JsonOut> {
  const { info, claims, shown = claims, shownCount = claims.length } = query;
  const items = claims.flatMap(({ claim }) => [claim, ...activeSupports(claim)]);
  const outputs = query.includeValues ? await readOutputs(deps, items) : null;
  return {
    hash: query.blockHash,
    height: query.height,
    lasttakeoverheight: info.lastTakeoverHeight,
    normalizedname: nameTextWithReplacements(info.name),
    claims: claims.length > 0 ? listed(shown, shownCount, (claim) => claimAnswer(claim, outputs)) : null,
  };
}
