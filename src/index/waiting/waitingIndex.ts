/**
 * Combines the confirmed claims with the claims in the mempool, as clients see them. This module has the rules that decide
 * whether a URL resolves to a confirmed claim or to a mempool claim. Source: OdyseeTeam/hub, hub/db/pending.py
 * `PendingClaimIndex`.
 *
 * A mempool claim has no heights. An update in the mempool replaces the confirmed state of its claim in every URL that
 * resolves to the claim. A new claim is found only where no confirmed claim matches: it never takes a name, an id prefix or
 * a name in a channel from a confirmed claim.
 */
import { normalizeKey } from '../../claimtrie/nameKey.js';
import type { NameState } from '../../claimtrie/nameState.js';
import { parseUrl, type UrlSegment } from '../../metadata/url.js';
import { fromLatin1, hashFromHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { countsKey, signedCountKey, supportsKey, groupOf, keyTag } from '../claims/claimIndexKeys.js';
import type { ClaimIndexQueries } from '../claims/claimIndexQueries.js';
import type { ClaimRecord, PlainClaim, ResolvedUrl } from '../claims/claimReader.js';
import { nameText } from '../claims/claimRecords.js';
import { parseAmountRow, parseCountRow, type ClaimRow } from '../claims/claimRow.js';
import { shortDigits } from '../claims/nameOrders.js';
import { controllingState, LONGEST_URL, rawNames, type ResolveScope } from '../claims/resolveUrl.js';
import { compareAge, type WaitingClaims } from './waitingClaims.js';
import { isSignedBy, type WaitingOutput } from './waitingOutputs.js';

const ALL_DIGITS = 40;
/** Number of claim id digits in the short URL of a new claim that is unconfirmed. Source: `_make_resolve_result`. */
const WAITING_DIGITS = 10;

/** Queries for claims as clients see them. */
export interface ShownClaims {
  resolve(urls: readonly string[]): Promise<ResolvedUrl[]>;
  /** Claims in their confirmed state, in the order of the ids. */
  claims(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]>;
  /** Claims in the order of the ids, in their mempool state if the mempool changes them. */
  latest(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]>;
  /** The results of `latest` and of `claims` as of one block. Rows that both need are read once. */
  latestAndConfirmed(
    latestIds: readonly Bytes[],
    confirmedIds: readonly Bytes[],
  ): Promise<{ readonly latest: (ClaimRecord | null)[]; readonly confirmed: (ClaimRecord | null)[] }>;
}

/** Queries that ignore the mempool. */
export function confirmedClaims(index: Pick<ClaimIndexQueries, 'resolve' | 'claims'>): ShownClaims {
  return {
    resolve: (urls) => index.resolve(urls),
    claims: (ids) => index.claims(ids),
    latest: (ids) => index.claims(ids),
    latestAndConfirmed: async (latestIds, confirmedIds) => {
      const found = await index.claims([...latestIds, ...confirmedIds]);
      return { latest: found.slice(0, latestIds.length), confirmed: found.slice(latestIds.length) };
    },
  };
}

export class WaitingClaimIndex implements ShownClaims {
  private readonly index: ClaimIndexQueries;
  private readonly waiting: WaitingClaims;

  constructor(index: ClaimIndexQueries, waiting: WaitingClaims) {
    this.index = index;
    this.waiting = waiting;
  }

  claims(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]> {
    return this.index.claims(claimIds);
  }

  async latest(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]> {
    return (await this.latestAndConfirmed(claimIds, [])).latest;
  }

  async latestAndConfirmed(latestIds: readonly Bytes[], confirmedIds: readonly Bytes[]) {
    if (latestIds.length + confirmedIds.length === 0) return { latest: [], confirmed: [] };
    const outputs = latestIds.map((id) => this.waiting.of(toLatin1(id)));
    return this.index.read(async (scope) => {
      const shown = await describeShown(scope, this.waiting, present(outputs));
      const records = outputs.map((output) => (output && shown.get(output.point)) ?? null);
      const missing = latestIds.filter((_, i) => records[i] === null);
      const found = await scope.records.load([...missing, ...confirmedIds].map(toLatin1));
      let next = 0;
      const latest = records.map((record) => record ?? found[next++]!);
      return { latest, confirmed: found.slice(next) };
    });
  }

  async resolve(urls: readonly string[]): Promise<ResolvedUrl[]> {
    const found = await this.index.resolve(urls);
    if (this.waiting.size === 0) return found;
    const outputs: (WaitingOutput | null)[] = [];
    let since = performance.now();
    for (const [i, confirmed] of found.entries()) {
      outputs.push(await this.leadsTo(urls[i]!, confirmed));
      since = await yieldIfDue(since);
    }
    if (outputs.every((output) => output === null)) return found;
    const expanded = await this.expand(outputs);
    return found.map((confirmed, i) => expanded[i] ?? confirmed);
  }

  /** Mempool update of the claim that the URL `text` resolves to in the chain (`found`); null if there is none. */
  private async leadsTo(text: string, found: ResolvedUrl): Promise<WaitingOutput | null> {
    const { waiting } = this;
    if (found.claim !== null) {
      const output = waiting.of(toLatin1(found.claim.claimId));
      const url = output && parseUrl(text);
      if (!url?.channel || !url.stream) return output;
      // An update may leave the channel. The URL matches the update only if the claim is still in the channel that the URL
      // names.
      const channelId = found.channel && toLatin1(found.channel.claimId);
      return channelId !== null && (await this.isIn(output!, channelId)) ? output : null;
    }
    const url = text.length > LONGEST_URL ? null : parseUrl(text);
    if (url === null) return null;
    const { channel, stream } = url;
    if (channel === null) return this.index.read((scope) => this.find(scope, stream!));
    if (stream === null) return this.index.read((scope) => this.find(scope, channel));
    const channelId = await this.channelOf(text, channel, found);
    return channelId === null ? null : this.findIn(channelId, stream);
  }

  /** Id of the channel in a URL that does not resolve in the chain; null if the channel does not exist either. */
  private async channelOf(
    text: string,
    channel: UrlSegment,
    { failure }: ResolvedUrl,
  ): Promise<string | null> {
    if (failure?.kind === 'not-found-channel') {
      const output = await this.index.read((scope) => this.find(scope, channel));
      return output && output.claimId;
    }
    const [named] = await this.index.resolve([text.slice(0, text.lastIndexOf('/'))]);
    return named?.claim ? toLatin1(named.claim.claimId) : null;
  }

  /** Mempool claim for a URL segment that matches no confirmed claim; null if there is none. */
  private async find(
    { rows, orders }: ResolveScope,
    { name, claimId, amountOrder }: UrlSegment,
  ): Promise<WaitingOutput | null> {
    if (claimId?.length === ALL_DIGITS) return this.waiting.of(toLatin1(hashFromHex(claimId)));
    for (const rawName of rawNames(name)) {
      const group = groupOf(rawName);
      const ranked = this.waiting.ofName(group);
      if (ranked.length === 0) continue;
      if (claimId !== null) {
        const oldest = oldestOf(ranked, (output) => output.idHex.startsWith(claimId));
        if (oldest !== null) return oldest;
        continue;
      }
      if (amountOrder === null) return ranked[0]!;
      // `$N` counts confirmed claims before mempool claims, so a mempool claim is returned only if the name has no
      // confirmed claim.
      const confirmed = await orders.of(rows, group);
      if (confirmed.length === 0 && amountOrder <= ranked.length) return ranked[amountOrder - 1]!;
    }
    return null;
  }

  /** Mempool claim in a channel, for a name that has no confirmed claim in that channel. */
  private findIn(channelId: string, { name, claimId }: UrlSegment): Promise<WaitingOutput | null> {
    return this.index.read(async ({ records }) => {
      const tag = await keyTagOf(channelId, this.waiting, records);
      if (tag === null) return null;
      for (const rawName of rawNames(name)) {
        const found = this.waiting
          .ofName(groupOf(rawName))
          .find(
            (output) =>
              output.channelId === channelId &&
              isSignedBy(output, tag) &&
              (claimId === null || output.idHex.startsWith(claimId)),
          );
        if (found !== undefined) return found;
      }
      return null;
    });
  }

  private isIn(output: WaitingOutput, channelId: string): Promise<boolean> {
    return this.index.read(async ({ records }) => {
      const tag = await keyTagOf(channelId, this.waiting, records);
      return output.channelId === channelId && tag !== null && isSignedBy(output, tag);
    });
  }

  /**
   * Adds the channels and reposted claims to mempool claims. The result is null for a claim that was confirmed during the
   * query, or that updates another unconfirmed output.
   */
  private async expand(outputs: readonly (WaitingOutput | null)[]): Promise<(ResolvedUrl | null)[]> {
    const shown = await this.index.read((scope) => describeShown(scope, this.waiting, present(outputs)));
    const claims = outputs.map((output) => (output && shown.get(output.point)) ?? null);
    const channels = await this.latestEach(claims, signerOf);
    const reposted = await this.latestEach(claims, ({ repostedId }) => repostedId);
    const repostedChannels = await this.latestEach(reposted, signerOf);
    return claims.map(
      (claim, i) =>
        claim && {
          claim,
          channel: channels[i]!,
          reposted: reposted[i]!,
          repostedChannel: repostedChannels[i]!,
          failure: null,
        },
    );
  }

  /** Returns the latest state of the claim to which each claim refers; null without a reference. */
  private async latestEach(
    claims: readonly (ClaimRecord | null)[],
    refer: (claim: ClaimRecord) => Bytes | null,
  ): Promise<(ClaimRecord | null)[]> {
    const ids = claims.map((claim) => claim && refer(claim));
    const found = await this.latest(ids.filter((id) => id !== null));
    let next = 0;
    return ids.map((id) => (id === null ? null : found[next++]!));
  }
}

const signerOf = ({ isSignatureValid, channelId }: ClaimRecord): Bytes | null =>
  isSignatureValid ? channelId : null;

const present = (outputs: readonly (WaitingOutput | null)[]): WaitingOutput[] =>
  outputs.filter((output) => output !== null);

function oldestOf(
  outputs: readonly WaitingOutput[],
  test: (output: WaitingOutput) => boolean,
): WaitingOutput | null {
  let oldest: WaitingOutput | null = null;
  for (const output of outputs)
    if (test(output) && (oldest === null || compareAge(output, oldest) < 0)) oldest = output;
  return oldest;
}

/**
 * Tags of the keys of channels, from the mempool update of a channel if there is one, otherwise from the chain; null without
 * a key.
 */
export async function keyTagsOf(
  channelIds: readonly string[],
  waiting: WaitingClaims,
  records: ResolveScope['records'],
): Promise<(string | null)[]> {
  await records.rowsOf(channelIds);
  return channelIds.map((channelId) => knownTagOf(channelId, waiting, records));
}

async function keyTagOf(
  channelId: string,
  waiting: WaitingClaims,
  records: ResolveScope['records'],
): Promise<string | null> {
  return (await keyTagsOf([channelId], waiting, records))[0]!;
}

/** Like `keyTagsOf`, for a channel whose row was read before. */
function knownTagOf(
  channelId: string,
  waiting: WaitingClaims,
  records: ResolveScope['records'],
): string | null {
  const output = waiting.of(channelId);
  if (output !== null) return output.keyTag;
  const key = records.knownRow(channelId)?.publicKey;
  return key ? keyTag(key) : null;
}

/**
 * Records of mempool claims with their URLs, by outpoint. Claims that have been confirmed during the query, and updates of
 * other unconfirmed outputs, are omitted.
 */
async function describeShown(
  scope: ResolveScope,
  waiting: WaitingClaims,
  outputs: readonly WaitingOutput[],
): Promise<Map<string, ClaimRecord>> {
  const shown = new Map<string, ClaimRecord>();
  if (outputs.length === 0) return shown;
  const plain = await describeWaiting(scope, waiting, outputs);
  /** URLs of the channels by id. */
  const channels = new Map<string, string | null>();
  for (const output of outputs) {
    const claim = plain.get(output.point);
    if (claim === undefined) continue;
    const { claimId, idHex, rawName, channelId } = output;
    const isNew = scope.records.knownRow(claimId) === null;
    const shortUrl = isNew
      ? urlOf(rawName, idHex.slice(0, WAITING_DIGITS))
      : await confirmedUrl(scope, claimId, rawName);
    let channel: string | null = null;
    if (claim.isSignatureValid) {
      const known = channels.get(channelId!);
      channel = known === undefined ? await channelUrlOf(scope, waiting, channelId!) : known;
      channels.set(channelId!, channel);
    }
    const canonicalUrl = channel === null ? shortUrl : `${channel}/${shortUrl}`;
    shown.set(output.point, { ...claim, shortUrl, canonicalUrl });
  }
  return shown;
}

/** Short URL of a channel, whose row was read before; null for a channel that does not exist any more. */
async function channelUrlOf(
  scope: ResolveScope,
  waiting: WaitingClaims,
  channelId: string,
): Promise<string | null> {
  const [output, row] = [waiting.of(channelId), scope.records.knownRow(channelId)];
  const rawName = output?.rawName ?? row?.rawName;
  if (rawName === undefined) return null;
  return row === null
    ? urlOf(rawName, output!.idHex.slice(0, WAITING_DIGITS))
    : confirmedUrl(scope, channelId, rawName);
}

async function confirmedUrl(
  { rows, orders }: ResolveScope,
  claimId: string,
  rawName: string,
): Promise<string> {
  return urlOf(rawName, shortDigits(await orders.of(rows, groupOf(rawName)), fromLatin1(claimId)));
}

const urlOf = (rawName: string, digits: string): string => `${nameText(fromLatin1(rawName))}#${digits}`;

/**
 * Records of mempool claims, by outpoint. Claims that have been confirmed during the query, and updates of other unconfirmed
 * outputs, are omitted. The rows of all claims are read together; a new claim needs no rows.
 */
export async function describeWaiting(
  scope: ResolveScope,
  waiting: WaitingClaims,
  outputs: readonly WaitingOutput[],
): Promise<Map<string, PlainClaim>> {
  const { records } = scope;
  const rows = await records.rowsOf(outputs.map(({ claimId }) => claimId));
  const shown = outputs.flatMap((output, i) => {
    const row = rows[i]!;
    const isThere = row === null ? waiting.originOf(output.claimId) !== null : row.point !== output.point;
    return isThere ? [{ output, row }] : [];
  });
  await records.rowsOf(
    shown.flatMap(({ output: { channelId, repostedId } }) =>
      [channelId, repostedId].filter((id) => id !== null),
    ),
  );
  const sums = await readSums(scope, shown);
  const states = await statesOf(scope, shown);
  const described = new Map<string, PlainClaim>();
  let since = performance.now();
  for (const [i, one] of shown.entries()) {
    const { output } = one;
    const isReposted = waiting.hasReposts(output.claimId);
    described.set(
      output.point,
      recordOf(scope, waiting, one, {
        sums: sums[i]!,
        state: states[i]!,
        reposts: isReposted ? await repostsAdded(scope, waiting, output) : 0,
        claimsInChannel:
          output.keyTag === null ? 0 : await claimsInChannel(scope, waiting, output.keyTag, output),
      }),
    );
    since = await yieldIfDue(since);
  }
  return described;
}

interface Shown {
  readonly output: WaitingOutput;
  /** Index row of the claim in the chain; null for a new claim. */
  readonly row: ClaimRow | null;
}

/** Reads the sum of supports and the number of reposts that each claim has in the chain. */
async function readSums({ rows }: ResolveScope, shown: readonly Shown[]): Promise<[bigint, number][]> {
  const known = shown.filter(({ row }) => row !== null);
  if (known.length === 0) return shown.map(() => [0n, 0]);
  const sums = await rows.getMany(known.map(({ output }) => supportsKey(output.claimId, output.group)));
  const counts = await rows.getMany(known.map(({ output }) => countsKey(output.claimId)));
  let next = 0;
  return shown.map(({ row }) => {
    if (row === null) return [0n, 0];
    const at = next++;
    return [parseAmountRow(sums[at]), parseCountRow(counts[at])];
  });
}

async function statesOf(scope: ResolveScope, shown: readonly Shown[]): Promise<(NameState | null)[]> {
  // The states of all names are read with one query. Later reads of a single name use the cache.
  await scope.records.statesOf(shown.map(({ output }) => normalizeKey(output.rawName)));
  const states: (NameState | null)[] = [];
  for (const { output } of shown) states.push(await controllingState(scope, output.rawName));
  return states;
}

/** Data of a mempool claim that depends on other claims. */
interface Standing {
  /** The sum of supports and the number of reposts in the chain. */
  readonly sums: readonly [supportSat: bigint, reposts: number];
  /** State of the claim's name in the chain; null for a name without a controlling claim. */
  readonly state: NameState | null;
  /** Change of the number of reposts by the mempool. */
  readonly reposts: number;
  readonly claimsInChannel: number;
}

/**
 * Record of a mempool claim. The rows of its channel and of the claim that it reposts must have been read. The claim is shown as
 * controlling if a URL with only its name resolves to it.
 */
function recordOf(
  { records }: ResolveScope,
  waiting: WaitingClaims,
  { output, row }: Shown,
  { sums: [supportSat, reposts], state, reposts: added, claimsInChannel: inChannel }: Standing,
): PlainClaim {
  const { claimId, rawName, group, txid, nout, kind, channelId, repostedId, value, timeSec } = output;
  const origin = waiting.originOf(claimId) ?? output;
  const best = state?.claims[0];
  const tag = output.signature === null ? null : knownTagOf(channelId!, waiting, records);
  const support = supportSat + waiting.supportsOf(claimId, group);
  const supportAmountSat = support < 0n ? 0n : support;
  // One literal with all fields takes half the time of objects that are spread into each other.
  return {
    claimId: fromLatin1(claimId),
    name: fromLatin1(rawName),
    normalizedName: fromLatin1(group),
    txid: fromLatin1(txid),
    nout,
    height: 0,
    position: 0,
    amountSat: output.amountSat,
    creationHeight: row?.creationHeight ?? 0,
    creationPosition: row?.creationPosition ?? 0,
    creationNout: row?.creationNout ?? origin.nout,
    activationHeight: 0,
    expirationHeight: 0,
    takeoverHeight: best ? state!.takeover : 0,
    isControlling: best ? best.claimId === claimId : waiting.ofName(group)[0]?.point === output.point,
    effectiveAmountSat: output.amountSat + supportAmountSat,
    supportAmountSat,
    kind,
    channelId: channelId === null ? null : fromLatin1(channelId),
    isSignatureValid: tag !== null && isSignedBy(output, tag),
    repostedId: repostedId === null ? null : fromLatin1(repostedId),
    isRepostedGone:
      repostedId !== null && records.knownRow(repostedId) === null && waiting.of(repostedId) === null,
    repostCount: reposts + added,
    claimsInChannel: inChannel,
    waiting: { timeSec, creationTimeSec: row === null ? origin.timeSec : null, value },
  };
}

/** Change of a claim's number of reposts by the mempool: added reposts minus removed ones. */
async function repostsAdded(
  { records }: ResolveScope,
  waiting: WaitingClaims,
  { claimId }: WaitingOutput,
): Promise<number> {
  let added = 0;
  const former = new Set(waiting.spentReposts(claimId));
  for (const output of waiting.repostsOf(claimId)) {
    added++;
    if (output.isUpdate) former.add(output.claimId);
  }
  if (former.size === 0) return added;
  const rows = await records.rowsOf([...former]);
  return added - rows.filter((row) => row?.repostedId === claimId).length;
}

/** Number of claims in a channel whose update is in the mempool, counted by the channel's new key. */
async function claimsInChannel(
  { rows, records }: ResolveScope,
  waiting: WaitingClaims,
  tag: string,
  { claimId }: WaitingOutput,
): Promise<number> {
  const claims = waiting.ofChannel(claimId);
  const confirmed = parseCountRow(await rows.get(signedCountKey(claimId, tag)));
  const count = confirmed + (await claims.countSigned(tag));
  const former = new Set([...waiting.spentInChannel(claimId), ...claims.updated]);
  if (former.size === 0) return count;
  const found = await records.rowsOf([...former]);
  return count - found.filter((row) => row?.channelId === claimId && row.signers.includes(tag)).length;
}
