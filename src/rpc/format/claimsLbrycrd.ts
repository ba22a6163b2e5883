/**
 * Claims as lbrycrd 0.17.3 shows them: camel case, amounts in satoshis, names from its index of living claims, values
 * from the unspent outputs. Source: rpc/claimtrie.cpp `claimToJSON`, `supportToJSON`, `claimAndSupportsToJSON`.
 */
import type { ClaimInfo, NameInfo, OutputInfo } from '../../store/claims/claimQueries.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/jsonWrite.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { METADATA } from './claimMetadata.js';
import { spentItems, type OrphanDeps } from './claimsOrphans.js';
import { ClaimOutputs } from './claimsOutput.js';
import { nameText } from './claimsText.js';

type Answer = Record<string, JsonOut | undefined>;

const OUTPUT_FIELDS: SchemaFields = {
  value: t.optional(t.hex('the value'), 'when there is one and the output is known'),
  metadata: METADATA,
  address: t.optional(t.str('the address that the output pays to'), 'likewise'),
  txId: t.hash('the transaction'),
  n: t.int('the number of the output'),
  height: t.int('the height of the block with the output'),
  validAtHeight: t.int('the height at which it became or becomes valid'),
  amount: t.sats('the amount'),
};

const PLAIN_CLAIM_FIELDS: SchemaFields = {
  name: t.optional(t.str('the name as it was claimed'), 'while the claim is alive at the tip'),
  claimId: t.claimId('the claim id'),
  ...OUTPUT_FIELDS,
};

const SUPPORT = t.named('LbrycrdSupport', t.object(OUTPUT_FIELDS));

const CLAIM_FIELDS: SchemaFields = {
  ...PLAIN_CLAIM_FIELDS,
  effectiveAmount: t.sats('the amount and that of all supports, as far as they are valid'),
  pendingAmount: t.optional(t.sats('the same once all of them are valid'), 'when it is more'),
  supports: t.array(SUPPORT, 'the supports of the claim'),
  bid: t.int('place by effective amount; 0 is the best'),
  sequence: t.int('place by height; 0 is the oldest'),
};

/** Result of the methods that answer with one claim. */
export const LBRYCRD_CLAIM_SCHEMA = t.union([
  { when: 'when there is no such claim', schema: t.object({}) },
  {
    when: 'in the lbrycrd profile',
    schema: t.named(
      'LbrycrdClaim',
      t.object({
        normalizedName: t.str('the name as it is looked up'),
        ...CLAIM_FIELDS,
        lastTakeoverHeight: t.int('the height at which ownership of the name changed last'),
      }),
    ),
  },
]);

/** Result of `getclaimsforname`. */
export const LBRYCRD_NAME_SCHEMA = t.named(
  'LbrycrdClaimsOfName',
  t.object({
    normalizedName: t.str('the name as it is looked up'),
    claims: t.array(
      t.named('LbrycrdClaimOfName', t.object(CLAIM_FIELDS)),
      'the active claims, best first, then the pending ones',
    ),
    lastTakeoverHeight: t.int('the height at which ownership of the name changed last'),
    supportsWithoutClaim: t.array(SUPPORT, 'supports of ids that have no claim here'),
  }),
);

/** An item of `getclaimsintrie`. */
export const LBRYCRD_ENTRY_SCHEMA = t.named(
  'LbrycrdTrieEntry',
  t.object({
    normalizedName: t.str('the name as it is filed'),
    claims: t.array(t.object(PLAIN_CLAIM_FIELDS), 'the active claims, best first'),
  }),
);

/** What the answers about some items of a name need besides the items. */
interface Sources {
  readonly outputs: ClaimOutputs;
  /** By claim id. */
  readonly names: ReadonlyMap<string, Bytes>;
  /** Items that are filed although their output is spent. */
  readonly spent: ReadonlySet<OutputInfo>;
}

async function readSources(
  deps: OrphanDeps,
  name: Bytes,
  items: readonly OutputInfo[],
  height: number,
): Promise<Sources> {
  const [outputs, found, spent] = await Promise.all([
    ClaimOutputs.read(deps, items),
    deps.claims.aliveNames(items.map((item) => item.claimId)),
    spentItems(deps, name, items, height),
  ]);
  const names = new Map<string, Bytes>();
  items.forEach((item, i) => {
    const alive = found[i];
    if (alive) names.set(toLatin1(item.claimId), alive);
  });
  return { outputs, names, spent };
}

function outputAnswer(item: OutputInfo, { outputs, spent }: Sources, id: Answer): Answer {
  const known = outputs.isCoin(item) && !spent.has(item);
  const { value, address } = outputs.of(item);
  return {
    value: known ? value : undefined,
    metadata: known ? outputs.metadataOf(item) : undefined,
    address: known ? address : undefined,
    ...id,
    txId: hashToHex(item.txid),
    n: item.n,
    height: item.height,
    validAtHeight: item.validAtHeight,
    amount: item.amount,
  };
}

function plainClaimAnswer(claim: OutputInfo, sources: Sources): Answer {
  const name = sources.names.get(toLatin1(claim.claimId));
  return {
    name: name === undefined ? undefined : nameText(name),
    ...outputAnswer(claim, sources, { claimId: hashToHex(claim.claimId) }),
  };
}

function claimAnswer(claim: ClaimInfo, sources: Sources): Answer {
  return {
    ...plainClaimAnswer(claim, sources),
    effectiveAmount: claim.effectiveAmount,
    pendingAmount: claim.fullAmount > claim.effectiveAmount ? claim.fullAmount : undefined,
    supports: claim.supports.map((support) => outputAnswer(support, sources, {})),
  };
}

/** Answer of the methods about one claim of a name, as of block `height`. */
export async function lbrycrdClaim(
  deps: OrphanDeps,
  info: NameInfo,
  claim: ClaimInfo,
  height: number,
): Promise<JsonOut> {
  const sources = await readSources(deps, info.name, [claim, ...claim.supports], height);
  return {
    normalizedName: nameText(info.name),
    ...claimAnswer(claim, sources),
    lastTakeoverHeight: info.lastTakeoverHeight,
    bid: claim.bid,
    sequence: claim.sequence,
  };
}

/** Answer of `getclaimsforname`. */
export async function lbrycrdName(deps: OrphanDeps, info: NameInfo, height: number): Promise<JsonOut> {
  const items = [...info.claims.flatMap((claim) => [claim, ...claim.supports]), ...info.supportsWithoutClaim];
  const sources = await readSources(deps, info.name, items, height);
  return {
    normalizedName: nameText(info.name),
    claims: info.claims.map((claim) => ({
      ...claimAnswer(claim, sources),
      bid: claim.bid,
      sequence: claim.sequence,
    })),
    lastTakeoverHeight: info.lastTakeoverHeight,
    supportsWithoutClaim: info.supportsWithoutClaim.map((support) => outputAnswer(support, sources, {})),
  };
}

/** An item of `getclaimsintrie`. */
export async function lbrycrdEntry(deps: OrphanDeps, info: NameInfo, height: number): Promise<JsonOut> {
  const claims = info.claims.filter((claim) => claim.active);
  const sources = await readSources(deps, info.name, claims, height);
  return {
    normalizedName: nameText(info.name),
    claims: jsonArray(claims.map((claim) => plainClaimAnswer(claim, sources))),
  };
}
