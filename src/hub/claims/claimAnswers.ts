/**
 * Assembles the response rows for queries about claims from the claim index and the search. A row refers to the channel that
 * its claim names if the channel is live (unspent and not expired), even if the signature is invalid. lbry-sdk verifies each
 * signature itself. For a row without a channel it would use the channel of an earlier response, with an outdated key.
 */
import type { ClaimRecord, ResolvedUrl } from '../../index/claims/claimReader.js';
import type { ShownClaims } from '../../index/waiting/waitingIndex.js';
import { channelOfUrl } from '../../search/query/urlConditions.js';
import { hashFromHex, hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import type { ClaimBlocking, BlockedClaims } from './blockedClaims.js';
import { OutputNotes, type HubOutputs } from './foundOutputs.js';
import { badRequest, HubError, internalError } from '../protocol/hubError.js';
import { ERROR_CODE, type OutputClaimRow, type RowErrorCode } from './outputs.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** Number of URLs that are resolved between two yields to the event loop. */
const URLS_AT_ONCE = 25;

/** Search constraints of a client as plain JavaScript values. The value of `channel` has been replaced by an id. */
export type SearchConstraints = Readonly<Record<string, unknown>>;

/** Result of a search. */
export interface FoundClaims {
  /** Claim ids of the page, in wire order (byte order), sorted as the page is. */
  readonly rows: readonly Bytes[];
  /** Number of results on all pages together. */
  readonly total: number;
  /** Ids (latin1) of the claims in the page that are shown with their state in the mempool. */
  readonly waiting?: ReadonlySet<string>;
  /** Claims that were removed from the page because a channel blocks them: their number, by blocking channel. */
  readonly blocked: readonly { readonly channelId: Bytes; readonly count: number }[];
}

/**
 * The search that the hub uses; `by` is the requesting client, and `weight` that of its turn. An error that the client
 * should see has one of the hub's error codes as `code`.
 */
export interface HubSearch {
  search(constraints: SearchConstraints, by: object, weight: number): Promise<FoundClaims>;
}

const CODE_OF: Readonly<Record<NonNullable<ResolvedUrl['failure']>['kind'], RowErrorCode>> = {
  'not-found-claim': ERROR_CODE.notFound,
  'not-found-channel': ERROR_CODE.notFound,
  invalid: ERROR_CODE.invalid,
  blocked: ERROR_CODE.blocked,
};

export class ClaimAnswers {
  private readonly index: ShownClaims;
  /** Claim search; null if the node has no search index. */
  private readonly searcher: HubSearch | null;
  /** Claims that block lists exclude; null without any block lists. */
  private readonly blocked: BlockedClaims | null;

  constructor(index: ShownClaims, searcher: HubSearch | null, blocked: BlockedClaims | null = null) {
    this.index = index;
    this.searcher = searcher;
    this.blocked = blocked;
  }

  /** Resolves URLs. The result has one row for each URL, in order, followed by rows for the claims that they refer to. */
  async resolve(urls: readonly string[], turn: Turn): Promise<HubOutputs> {
    const notes = new OutputNotes();
    for (let at = 0; at < urls.length; at += URLS_AT_ONCE) {
      const part = await this.index.resolve(urls.slice(at, at + URLS_AT_ONCE));
      const named = await this.namedChannels(part.flatMap(({ claim, reposted }) => [claim, reposted]));
      for (const found of part) {
        const block = await this.blocked?.of(found);
        if (block) addBlocked(notes, block);
        else addResolved(notes, found, named);
      }
      const pause = turn.yieldIfDue();
      if (pause !== null) await pause;
    }
    return notes.finish();
  }

  /** Channels whose ids occur in claims with an invalid signature, by channel id. */
  private async namedChannels(claims: readonly (ClaimRecord | null)[]): Promise<Map<string, ClaimRecord>> {
    const naming = claims.filter(
      (claim) => claim !== null && !claim.isSignatureValid && claim.channelId !== null,
    );
    const idsOf = (isWaiting: boolean): Bytes[] =>
      naming.flatMap((claim) => ((claim!.waiting !== undefined) === isWaiting ? claim!.channelId! : []));
    const { latest, confirmed } = await this.index.latestAndConfirmed(idsOf(true), idsOf(false));
    return new Map(present([...latest, ...confirmed]).map((claim) => [toLatin1(claim.claimId), claim]));
  }

  /** Finds the claim with this id (printed hex), whether active or not. Block lists are not applied. */
  async byId(claimId: string): Promise<HubOutputs> {
    const notes = new OutputNotes();
    const [claim] = await this.index.latest([hashFromHex(claimId)]);
    if (!claim) {
      notes.addError(ERROR_CODE.notFound, `Could not find claim at ${claimId}`);
      return notes.finish();
    }
    const row = await this.withReferences(claim);
    notes.add(row);
    if (row.channel) notes.addExtra(alone(row.channel));
    else if (claim.isSignatureValid && claim.channelId) {
      notes.addExtraError(ERROR_CODE.notFound, `Could not find channel at ${hashToHex(claim.channelId)}`);
    }
    if (row.reposted) {
      const reposted = await this.withReferences(row.reposted);
      notes.addExtra(reposted);
      if (reposted.channel) notes.addExtra(alone(reposted.channel));
    }
    return notes.finish();
  }

  private async withReferences(claim: ClaimRecord): Promise<OutputClaimRow & References> {
    const { channelId, repostedId, waiting } = claim;
    const find = async (id: Bytes | null): Promise<ClaimRecord | null> => {
      if (id === null) return null;
      const [found] = await (waiting ? this.index.latest([id]) : this.index.claims([id]));
      return found ?? null;
    };
    return { claim, channel: await find(channelId), reposted: await find(repostedId) };
  }

  /**
   * Returns a page of claims, the channels and repost targets of these claims, and the claims to which the latter refer.
   * Null if the URL in `channel` does not resolve.
   */
  async search(constraints: SearchConstraints, turn: Turn, by: object): Promise<HubOutputs | null> {
    const { searcher } = this;
    if (searcher === null) throw internalError();
    const { channel, ...others } = constraints;
    let wanted: SearchConstraints = others;
    if (channel !== undefined && channel !== null) {
      if (typeof channel !== 'string') throw badRequest('channel: the value is not a URL.');
      const [found] = await this.index.resolve([channel]);
      const named = found === undefined ? null : channelOfUrl(found);
      if (named === null || (await this.blocked?.of(found!))) return null;
      wanted = { ...others, channel_id: hashToHex(named.claimId) };
    }
    const found = await turn.outside(() => searched(searcher, wanted, by, turn.weight));
    const { total, blocked } = found;
    const notes = new OutputNotes();
    const page = await this.pageOf(found);
    const references = await this.referencesOf(page);
    const censors = await this.index.claims(blocked.map(({ channelId }) => channelId));
    const beyond = await this.referencesOf([...references.all(), ...present(censors)]);
    for (const claim of page) notes.add(references.link(claim));
    for (const claim of references.all()) notes.addExtra(beyond.link(claim));
    for (const claim of [...present(censors), ...beyond.all()])
      notes.addExtra(beyond.link(claim, references));
    for (const [n, censor] of censors.entries()) if (censor) notes.addBlocked(censor, blocked[n]!.count);
    return notes.finish(total);
  }

  /** Reads the claims of a page. Those in `waiting` are read with their state in the mempool. */
  private async pageOf({ rows, waiting }: FoundClaims): Promise<ClaimRecord[]> {
    if (waiting === undefined) return present(await this.index.claims(rows));
    const isWaiting = (id: Bytes): boolean => waiting.has(toLatin1(id));
    const { latest, confirmed } = await this.index.latestAndConfirmed(
      rows.filter(isWaiting),
      rows.filter((id) => !isWaiting(id)),
    );
    let [nextLatest, nextConfirmed] = [0, 0];
    return present(rows.map((id) => (isWaiting(id) ? latest[nextLatest++]! : confirmed[nextConfirmed++]!)));
  }

  /**
   * Reads the channels and repost targets of claims. For a claim with a mempool state, they are read with their mempool
   * state too.
   */
  private async referencesOf(claims: readonly ClaimRecord[]): Promise<FoundReferences> {
    const wanted = { waiting: new Map<string, Bytes>(), confirmed: new Map<string, Bytes>() };
    for (const { channelId, repostedId, waiting } of claims) {
      const ids = waiting ? wanted.waiting : wanted.confirmed;
      if (channelId) ids.set(toLatin1(channelId), channelId);
      if (repostedId) ids.set(toLatin1(repostedId), repostedId);
    }
    const { latest, confirmed } = await this.index.latestAndConfirmed(
      [...wanted.waiting.values()],
      [...wanted.confirmed.values()],
    );
    return new FoundReferences(present(latest), present(confirmed));
  }
}

/**
 * Claims to which others refer, in two groups: with their latest state (mempool included), and with their confirmed state.
 */
class FoundReferences {
  private readonly latest: ReadonlyMap<string, ClaimRecord>;
  private readonly confirmed: ReadonlyMap<string, ClaimRecord>;

  constructor(latest: readonly ClaimRecord[], confirmed: readonly ClaimRecord[]) {
    const byId = (claims: readonly ClaimRecord[]) =>
      new Map(claims.map((claim) => [toLatin1(claim.claimId), claim]));
    this.latest = byId(latest);
    this.confirmed = byId(confirmed);
  }

  /** All claims, each once. A claim that is shown with both its confirmed and its mempool state is returned twice. */
  all(): ClaimRecord[] {
    const others = [...this.latest].flatMap(([id, claim]) =>
      claim.waiting !== undefined || !this.confirmed.has(id) ? [claim] : [],
    );
    return [...this.confirmed.values(), ...others];
  }

  /**
   * Creates the row of a claim with its channel and its repost target. These are searched in this collection first, and then
   * in `others`.
   */
  link(claim: ClaimRecord, others?: FoundReferences): OutputClaimRow {
    const find = (id: Bytes | null): ClaimRecord | null => id && this.find(claim, toLatin1(id), others);
    return { claim, channel: find(claim.channelId), reposted: find(claim.repostedId) };
  }

  private find(claim: ClaimRecord, id: string, others?: FoundReferences): ClaimRecord | null {
    const known = claim.waiting ? this.latest : this.confirmed;
    return known.get(id) ?? others?.find(claim, id) ?? null;
  }
}

/** Claims to which a claim refers; null if there is none. */
interface References {
  readonly channel: ClaimRecord | null;
  readonly reposted: ClaimRecord | null;
}

const alone = (claim: ClaimRecord): OutputClaimRow => ({ claim, channel: null, reposted: null });

const present = (claims: readonly (ClaimRecord | null)[]): ClaimRecord[] =>
  claims.filter((claim) => claim !== null);

function addBlocked(notes: OutputNotes, { text, channel }: ClaimBlocking): void {
  notes.addError(ERROR_CODE.blocked, text, channel);
  notes.addExtra(alone(channel));
}

function addResolved(notes: OutputNotes, found: ResolvedUrl, named: ReadonlyMap<string, ClaimRecord>): void {
  const { claim, reposted, failure } = found;
  const namedBy = (of: ClaimRecord | null): ClaimRecord | null =>
    (of?.channelId && named.get(toLatin1(of.channelId))) ?? null;
  const channel = found.channel ?? namedBy(claim);
  const repostedChannel = found.repostedChannel ?? namedBy(reposted);
  if (failure || !claim) {
    const { kind, text } = failure ?? { kind: 'not-found-claim', text: '' };
    notes.addError(CODE_OF[kind], text);
    return;
  }
  notes.add({ claim, channel, reposted });
  if (channel) notes.addExtra(alone(channel));
  if (reposted) notes.addExtra({ claim: reposted, channel: repostedChannel, reposted: null });
  if (repostedChannel) notes.addExtra(alone(repostedChannel));
}

/** Runs a search. An error with an error code becomes a `HubError`, which the client receives. */
export async function searched(
  searcher: HubSearch,
  constraints: SearchConstraints,
  by: object,
  weight: number,
): Promise<FoundClaims> {
  try {
    return await searcher.search(constraints, by, weight);
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (!(error instanceof Error) || typeof code !== 'number' || error instanceof HubError) throw error;
    throw new HubError(code, error.message, true);
  }
}
