/** Formats claims of the claim index for RPC results, with their decoded values. */
import type { ClaimRecord } from '../../../index/claims/claimReader.js';
import { claimToJson } from '../../../metadata/claimJson.js';
import { decodeClaim } from '../../../metadata/claim.js';
import { MetadataError } from '../../../metadata/metadataError.js';
import { hashToHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import { stringifyJson } from '../../../util/json/jsonStream.js';
import { RawJson, type JsonOut } from '../../../util/json/jsonWrite.js';
import type { ClaimIndexQueries } from '../../../index/claims/claimIndexQueries.js';
import { confirmedClaims, type ShownClaims } from '../../../index/waiting/waitingIndex.js';
import { addressPrefixes } from '../../format/addresses.js';
import { NAME_HEX, nameHex } from '../../format/claimsExplorer.js';
import { nameText } from '../../format/claimsText.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { t, type SchemaFields } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

const SCHEME = 'lbry://';
const CLAIM_ID = '(40 hex digits)';

const CLAIM_FIELDS: SchemaFields = {
  claim_id: t.str(`the claim id ${CLAIM_ID}`),
  name: t.str('the name in the latest output'),
  namehex: NAME_HEX,
  normalized_name: t.str('the normalized name, by which the claim trie stores the claim'),
  txid: t.hash('the transaction that contains the latest output'),
  nout: t.int('the index of that output'),
  height: t.int('the height of the block with the latest output; 0 in the mempool'),
  timestamp: t.time('the time of that block; in the mempool the time of arrival'),
  is_waiting: t.optional(
    t.bool('true if the latest output is in the mempool'),
    'in the mempool; the heights of activation and expiration are then absent',
  ),
  amount: t.coins('the amount of that output'),
  creation_height: t.int('the height of the block with the first output of the claim; 0 in the mempool'),
  creation_timestamp: t.time('the time of that block'),
  activation_height: t.int('the height at which the latest output becomes or became active'),
  expiration_height: t.int('the height at which the claim or support expires'),
  takeover_height: t.int('the height of the last takeover of the name; 0 if no claim controls the name'),
  is_controlling: t.bool('whether the claim controls the name'),
  effective_amount: t.coins('the amount with that of all active supports; 0 until the claim is active'),
  support_amount: t.coins('the sum of all unspent supports, active or not'),
  reposted: t.int('the number of existing claims that are reposts of this claim'),
  claims_in_channel: t.int(
    'the number of existing claims that are signed with the current key of this channel; 0 for other claims',
  ),
  short_url: t.str(
    'the shortest URL that resolves to the claim: the name and as few digits of the claim id as needed',
  ),
  canonical_url: t.str(
    "the short URL of the channel followed by that of the claim if the channel's signature is valid, " +
      'otherwise the short URL of the claim',
  ),
  permanent_url: t.str('the URL with the whole claim id'),
  channel_id: t.optional(
    t.str(`the id of the channel that the value names as its signer ${CLAIM_ID}`),
    'if the value is signed',
  ),
  is_channel_signature_valid: t.optional(
    t.bool('whether that channel exists and the signature is valid for its current key'),
    'if the value is signed',
  ),
  reposted_claim_id: t.optional(
    t.str(`the id of the claim that this claim reposts ${CLAIM_ID}`),
    'if the claim is a repost',
  ),
  is_reposted_claim_gone: t.optional(
    t.bool('whether the reposted claim does not exist: it was abandoned, has expired, or never existed'),
    'if the claim is a repost',
  ),
  value_type: t.optional(
    t.str('"stream", "channel", "collection" or "repost"'),
    'if the value can be decoded',
  ),
  value: t.optional(t.any('the decoded value'), 'if the value can be decoded and represented as JSON'),
};

/** Schema of a claim without its channel and repost target. */
const PLAIN_CLAIM = t.named('IndexedClaim', t.object(CLAIM_FIELDS));

const CHANNEL_FIELD = t.optional(PLAIN_CLAIM, 'when the signature is valid');

export const FULL_CLAIM = t.named(
  'ResolvedClaim',
  t.object({
    ...CLAIM_FIELDS,
    signing_channel: CHANNEL_FIELD,
    reposted_claim: t.optional(
      t.named('RepostedClaim', t.object({ ...CLAIM_FIELDS, signing_channel: CHANNEL_FIELD })),
      'if the claim is a repost and the reposted claim exists',
    ),
  }),
);

/** Returns the claim index. Throws an error with a suggested fix if the index is not at the tip. */
export function requireClaimIndex({ claimIndex, chain, indexes }: RpcServices): ClaimIndexQueries {
  const status = indexes().find(({ name }) => name === 'claimindex');
  if (claimIndex === null || status === undefined)
    throw rpcError(RPC_ERROR.MISC_ERROR, 'The claim index is not enabled. Start with -claimindex to use it');
  if (status.synced) return claimIndex;
  const progress = `block ${status.height} of ${chain.chain.height}`;
  throw rpcError(
    RPC_ERROR.MISC_ERROR,
    status.failure === null
      ? `The claim index is not complete: ${progress}. Retry later; getclaimindexinfo shows the progress`
      : `The claim index stopped at ${progress} because of an error: ${status.failure}`,
  );
}

/** Returns access to claims for a result. `confirmedOnly` excludes changes in the mempool. */
export function shownBy(
  { shownClaims }: RpcServices,
  index: ClaimIndexQueries,
  confirmedOnly: boolean,
): ShownClaims {
  return confirmedOnly ? confirmedClaims(index) : (shownClaims ?? confirmedClaims(index));
}

/** Declares the parameter that limits a result to confirmed claims. */
export const CONFIRMED_ONLY = {
  name: 'confirmedonly',
  type: 'boolean',
  default: false,
  description: 'Exclude claims and updates in the mempool',
} as const;

/** A claim with its channel and repost target. */
export interface ShownClaim {
  readonly claim: ClaimRecord;
  readonly channel: ClaimRecord | null;
  readonly reposted: ClaimRecord | null;
  readonly repostedChannel: ClaimRecord | null;
}

/**
 * Formats the claims of one result. Each claim is formatted once, even if several URLs resolve to it or several claims refer
 * to it: values have up to 8 KiB and take most of the time. Decoded values are cached as text, which takes a tenth of the
 * memory of objects.
 */
export class ClaimShower {
  private readonly services: RpcServices;
  private readonly index: Pick<ClaimIndexQueries, 'value'>;
  private readonly shown = new Map<string, Record<string, JsonOut>>();

  constructor(services: RpcServices, index: Pick<ClaimIndexQueries, 'value'>) {
    this.services = services;
    this.index = index;
  }

  async full({ claim, channel, reposted, repostedChannel }: ShownClaim): Promise<JsonOut> {
    return {
      ...(await this.withChannel(claim, channel)),
      ...(reposted === null ? {} : { reposted_claim: await this.withChannel(reposted, repostedChannel) }),
    };
  }

  private async withChannel(of: ClaimRecord, signing: ClaimRecord | null): Promise<Record<string, JsonOut>> {
    const claim = await this.plain(of);
    return signing === null ? claim : { ...claim, signing_channel: await this.plain(signing) };
  }

  private async plain(claim: ClaimRecord): Promise<Record<string, JsonOut>> {
    // The cache key includes the output, because a concurrent call may read another tip.
    const key = `${toLatin1(claim.claimId)}${toLatin1(claim.txid)}`;
    let shown = this.shown.get(key);
    if (shown === undefined) {
      const value = claim.waiting?.value ?? (await this.index.value(claim.claimId));
      this.shown.set(key, (shown = plainClaim(this.services, claim, value)));
    }
    return shown;
  }
}

function plainClaim(
  { chain, params }: RpcServices,
  claim: ClaimRecord,
  bytes: Bytes | null,
): Record<string, JsonOut> {
  const { channelId, repostedId, kind } = claim;
  const claimId = hashToHex(claim.claimId);
  const timeAt = (height: number): number => chain.headers.timeSec(chain.chain.index.active.at(height));
  const name = nameText(claim.name);
  const value = bytes && shownValue(bytes, params);
  const hex = nameHex(claim.name);
  return {
    claim_id: claimId,
    name,
    ...(hex === undefined ? {} : { namehex: hex }),
    normalized_name: nameText(claim.normalizedName),
    txid: hashToHex(claim.txid),
    nout: claim.nout,
    height: claim.height,
    timestamp: claim.waiting?.timeSec ?? timeAt(claim.height),
    ...(claim.waiting ? { is_waiting: true } : {}),
    amount: coins(claim.amountSat),
    creation_height: claim.creationHeight,
    creation_timestamp: claim.waiting?.creationTimeSec ?? timeAt(claim.creationHeight),
    activation_height: claim.activationHeight,
    expiration_height: claim.expirationHeight,
    takeover_height: claim.takeoverHeight,
    is_controlling: claim.isControlling,
    effective_amount: coins(claim.effectiveAmountSat),
    support_amount: coins(claim.supportAmountSat),
    reposted: claim.repostCount,
    claims_in_channel: claim.claimsInChannel,
    short_url: SCHEME + claim.shortUrl,
    canonical_url: SCHEME + claim.canonicalUrl,
    permanent_url: `${SCHEME}${name}#${claimId}`,
    ...(channelId === null
      ? {}
      : { channel_id: hashToHex(channelId), is_channel_signature_valid: claim.isSignatureValid }),
    ...(repostedId === null
      ? {}
      : { reposted_claim_id: hashToHex(repostedId), is_reposted_claim_gone: claim.isRepostedGone }),
    ...(kind === null ? {} : { value_type: kind }),
    ...(value === null ? {} : { value }),
  };
}

/** Formats a decoded value. Null if the value cannot be decoded or cannot be represented in JSON. */
function shownValue(bytes: Uint8Array, params: RpcServices['params']): JsonOut | null {
  try {
    return new RawJson(stringifyJson(claimToJson(decodeClaim(bytes), addressPrefixes(params))));
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}
