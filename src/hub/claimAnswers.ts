/**
 * The rows of what clients ask about claims, put together from the claim index and the search. A row refers to the channel that
 * its claim names while that lives, whether the claim belongs to it or not: lbry-sdk verifies each signature, and goes on with
 * the channel of an earlier answer, and its former key, where a row refers to none.
 */
import type { ClaimIndexReader, ClaimRecord, ResolvedUrl } from '../index/claims/claimReader.js';
import { channelOfUrl } from '../search/urlConditions.js';
import { hashFromHex, hashToHex, toLatin1, type Bytes } from '../util/bytes.js';
import type { Block, BlockedClaims } from './blockedClaims.js';
import { OutputNotes, type FoundOutputs } from './foundOutputs.js';
import { badRequest, HubError, internalError } from './hubError.js';
import { ERROR_CODE, type ClaimRow, type RowErrorCode } from './outputs.js';
import type { Turn } from './turns.js';

/** URLs resolved without a pause. */
const URLS_AT_ONCE = 25;

/** Constraints as a client gives them, but for `channel`: plain JavaScript values. */
export type SearchConstraints = Readonly<Record<string, unknown>>;

/** What a search found. */
export interface FoundClaims {
  /** The page, in order; ids in wire order. */
  readonly rows: readonly Bytes[];
  /** Of all pages. */
  readonly total: number;
  /** Claims of the page that were left out, by the channel that has them left out. */
  readonly blocked: readonly { readonly channelId: Bytes; readonly count: number }[];
}

/** The search as the hub needs it; `by` is the client that asks. Rejects with an error that has one of the hub's codes as `code` where the client is to hear it. */
export interface HubSearch {
  search(constraints: SearchConstraints, by: object): Promise<FoundClaims>;
}

const CODE_OF: Readonly<Record<NonNullable<ResolvedUrl['failure']>['kind'], RowErrorCode>> = {
  'not-found-claim': ERROR_CODE.notFound,
  'not-found-channel': ERROR_CODE.notFound,
  invalid: ERROR_CODE.invalid,
  blocked: ERROR_CODE.blocked,
};

export class ClaimAnswers {
  private readonly index: ClaimIndexReader;
  /** Null where there is no search. */
  private readonly searcher: HubSearch | null;
  /** Null where nothing is blocked. */
  private readonly blocked: BlockedClaims | null;

  constructor(index: ClaimIndexReader, searcher: HubSearch | null, blocked: BlockedClaims | null = null) {
    this.index = index;
    this.searcher = searcher;
    this.blocked = blocked;
  }

  /** One row a URL in their order; behind them what they refer to. */
  async resolve(urls: readonly string[], turn: Turn): Promise<FoundOutputs> {
    const notes = new OutputNotes();
    for (let at = 0; at < urls.length; at += URLS_AT_ONCE) {
      const part = await this.index.resolve(urls.slice(at, at + URLS_AT_ONCE));
      const named = await this.namedChannels(part.flatMap(({ claim, reposted }) => [claim, reposted]));
      for (const found of part) {
        const block = await this.blocked?.of(found);
        if (block) addBlocked(notes, block);
        else addResolved(notes, found, named);
      }
      const breath = turn.breathe();
      if (breath !== null) await breath;
    }
    return notes.finish();
  }

  /** Channels that claims name without belonging to them, by id. */
  private async namedChannels(claims: readonly (ClaimRecord | null)[]): Promise<Map<string, ClaimRecord>> {
    const ids = claims.flatMap((claim) =>
      claim === null || claim.isSignatureValid || claim.channelId === null ? [] : [claim.channelId],
    );
    const found = ids.length === 0 ? [] : present(await this.index.claims(ids));
    return new Map(found.map((claim) => [toLatin1(claim.claimId), claim]));
  }

  /** Whether or not it is active; nothing is censored. `claimId` as printed. */
  async byId(claimId: string): Promise<FoundOutputs> {
    const notes = new OutputNotes();
    const claim = await this.index.claim(hashFromHex(claimId));
    if (claim === null) {
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

  private async withReferences(claim: ClaimRecord): Promise<ClaimRow & References> {
    const { channelId, repostedId } = claim;
    return {
      claim,
      channel: channelId ? await this.index.claim(channelId) : null,
      reposted: repostedId ? await this.index.claim(repostedId) : null,
    };
  }

  /**
   * A page of claims, with the channels that they name, the claims that they repost, and what those refer to.
   * Null where `channel` leads nowhere.
   */
  async search(constraints: SearchConstraints, turn: Turn, by: object): Promise<FoundOutputs | null> {
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
    const { rows, total, blocked } = await turn.outside(() => searched(searcher, wanted, by));
    const notes = new OutputNotes();
    const page = present(await this.index.claims(rows));
    const references = await this.referencesOf(page);
    const censors = await this.index.claims(blocked.map(({ channelId }) => channelId));
    const beyond = await this.referencesOf([...references.values(), ...present(censors)]);
    const known = new Map([...beyond, ...references]);
    for (const claim of page) notes.add(linked(claim, known));
    for (const claim of [...references.values(), ...present(censors), ...beyond.values()])
      notes.addExtra(linked(claim, known));
    for (const [n, censor] of censors.entries()) if (censor) notes.addBlocked(censor, blocked[n]!.count);
    return notes.finish(total);
  }

  /** The channels and reposted claims of claims, by id. */
  private async referencesOf(claims: readonly ClaimRecord[]): Promise<Map<string, ClaimRecord>> {
    const wanted = new Map<string, Bytes>();
    for (const { channelId, repostedId } of claims) {
      if (channelId) wanted.set(toLatin1(channelId), channelId);
      if (repostedId) wanted.set(toLatin1(repostedId), repostedId);
    }
    const found = present(await this.index.claims([...wanted.values()]));
    return new Map(found.map((claim) => [toLatin1(claim.claimId), claim]));
  }
}

/** What a claim refers to, whole. */
interface References {
  readonly channel: ClaimRecord | null;
  readonly reposted: ClaimRecord | null;
}

const alone = (claim: ClaimRecord): ClaimRow => ({ claim, channel: null, reposted: null });

const present = (claims: readonly (ClaimRecord | null)[]): ClaimRecord[] =>
  claims.filter((claim) => claim !== null);

function linked(claim: ClaimRecord, known: ReadonlyMap<string, ClaimRecord>): ClaimRow {
  const find = (id: Bytes | null): ClaimRecord | null => (id && known.get(toLatin1(id))) ?? null;
  return { claim, channel: find(claim.channelId), reposted: find(claim.repostedId) };
}

function addBlocked(notes: OutputNotes, { text, channel }: Block): void {
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

/** What the search says of its failure reaches the client where it has a code. */
async function searched(
  searcher: HubSearch,
  constraints: SearchConstraints,
  by: object,
): Promise<FoundClaims> {
  try {
    return await searcher.search(constraints, by);
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (!(error instanceof Error) || typeof code !== 'number') throw error;
    throw new HubError(code, error.message, true);
  }
}
