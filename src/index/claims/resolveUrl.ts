/**
 * Resolves URLs to claims at the tip. This module has the rules of resolving; the grammar of URLs is in `metadata/url.ts`.
 * The caller applies the block lists. Source: lbryio/hub hub/db/db.py `_batch_resolve_parsed_urls`, `_resolve_claim_in_channel`.
 *
 * Kept QUIRKS: with all 40 digits the claim is found whatever its name is, and `$N` after a channel is ignored. Differences
 * from the hub: all digits of an id count, and two URLs of one call may resolve to the same claim.
 */
import { normalizeKey } from '../../claimtrie/nameKey.js';
import type { NameState } from '../../claimtrie/nameState.js';
import { filesNormalized } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { parseUrl, type UrlSegment } from '../../metadata/url.js';
import type { RowReader } from '../../store/rows/rows.js';
import { prefixEnd } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { fromLatin1, hashFromHex, toLatin1 } from '../../util/bytes.js';
import { boundedErrorText } from '../../util/text/errorText.js';
import { ID_LENGTH, groupOf, keyTag, signedNamePrefix } from './claimIndexKeys.js';
import type { ClaimRecord, ResolvedUrl, ResolveFailure } from './claimReader.js';
import { ClaimRecords, nameText } from './claimRecords.js';
import { idsOf, oldestWith, type ClaimOrder, type NameOrders } from './nameOrders.js';
import type { NameStates } from '../../store/claims/query/nameStates.js';

const ALL_DIGITS = 40;
/**
 * Maximum length of a searched name in UTF-16 code units: a name in a script has at most 255 bytes, and at most nine times
 * as many when normalized.
 */
const LONGEST_NAME = 4096;
/** Maximum length of a name in a script, in bytes. */
const LONGEST_RAW = 255;
/**
 * Maximum length of a normalized name, in bytes. Longer names are not looked up: thousands of them with the same length
 * could have equal hashes in V8's maps, because V8 hashes at most 16,383 characters of a string.
 */
const LONGEST_FILED = 9 * LONGEST_RAW;
/** Maximum length of a URL: two names of maximum length and the characters around them. Longer URLs are not parsed. */
export const LONGEST_URL = 2 * LONGEST_NAME + 128;

/** Number of claims of a name that are read and sorted together. Arbitrary. */
const CLAIMS_A_PART = 4096;

/** Data sources and rules for a query. All of them belong to the same tip. */
export interface ResolveScope {
  readonly rows: RowReader;
  readonly rules: ClaimRules;
  readonly height: number;
  readonly orders: NameOrders;
  readonly states: NameStates;
  readonly records: ClaimRecords;
}

/** Id (latin1, wire order) of the claim that a URL resolves to, or the reason why it resolves to none. */
type Outcome = { readonly claimId: string } | { readonly failure: ResolveFailure };

export async function resolveUrls(scope: ResolveScope, urls: readonly string[]): Promise<ResolvedUrl[]> {
  const outcomes: Outcome[] = [];
  let since = performance.now();
  for (const url of urls) {
    outcomes.push(await resolveOne(scope, url));
    since = await yieldIfDue(since);
  }
  const { records } = scope;
  const claims = await records.load(outcomes.map((outcome) => ('claimId' in outcome ? outcome.claimId : '')));
  const channels = await channelsOf(records, claims);
  const reposted = await loadEach(records, claims, ({ repostedId }) => repostedId);
  const repostedChannels = await channelsOf(records, reposted);
  return outcomes.map((outcome, i) => {
    const claim = claims[i]!;
    return {
      claim,
      channel: channels[i]!,
      reposted: reposted[i]!,
      repostedChannel: repostedChannels[i]!,
      failure: 'failure' in outcome ? outcome.failure : claim === null ? noClaim(urls[i]!) : null,
    };
  });
}

/** `CHANNEL_PART` matches the channel's part of a canonical URL, `SHORT_URL` the name and the id digits of a short URL. */
const CHANNEL_PART = /^.*?#[0-9a-f]{1,40}\//s;
const SHORT_URL = /^(.*)#([0-9a-f]{1,40})$/s;

/**
 * For each text, the claim whose short or canonical URL is identical to it; null without such a claim. These URLs contain
 * raw names, which may have any characters.
 */
export async function findByUrls(
  scope: ResolveScope,
  urls: readonly string[],
): Promise<(ClaimRecord | null)[]> {
  const found: (ClaimRecord | null)[] = [];
  let since = performance.now();
  for (const url of urls) {
    found.push(url.length > LONGEST_URL ? null : await findByUrl(scope, url));
    since = await yieldIfDue(since);
  }
  return found;
}

async function findByUrl(scope: ResolveScope, url: string): Promise<ClaimRecord | null> {
  for (const text of new Set([url, url.replace(CHANNEL_PART, '')])) {
    const parts = SHORT_URL.exec(text);
    if (parts === null) continue;
    const id = await findSegment(scope, { name: parts[1]!, claimId: parts[2]!, amountOrder: null });
    const [claim] = id === null ? [null] : await scope.records.load([id]);
    if (claim && (claim.shortUrl === url || claim.canonicalUrl === url)) return claim;
  }
  return null;
}

function channelsOf(
  records: ClaimRecords,
  claims: readonly (ClaimRecord | null)[],
): Promise<(ClaimRecord | null)[]> {
  return loadEach(records, claims, ({ channelId, isSignatureValid }) =>
    isSignatureValid ? channelId : null,
  );
}

/** Loads the claim to which each claim refers; null for a claim without a reference. */
function loadEach(
  records: ClaimRecords,
  claims: readonly (ClaimRecord | null)[],
  refer: (claim: ClaimRecord) => Uint8Array | null,
): Promise<(ClaimRecord | null)[]> {
  const ids = claims.map((claim) => claim && refer(claim));
  // The empty id stands for "no claim", because no claim has an empty id.
  return records.load(ids.map((id) => (id === null ? '' : toLatin1(id))));
}

function noClaim(url: string): ResolveFailure {
  return { kind: 'not-found-claim', text: boundedErrorText(`Could not find claim at "${url}".`) };
}

function noChannel(url: string): ResolveFailure {
  return { kind: 'not-found-channel', text: boundedErrorText(`Could not find channel in "${url}".`) };
}

async function resolveOne(scope: ResolveScope, text: string): Promise<Outcome> {
  const url = text.length > LONGEST_URL ? null : parseUrl(text);
  if (url === null) return { failure: { kind: 'invalid', text: 'Invalid LBRY URL' } };
  const { channel, stream } = url;
  if (channel === null) {
    const claimId = await findSegment(scope, stream!);
    return claimId === null ? { failure: noClaim(text) } : { claimId };
  }
  const channelId = await findSegment(scope, channel);
  if (channelId === null) return { failure: noChannel(text) };
  if (stream === null) return { claimId: channelId };
  const claimId = await findSigned(scope, channelId, stream);
  return claimId === null ? { failure: noClaim(text) } : { claimId };
}

/**
 * Raw names that the name in a URL may stand for: the text encoded in UTF-8, and the bytes of a name that is not valid UTF-8
 * and is therefore displayed byte by byte.
 */
export function rawNames(name: string): string[] {
  if (name.length > LONGEST_NAME) return [];
  const names = [toLatin1(Buffer.from(name))];
  if (/^[\x00-\xff]*$/.test(name) && names[0] !== name && nameText(fromLatin1(name)) === name)
    names.push(name);
  return names.filter((raw) => raw.length <= LONGEST_RAW || groupOf(raw).length <= LONGEST_FILED);
}

/** Id of the claim that a single URL segment resolves to; null if there is none. */
async function findSegment(scope: ResolveScope, segment: UrlSegment): Promise<string | null> {
  const { rows, records, orders } = scope;
  const { name, claimId, amountOrder } = segment;
  if (claimId?.length === ALL_DIGITS) {
    const id = toLatin1(hashFromHex(claimId));
    const [row] = await records.rowsOf([id]);
    return row ? id : null;
  }
  for (const rawName of rawNames(name)) {
    if (claimId !== null) {
      const found = oldestWith(await orders.of(rows, groupOf(rawName)), claimId);
      if (found) return toLatin1(found);
    } else {
      const found = await (amountOrder === null
        ? controlling(scope, rawName)
        : nthByAmount(scope, rawName, amountOrder));
      if (found !== null) return found;
    }
  }
  return null;
}

/** Id of the claim that controls the name; null if there is none. */
async function controlling(scope: ResolveScope, rawName: string): Promise<string | null> {
  return (await controllingState(scope, rawName))?.claims[0]!.claimId ?? null;
}

/** State in the claim trie of a name that has a controlling claim; null for other names. */
export async function controllingState(
  { records, rules, height }: ResolveScope,
  rawName: string,
): Promise<NameState | null> {
  const normalized = normalizeKey(rawName);
  // Both forms are tried, because the claim trie may store a name that was normalized twice.
  const names = filesNormalized(rules, height) ? [normalized, normalizeKey(normalized)] : [rawName];
  for (const filed of names) {
    if (filed.length > LONGEST_FILED) continue;
    const [state] = await records.statesOf([filed]);
    if (state?.claims[0]) return state;
  }
  return null;
}

/**
 * The claim at a position, counted from 1, among the live claims (unspent and not expired) of a name. They are ordered by
 * effective amount, then by the age of the latest output. A claim that is not active has effective amount 0.
 */
async function nthByAmount(scope: ResolveScope, rawName: string, place: number): Promise<string | null> {
  const group = groupOf(rawName);
  const order = await scope.orders.byAmount(group, () => readByAmount(scope, group));
  const at = (place - 1) * ID_LENGTH;
  return at >= order.length ? null : toLatin1(Buffer.from(order.subarray(at, at + ID_LENGTH)).reverse());
}

/** Fields of a claim by which claims are ordered. */
interface Weighed {
  readonly id: Uint8Array;
  readonly effectiveAmountSat: bigint;
  readonly place: readonly [height: number, position: number, nout: number];
}

/** Claims of a name ordered by amount. They are read and sorted in parts, to limit the memory use. */
async function readByAmount(scope: ResolveScope, group: string): Promise<ClaimOrder> {
  const { rows, rules, height, orders, states } = scope;
  const ids = idsOf(await orders.of(rows, group)).map(toLatin1);
  let sorted: Weighed[] = [];
  for (let at = 0; at < ids.length; at += CLAIMS_A_PART) {
    // Each part of the list uses a new reader, because the reader caches ten times as much data per claim as an entry of
    // the list takes.
    const records = new ClaimRecords(rows, rules, height, orders, states);
    const part: Weighed[] = [];
    for (const claim of await records.loadPlain(ids.slice(at, at + CLAIMS_A_PART))) {
      if (claim === null) continue;
      const { claimId: id, effectiveAmountSat, position, nout } = claim;
      part.push({ id, effectiveAmountSat, place: [claim.height, position, nout] });
    }
    sorted = await merged(sorted, part.sort(compareWeighed));
  }
  return Buffer.concat(sorted.map(({ id }) => Buffer.from(id).reverse()));
}

async function merged(left: readonly Weighed[], right: readonly Weighed[]): Promise<Weighed[]> {
  const out: Weighed[] = [];
  let since = performance.now();
  for (let i = 0, j = 0; i < left.length || j < right.length;) {
    const takesLeft = j >= right.length || (i < left.length && compareWeighed(left[i]!, right[j]!) <= 0);
    out.push(takesLeft ? left[i++]! : right[j++]!);
    if (out.length % CLAIMS_A_PART === 0) since = await yieldIfDue(since);
  }
  return out;
}

function compareWeighed(a: Weighed, b: Weighed): number {
  return (
    compareAmounts(b.effectiveAmountSat, a.effectiveAmountSat) ||
    a.place[0] - b.place[0] ||
    a.place[1] - b.place[1] ||
    a.place[2] - b.place[2]
  );
}

function compareAmounts(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Among the claims of a name with a valid signature of the channel, the one whose latest output is the oldest. */
async function findSigned(
  { rows, orders, records }: ResolveScope,
  channelId: string,
  { name, claimId }: UrlSegment,
): Promise<string | null> {
  const [channel] = await records.rowsOf([channelId]);
  if (!channel?.publicKey) return null;
  const tag = keyTag(channel.publicKey);
  for (const rawName of rawNames(name)) {
    const prefix = signedNamePrefix(channelId, tag, groupOf(rawName));
    if (claimId === null) {
      const [first] = await rows.getRange({ gte: prefix, lt: prefixEnd(prefix), limit: 1 });
      if (first) return toLatin1(first[1]);
      continue;
    }
    const found = oldestWith(await orders.behind(rows, prefix), claimId);
    if (found) return toLatin1(found);
  }
  return null;
}
