/**
 * Formats claims as lbrycrd 0.17.3 does: field names in camel case, amounts in satoshis, names from the index of current
 * claims, values from unspent outputs. Source: lbrycrd rpc/claimtrie.cpp `claimToJSON`, `supportToJSON`, `claimAndSupportsToJSON`.
 */
import type { ClaimInfo, NameInfo, OutputInfo } from '../../store/claims/query/claimQueries.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { METADATA } from './claimMetadata.js';
import { spentItems, type OrphanDeps } from './claimsOrphans.js';
import { type ClaimOutputReader, longArray, TxidTexts } from './claimsOutput.js';
import { readOutputs } from '../lookup/outputScripts.js';
import { nameText } from './claimsText.js';

type Answer = Record<string, JsonOut | undefined>;

const OUTPUT_FIELDS: SchemaFields = {
  value: t.optional(t.hex('the value of the claim'), 'if the output is known and has one'),
  metadata: METADATA,
  address: t.optional(t.str('the address to which the output pays'), 'if the output is known and has one'),
  txId: t.hash('the transaction'),
  n: t.int('the index of the output'),
  height: t.int('the height of the block that contains the output'),
  validAtHeight: t.int('the activation height: the block from which the claim or support is active'),
  amount: t.sats('the amount of the output'),
};

const PLAIN_CLAIM_FIELDS: SchemaFields = {
  name: t.optional(t.str('the name in the output'), 'if the claim is unspent and not expired at the tip'),
  claimId: t.claimId('the claim id'),
  ...OUTPUT_FIELDS,
};

const SUPPORT = t.named('LbrycrdSupport', t.object(OUTPUT_FIELDS));

const CLAIM_FIELDS: SchemaFields = {
  ...PLAIN_CLAIM_FIELDS,
  effectiveAmount: t.sats(
    'the effective amount: the active part of the amounts of the claim and its supports',
  ),
  pendingAmount: t.optional(
    t.sats('the effective amount after all pending amounts have become active'),
    'if it exceeds the effective amount',
  ),
  supports: t.array(SUPPORT, 'the supports of the claim'),
  bid: t.int('position in the order of effective amounts; 0 is the highest amount'),
  sequence: t.int('position in the order of age; 0 is the oldest claim'),
};

/** Schema of the result of methods that return one claim. */
export const LBRYCRD_CLAIM_SCHEMA = t.union([
  { when: 'if there is no such claim', schema: t.object({}) },
  {
    when: 'in the lbrycrd profile',
    schema: t.named(
      'LbrycrdClaim',
      t.object({
        normalizedName: t.str('the normalized name, by which the claim trie stores the claims'),
        ...CLAIM_FIELDS,
        lastTakeoverHeight: t.int('the height at which the controlling claim of the name last changed'),
      }),
    ),
  },
]);

/** Schema of the result of `getclaimsforname`. */
export const LBRYCRD_NAME_SCHEMA = t.named(
  'LbrycrdClaimsOfName',
  t.object({
    normalizedName: t.str('the normalized name, by which the claim trie stores the claims'),
    claims: t.array(
      t.named('LbrycrdClaimOfName', t.object(CLAIM_FIELDS)),
      'the claims: active ones by effective amount, highest first, then the pending ones',
    ),
    lastTakeoverHeight: t.int('the height at which the controlling claim of the name last changed'),
    supportsWithoutClaim: t.array(SUPPORT, 'supports for claim ids that have no claim under this name'),
  }),
);

/** One entry of the result of `getclaimsintrie`. */
export const LBRYCRD_ENTRY_SCHEMA = t.named(
  'LbrycrdTrieEntry',
  t.object({
    normalizedName: t.str('the normalized name, by which the claim trie stores the claim'),
    claims: t.array(t.object(PLAIN_CLAIM_FIELDS), 'the active claims by effective amount, highest first'),
  }),
);

/** Data that is needed to format the items of a name. */
interface Sources {
  readonly outputs: ClaimOutputReader;
  readonly txids: TxidTexts;
  /** Names of the supported claims, by claim id. */
  readonly names: ReadonlyMap<string, Bytes>;
  /** Claims and supports in the claim trie whose output is spent. The reference contains such items by a bug. */
  readonly spent: ReadonlySet<OutputInfo>;
}

function readSources(
  deps: OrphanDeps,
  name: Bytes,
  { items, names }: { items: readonly OutputInfo[]; names: MaybePromise<Sources['names']> },
  height: number,
): MaybePromise<Sources> {
  const outputs = readOutputs(deps, items);
  const spent = spentItems(deps, name, items, height);
  if (!isPromise(outputs) && !isPromise(names) && !isPromise(spent))
    return { outputs, txids: new TxidTexts(), names, spent };
  return Promise.all([outputs, names, spent]).then((read) => {
    return { outputs: read[0], txids: new TxidTexts(), names: read[1], spent: read[2] };
  });
}

function aliveNames(deps: OrphanDeps, claims: readonly OutputInfo[]): MaybePromise<Map<string, Bytes>> {
  const soon = deps.claims.aliveNames(claims.map(({ claimId }) => claimId));
  return whenResolved(soon, (found) => {
    const names = new Map<string, Bytes>();
    claims.forEach(({ claimId }, i) => {
      const alive = found[i];
      if (alive) names.set(toLatin1(claimId), alive);
    });
    return names;
  });
}

/** Names of all claims of a `NameInfo`. Several results may be computed from one object while the tip does not change. */
const namesOfInfo = new WeakMap<NameInfo, Map<string, Bytes>>();

async function aliveNamesOf(deps: OrphanDeps, info: NameInfo): Promise<Map<string, Bytes>> {
  let names = namesOfInfo.get(info);
  if (names === undefined) namesOfInfo.set(info, (names = await aliveNames(deps, info.claims)));
  return names;
}

function supportAnswer(item: OutputInfo, { outputs, spent, txids }: Sources): Answer {
  const known = outputs.isCoin(item) && !spent.has(item);
  const { value, address } = outputs.of(item);
  return {
    value: known ? value : undefined,
    metadata: known ? outputs.metadataOf(item) : undefined,
    address: known ? address : undefined,
    txId: txids.of(item),
    n: item.n,
    height: item.height,
    validAtHeight: item.validAtHeight,
    amount: item.amount,
  };
}

function plainClaimAnswer(claim: OutputInfo, sources: Sources): Answer {
  const { outputs, spent, txids } = sources;
  const name = sources.names.get(toLatin1(claim.claimId));
  const known = outputs.isCoin(claim) && !spent.has(claim);
  const { value, address } = outputs.of(claim);
  return {
    name: name === undefined ? undefined : nameText(name),
    value: known ? value : undefined,
    metadata: known ? outputs.metadataOf(claim) : undefined,
    address: known ? address : undefined,
    claimId: hashToHex(claim.claimId),
    txId: txids.of(claim),
    n: claim.n,
    height: claim.height,
    validAtHeight: claim.validAtHeight,
    amount: claim.amount,
  };
}

/** The object is created field by field, because object spread is several times slower. */
function claimAnswer(claim: ClaimInfo, sources: Sources): Answer {
  const { outputs, spent, txids } = sources;
  const name = sources.names.get(toLatin1(claim.claimId));
  const known = outputs.isCoin(claim) && !spent.has(claim);
  const shown = known ? outputs.of(claim) : null;
  return {
    name: name === undefined ? undefined : nameText(name),
    value: shown?.value,
    metadata: known ? outputs.metadataOf(claim) : undefined,
    address: shown?.address,
    claimId: hashToHex(claim.claimId),
    txId: txids.of(claim),
    n: claim.n,
    height: claim.height,
    validAtHeight: claim.validAtHeight,
    amount: claim.amount,
    effectiveAmount: claim.effectiveAmount,
    pendingAmount: claim.fullAmount > claim.effectiveAmount ? claim.fullAmount : undefined,
    supports: longArray(claim.supports, (support) => supportAnswer(support, sources)),
    bid: claim.bid,
    sequence: claim.sequence,
  };
}

/** Returns the result of methods for a single claim of a name, as of block `height`. */
export function lbrycrdClaim(
  deps: OrphanDeps,
  info: Pick<NameInfo, 'name' | 'lastTakeoverHeight'>,
  claim: ClaimInfo,
  height: number,
): MaybePromise<JsonOut> {
  const shown = { items: [claim, ...claim.supports], names: aliveNames(deps, [claim]) };
  return whenResolved(readSources(deps, info.name, shown, height), (sources) => {
    const { bid, sequence, ...answer } = claimAnswer(claim, sources);
    return {
      normalizedName: nameText(info.name),
      ...answer,
      lastTakeoverHeight: info.lastTakeoverHeight,
      bid,
      sequence,
    };
  });
}

/** Formats the result of `getclaimsforname` for the lbrycrd profile. */
export async function lbrycrdName(deps: OrphanDeps, info: NameInfo, height: number): Promise<JsonOut> {
  const { claims, supportsWithoutClaim } = info;
  const items = [...claims.flatMap((claim) => [claim, ...claim.supports]), ...supportsWithoutClaim];
  const sources = await readSources(deps, info.name, { items, names: aliveNamesOf(deps, info) }, height);
  return {
    normalizedName: nameText(info.name),
    claims: longArray(claims, (claim) => claimAnswer(claim, sources)),
    lastTakeoverHeight: info.lastTakeoverHeight,
    supportsWithoutClaim: longArray(supportsWithoutClaim, (support) => supportAnswer(support, sources)),
  };
}

/** One entry of the result of `getclaimsintrie`. */
export async function lbrycrdEntry(deps: OrphanDeps, info: NameInfo, height: number): Promise<JsonOut> {
  const claims = info.claims.filter((claim) => claim.active);
  const sources = await readSources(
    deps,
    info.name,
    { items: claims, names: aliveNames(deps, claims) },
    height,
  );
  return {
    normalizedName: nameText(info.name),
    claims: jsonArray(claims.map((claim) => plainClaimAnswer(claim, sources))),
  };
}
