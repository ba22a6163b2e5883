/**
 * Claims as they are shown: those of the chain, and before them what waits in the mempool. Owns the rules of which of the two a
 * URL leads to. Source: OdyseeTeam/hub, hub/db/pending.py `PendingClaimIndex`.
 *
 * A claim that waits has no heights. An update takes the place of the claim that it updates, wherever that is led to. A new claim
 * is led to where the chain has nothing: it never takes a name, the beginning of an id or a place in a channel from another.
 */
import { normalizeKey } from '../../claimtrie/nameKey.js';
import type { NameState } from '../../claimtrie/nameState.js';
import { parseUrl, type UrlSegment } from '../../metadata/url.js';
import { fromLatin1, hashFromHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { breathe } from '../../util/breathe.js';
import { countsKey, signedCountKey, supportsKey, groupOf, keyTag } from '../claims/claimIndexKeys.js';
import type { ClaimIndexQueries } from '../claims/claimIndexQueries.js';
import type { ClaimRecord, PlainClaim, ResolvedUrl } from '../claims/claimReader.js';
import { nameText } from '../claims/claimRecords.js';
import { parseAmountRow, parseCountRow, type ClaimRow } from '../claims/claimRow.js';
import { shortDigits } from '../claims/nameOrders.js';
import { controllingState, LONGEST_URL, rawNames, type ResolveScope } from '../claims/resolveUrl.js';
import { compareAge, type WaitingClaims } from './waitingClaims.js';
import type { WaitingOutput } from './waitingOutputs.js';

const ALL_DIGITS = 40;
/** Digits in the short URL of a claim that the chain does not have. Source: `_make_resolve_result`. */
const WAITING_DIGITS = 10;

/** Claims as others ask for them. */
export interface ShownClaims {
  resolve(urls: readonly string[]): Promise<ResolvedUrl[]>;
  /** Claims of the chain, in the order asked. */
  claims(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]>;
  /** The same, but as they wait where they do. */
  latest(claimIds: readonly Bytes[]): Promise<(ClaimRecord | null)[]>;
}

/** Only what is in the chain. */
export function confirmedClaims(index: Pick<ClaimIndexQueries, 'resolve' | 'claims'>): ShownClaims {
  return {
    resolve: (urls) => index.resolve(urls),
    claims: (ids) => index.claims(ids),
    latest: (ids) => index.claims(ids),
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
    const outputs = claimIds.map((id) => this.waiting.of(toLatin1(id)));
    if (outputs.every((output) => output === null)) return this.index.claims(claimIds);
    const shown = await this.index.read((scope) => describeShown(scope, this.waiting, present(outputs)));
    const records = outputs.map((output) => (output && shown.get(output.point)) ?? null);
    const missing = claimIds.filter((_, i) => records[i] === null);
    const confirmed = await this.index.claims(missing);
    let next = 0;
    return records.map((record) => record ?? confirmed[next++]!);
  }

  async resolve(urls: readonly string[]): Promise<ResolvedUrl[]> {
    const found = await this.index.resolve(urls);
    if (this.waiting.size === 0) return found;
    const outputs: (WaitingOutput | null)[] = [];
    let since = performance.now();
    for (const [i, confirmed] of found.entries()) {
      outputs.push(await this.leadsTo(urls[i]!, confirmed));
      since = await breathe(since);
    }
    if (outputs.every((output) => output === null)) return found;
    const expanded = await this.expand(outputs);
    return found.map((confirmed, i) => expanded[i] ?? confirmed);
  }

  /** What waits at the end of a URL that leads to `found` in the chain. */
  private async leadsTo(text: string, found: ResolvedUrl): Promise<WaitingOutput | null> {
    const { waiting } = this;
    if (found.claim !== null) {
      const output = waiting.of(toLatin1(found.claim.claimId));
      const url = output && parseUrl(text);
      if (!url?.channel || !url.stream) return output;
      // It must still be in the channel that the URL names.
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

  /** The channel of a URL that leads to nothing in the chain. */
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

  /** A waiting claim for a segment to which the chain has nothing. */
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
      // Places among claims of the chain are not taken.
      const confirmed = await orders.of(rows, group);
      if (confirmed.length === 0 && amountOrder <= ranked.length) return ranked[amountOrder - 1]!;
    }
    return null;
  }

  /** A waiting claim in a channel that has no such claim in the chain. */
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
              output.signers.includes(tag) &&
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
      return output.channelId === channelId && tag !== null && output.signers.includes(tag);
    });
  }

  /** With what each refers to; null where it is in the chain by now, or where what it updates is not. */
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

  /** For each claim the one that it refers to, null where there is none. */
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

/** The tag of the key that a channel has, as it waits or else in the chain; null without one. */
async function keyTagOf(
  channelId: string,
  waiting: WaitingClaims,
  records: ResolveScope['records'],
): Promise<string | null> {
  const output = waiting.of(channelId);
  if (output !== null) return output.keyTag;
  const [row] = await records.rowsOf([channelId]);
  return row?.publicKey ? keyTag(row.publicKey) : null;
}

/** The same of many channels. */
export async function keyTagsOf(
  channelIds: readonly string[],
  waiting: WaitingClaims,
  records: ResolveScope['records'],
): Promise<(string | null)[]> {
  const rows = await records.rowsOf(channelIds);
  return channelIds.map((channelId, i) => {
    const output = waiting.of(channelId);
    if (output !== null) return output.keyTag;
    const key = rows[i]?.publicKey;
    return key ? keyTag(key) : null;
  });
}

/** The claims with their URLs, by points; without those that are in the chain by now, or update what is not. */
async function describeShown(
  scope: ResolveScope,
  waiting: WaitingClaims,
  outputs: readonly WaitingOutput[],
): Promise<Map<string, ClaimRecord>> {
  const shown = new Map<string, ClaimRecord>();
  const plain = await describeWaiting(scope, waiting, outputs);
  for (const output of outputs) {
    const claim = plain.get(output.point);
    if (claim === undefined) continue;
    const shortUrl = await shortUrlOf(scope, output.claimId, output.rawName);
    const channel = claim.isSignatureValid ? await channelUrlOf(scope, waiting, output.channelId!) : null;
    const canonicalUrl = channel === null ? shortUrl : `${channel}/${shortUrl}`;
    shown.set(output.point, { ...claim, shortUrl, canonicalUrl });
  }
  return shown;
}

async function channelUrlOf(
  scope: ResolveScope,
  waiting: WaitingClaims,
  channelId: string,
): Promise<string | null> {
  const [row] = await scope.records.rowsOf([channelId]);
  const rawName = waiting.of(channelId)?.rawName ?? row?.rawName;
  return rawName === undefined ? null : shortUrlOf(scope, channelId, rawName);
}

async function shortUrlOf(
  { rows, orders, records }: ResolveScope,
  claimId: string,
  rawName: string,
): Promise<string> {
  const id = fromLatin1(claimId);
  const [row] = await records.rowsOf([claimId]);
  const digits = row
    ? shortDigits(await orders.of(rows, groupOf(rawName)), id)
    : Buffer.from(id).reverse().toString('hex').slice(0, WAITING_DIGITS);
  return `${nameText(fromLatin1(rawName))}#${digits}`;
}

/**
 * Claims that wait as records, by their points; without those that are in the chain by now, or update what is not. Rows are read
 * once for all of them. A claim that is not in the chain needs no rows of its own.
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
  for (const [i, { output, row }] of shown.entries()) {
    const [supportSat, reposts] = sums[i]!;
    const support = supportSat + waiting.supportsOf(output.claimId, output.group);
    const supportAmountSat = support < 0n ? 0n : support;
    described.set(output.point, {
      ...(await standingOf(scope, waiting, output, states[i]!)),
      ...placeOf(waiting, output, row),
      amountSat: output.amountSat,
      supportAmountSat,
      effectiveAmountSat: output.amountSat + supportAmountSat,
      repostCount: reposts + (await repostsAdded(scope, waiting, output)),
      claimsInChannel: await claimsInChannel(scope, waiting, output),
    });
    since = await breathe(since);
  }
  return described;
}

interface Shown {
  readonly output: WaitingOutput;
  /** Of the claim in the chain. */
  readonly row: ClaimRow | null;
}

/** Sums of supports and numbers of reposts in the chain. */
async function readSums({ rows }: ResolveScope, shown: readonly Shown[]): Promise<[bigint, number][]> {
  const known = shown.filter(({ row }) => row !== null);
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
  // Read together, as most names are filed; each by itself is then known.
  await scope.records.statesOf(shown.map(({ output }) => normalizeKey(output.rawName)));
  const states: (NameState | null)[] = [];
  for (const { output } of shown) states.push(await controllingState(scope, output.rawName));
  return states;
}

function placeOf(waiting: WaitingClaims, output: WaitingOutput, row: ClaimRow | null) {
  const { claimId, rawName, group, txid, nout, kind, channelId, repostedId, value, timeSec } = output;
  const origin = waiting.originOf(claimId) ?? output;
  return {
    claimId: fromLatin1(claimId),
    name: fromLatin1(rawName),
    normalizedName: fromLatin1(group),
    txid: fromLatin1(txid),
    nout,
    height: 0,
    position: 0,
    creationHeight: row?.creationHeight ?? 0,
    creationPosition: row?.creationPosition ?? 0,
    creationNout: row?.creationNout ?? origin.nout,
    activationHeight: 0,
    expirationHeight: 0,
    kind,
    channelId: channelId === null ? null : fromLatin1(channelId),
    repostedId: repostedId === null ? null : fromLatin1(repostedId),
    waiting: { timeSec, creationTimeSec: row === null ? origin.timeSec : null, value },
  };
}

/** What a claim is beside others: a bare name leads to it where it would be said to control it. */
async function standingOf(
  { records }: ResolveScope,
  waiting: WaitingClaims,
  { claimId, group, channelId, signers, repostedId, point }: WaitingOutput,
  state: NameState | null,
) {
  const best = state?.claims[0];
  const tag = signers.length === 0 ? null : await keyTagOf(channelId!, waiting, records);
  const [reposted] = repostedId === null ? [] : await records.rowsOf([repostedId]);
  return {
    takeoverHeight: best ? state!.takeover : 0,
    isControlling: best ? best.claimId === claimId : waiting.ofName(group)[0]?.point === point,
    isSignatureValid: tag !== null && signers.includes(tag),
    isRepostedGone: repostedId !== null && !reposted && waiting.of(repostedId) === null,
  };
}

/** How many more claims repost a claim than in the chain. */
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

/** How many claims a channel that waits has, by the key that it would have. */
async function claimsInChannel(
  { rows, records }: ResolveScope,
  waiting: WaitingClaims,
  { claimId, keyTag: tag }: WaitingOutput,
): Promise<number> {
  if (tag === null) return 0;
  let count = parseCountRow(await rows.get(signedCountKey(claimId, tag)));
  const former = new Set(waiting.spentInChannel(claimId));
  for (const output of waiting.ofChannel(claimId)) {
    if (output.signers.includes(tag)) count++;
    if (output.isUpdate) former.add(output.claimId);
  }
  if (former.size === 0) return count;
  const found = await records.rowsOf([...former]);
  return count - found.filter((row) => row?.channelId === claimId && row.signers.includes(tag)).length;
}
