/** Converts a document to column values of the index, for all backends. */
import { placesAround } from '../../metadata/locations.js';
import { fromHex } from '../../util/bytes.js';
import { MAX_KEYWORD_LENGTH, textKey, type ClaimDocument } from '../document/document.js';
import { languageLabel, placeLabel, tagLabel } from './searchQuery.js';
import type { SqlValue } from '../../sqlite/sqliteProvider.js';

/** Maximum integer in a column of the index. */
const MAX_INTEGER = 2n ** 63n - 1n;

function clamp(value: bigint): bigint {
  return value > MAX_INTEGER ? MAX_INTEGER : value < -MAX_INTEGER ? -MAX_INTEGER : value;
}

const flag = (value: boolean): number => (value ? 1 : 0);
const keyOf = (text: string | null): number | null => (text === null ? null : textKey(text));
const idOf = (hex: string | null): Uint8Array | null => (hex === null ? null : fromHex(hex));
/** Converts a text to the form in which the index stores it: without zero characters, which PostgreSQL does not support. */
export const storedText = (text: string): string => text.replaceAll('\0', '\ufffd');
const textOf = (text: string | null): string | null => (text === null ? null : storedText(text));
/** Returns null for a string longer than `MAX_KEYWORD_LENGTH`. Such strings can neither be searched by equality nor sorted. */
const shortText = (text: string | null): string | null =>
  text === null || text.length > MAX_KEYWORD_LENGTH ? null : storedText(text);

/** Returns the values of `CLAIM_COLUMNS` before the score. */
export function claimRow(document: ClaimDocument): SqlValue[] {
  return [
    fromHex(document.claimId),
    document.type,
    storedText(document.normalizedName),
    textKey(document.txid),
    document.txNout,
    document.txNum,
    document.txPosition,
    document.amountSat,
    document.effectiveAmountSat,
    document.supportAmountSat,
    document.height,
    document.creationHeight,
    document.activationHeight,
    document.expirationHeight,
    document.timeSec,
    document.creationTimeSec,
    flag(document.isControlling),
    document.takeoverHeight,
    shortText(document.title),
    shortText(document.author),
    keyOf(document.description),
    flag(document.hasSource),
    idOf(document.sdHash),
    textOf(document.mediaType),
    document.streamType,
    document.feeAmount,
    document.feeCurrency,
    document.durationSec,
    clamp(document.releaseTimeSec),
    document.repostCount,
    idOf(document.repostedId),
    document.repostedType,
    idOf(document.channelId),
    keyOf(document.signature),
    flag(document.isSignatureValid),
    document.publicKeyId,
    document.claimsInChannel,
    flag(document.isRepostedGone),
    document.contentWidth,
    document.contentHeight,
    document.contentAspectRatio,
  ];
}

/**
 * Returns tags, languages and locations of a document as labels, including the enclosing locations. Duplicate labels are
 * removed, because different tags may become equal when they are cleaned.
 */
export function documentLabels(document: Pick<ClaimDocument, 'tags' | 'languages' | 'locations'>): string[] {
  const tags = document.tags.map((tag) => tagLabel(storedText(tag)));
  const places = document.locations.flatMap(placesAround).map((place) => placeLabel(storedText(place)));
  return [...new Set([...tags, ...document.languages.map(languageLabel), ...places])];
}
