/**
 * The keys of the claim index's rows, all below one prefix. A key is a latin1 string. Claim ids in keys are in printed
 * order, so that rows are sorted by printed ids. Names are stored as groups: all spellings with the same normalized form
 * share one group.
 */
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { PREFIX, readU32, u32Key } from '../../store/rows/keys.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

/** Length of claim ids and other 20-byte hashes, which are latin1 strings in wire order. */
export const ID_LENGTH = 20;

const KIND = {
  claim: 'c',
  nameOrder: 'n',
  signed: 's',
  repost: 'r',
  counts: 'o',
  signedCount: 'g',
  supports: 'a',
  supportSigners: 'b',
  supportSums: 'd',
  trending: 't',
  changes: 'k',
  undo: 'u',
  totals: 'x',
  ended: 'e',
  series: 'y',
  past: 'z',
} as const;

/** Prefixes of the keys by type of row. */
const PREFIXES = Object.fromEntries(
  Object.entries(KIND).map(([kind, letter]) => [kind, PREFIX.claimIndex + letter]),
) as Readonly<Record<keyof typeof KIND, string>>;
const prefixOf = (kind: keyof typeof KIND): string => PREFIXES[kind];

/**
 * Types of rows that a snapshot contains, in ascending order: those that depend only on the chain up to the tip. The rows of
 * `pastWalk.ts` are omitted.
 */
export const SNAPSHOT_PREFIXES: readonly string[] = (
  [
    'claim',
    'nameOrder',
    'signed',
    'signedCount',
    'repost',
    'counts',
    'supports',
    'supportSigners',
    'supportSums',
    'trending',
    'totals',
  ] as const
)
  .map(prefixOf)
  .sort();

/** Buffer in which `turned` reverses ids; reused for each call. */
const turning = Buffer.alloc(ID_LENGTH);

/** Reverses the byte order of an id. */
export function turned(id: string): string {
  for (let i = 0; i < ID_LENGTH; i++) turning[ID_LENGTH - 1 - i] = id.charCodeAt(i);
  return turning.toString('latin1');
}

/**
 * Group of a name: a normalized form that all spellings have in common. The name is normalized twice, because the chain may
 * do so.
 */
export function groupOf(name: string): string {
  const once = normalizeKey(name);
  return once === name ? name : normalizeKey(once);
}

/**
 * A name with its length in front, so that no key is a prefix of another. A name in a script has at most 255 bytes, and at
 * most nine times as many when normalized.
 */
const sized = (name: string): string => String.fromCharCode(name.length >>> 8, name.length & 255) + name;

const u24Key = (value: number): string =>
  String.fromCharCode((value >>> 16) & 255, (value >>> 8) & 255, value & 255);

/** Part of a key: height, position in the block and output index. With this part rows are sorted by age. */
const ageKey = (height: number, position: number, nout: number): string =>
  u32Key(height) + u24Key(position) + u24Key(nout);

/** `c` ‖ claim id → index data of a live claim (`claimRow.ts`). */
export const claimKey = (claimId: string): string => prefixOf('claim') + turned(claimId);
export const CLAIMS_PREFIX = prefixOf('claim');
export const claimIdOfKey = (key: string): string => turned(key.slice(-ID_LENGTH));

/** `n` ‖ length ‖ group ‖ place of the first output → claim id: the live claims of a name, the oldest first. */
export const nameOrderPrefix = (group: string): string => prefixOf('nameOrder') + sized(group);
export const nameOrderKey = (group: string, height: number, position: number, nout: number): string =>
  nameOrderPrefix(group) + ageKey(height, position, nout);

/** Length of a key tag in bytes. Creating another key with an equal tag, to forge a signature, takes about 2^120 attempts. */
export const TAG_LENGTH = 16;
/** Tag of a public key (33 bytes), used in row keys: its first bytes as a latin1 string. */
export const keyTag = (publicKey: Bytes): string => toLatin1(publicKey.subarray(0, TAG_LENGTH));

/**
 * `s` ‖ channel ‖ key tag ‖ length ‖ group ‖ place of the latest output → claim id: the live claims that name a channel, by
 * the keys that verify their signatures. The channel may have ended or have another key.
 */
export const signedByPrefix = (channelId: string, tag: string): string =>
  prefixOf('signed') + turned(channelId) + tag;
export const signedNamePrefix = (channelId: string, tag: string, group: string): string =>
  signedByPrefix(channelId, tag) + sized(group);
export const signedKey = (
  channelId: string,
  tag: string,
  group: string,
  height: number,
  position: number,
  nout: number,
): string => signedNamePrefix(channelId, tag, group) + ageKey(height, position, nout);

/** `g` ‖ channel ‖ key tag → number of rows under `signedByPrefix`; absent if 0. */
export const signedCountKey = (channelId: string, tag: string): string =>
  prefixOf('signedCount') + turned(channelId) + tag;

/** `r` ‖ target ‖ repost → nothing: the live reposts of a claim. */
export const repostsPrefix = (targetId: string): string => prefixOf('repost') + turned(targetId);
export const repostKey = (targetId: string, claimId: string): string =>
  repostsPrefix(targetId) + turned(claimId);

/** `o` ‖ claim id → number of live claims that repost it; absent if 0. */
export const countsKey = (claimId: string): string => prefixOf('counts') + turned(claimId);

/** `a` ‖ claim id ‖ group → sum of the unspent supports of that id and name; absent when it is 0. */
export const supportsKey = (claimId: string, group: string): string =>
  prefixOf('supports') + turned(claimId) + group;

/** `b` ‖ outpoint → channel ‖ tags of the keys that signed the data of an unspent support (`signedSupports.ts`). */
export const supportSignersKey = (point: string): string => prefixOf('supportSigners') + point;

/** `d` ‖ claim id ‖ length ‖ group ‖ channel ‖ key tag → number and sum of the unspent supports that the key signed. */
export const supportSumsPrefix = (claimId: string, group: string): string =>
  prefixOf('supportSums') + turned(claimId) + sized(group);
export const supportSumKey = (claimId: string, group: string, channelId: string, tag: string): string =>
  supportSumsPrefix(claimId, group) + turned(channelId) + tag;

/** `t` ‖ height ‖ chunk → effective amounts before and after the block. */
export const trendingKey = (height: number, chunk: number): string =>
  prefixOf('trending') + u32Key(height) + u32Key(chunk);
/** `k` ‖ height ‖ chunk → claims that a block touched and deleted. */
export const changesKey = (height: number, chunk: number): string =>
  prefixOf('changes') + u32Key(height) + u32Key(chunk);
/** `u` ‖ height ‖ chunk → rows that a block replaced. */
export const undoKey = (height: number, chunk: number): string =>
  prefixOf('undo') + u32Key(height) + u32Key(chunk);
export const UNDO_PREFIX = prefixOf('undo');
/** Height in the key of a trending, change or undo row. */
export const heightOfKey = (key: string): number => readU32(key, 2);

/** Key of the row with the number of live claims (unspent and not expired) of each kind. */
export const TOTALS_KEY = prefixOf('totals');

/** `e` ‖ claim id → trie key of the last output of an ended claim (`claimPast.ts`). */
export const endedKey = (claimId: string): string => prefixOf('ended') + turned(claimId);
/** `y` ‖ height → numbers of names and claims, and sum of their amounts, after the block. */
export const seriesKey = (height: number): string => prefixOf('series') + u32Key(height);
/** `z` → nothing; its presence means that the rows of `endedKey` and `seriesKey` are complete for all past blocks. */
export const PAST_KEY = prefixOf('past');
