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
import { type ClaimOutputs, longArray, TxidTexts } from './claimsOutput.js';
import { readOutputs } from '../lookup/outputScripts.js';
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

/** Schema of the result of methods that return one claim. */
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

/** Schema of the result of `getclaimsforname`. */
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

/** One entry of the result of `getclaimsintrie`. */
export const LBRYCRD_ENTRY_SCHEMA = t.named(
  'LbrycrdTrieEntry',
  t.object({
    normalizedName: t.str('the name as it is filed'),
    claims: t.array(t.object(PLAIN_CLAIM_FIELDS), 'the active claims, best first'),
  }),
);

/** Data that is needed to format the items of a name. */
interface Sources {
  readonly outputs: ClaimOutputs;
  readonly txids: TxidTexts;
  /** Names of claims by claim id. */
  readonly names: ReadonlyMap<string, Bytes>;
  /** Items of the trie whose output is spent. */
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

/** Names of all claims of a `NameInfo`. The same object may be used for several results while the tip does not change. */
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

/** The object is written field by field, because spreading objects is several times slower. */
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

/** Returns the result of `getclaimsforname`. */
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
