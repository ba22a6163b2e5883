/**
 * Rows of the claim index that are stored by claim id, and their encoding. Strings are latin1, ids in wire order. Consensus
 * does not use this data: amounts, activation, expiration and the owner of a name are in the rows of the claim trie.
 */
import { pointIndex } from '../../claimtrie/item.js';
import type { MetadataKind } from '../../metadata/claimFacts.js';
import { RowDecoder, RowEncoder } from '../../store/claims/rows/rowCodec.js';
import type { Bytes } from '../../util/bytes.js';
import { TAG_LENGTH } from './claimIndexKeys.js';

/** Index data of a claim that is unspent and not expired. */
export interface ClaimRow {
  /** Latest output: txid and output index, encoded as in the claim trie. */
  readonly point: string;
  readonly height: number;
  /** Index of the latest output's transaction in its block. */
  readonly position: number;
  /** Block height and position of the transaction that created the claim. */
  readonly creationHeight: number;
  readonly creationPosition: number;
  readonly creationNout: number;
  readonly kind: MetadataKind | null;
  /** Channel id in the claim's value; null without a channel. */
  readonly channelId: string | null;
  /**
   * Tags of the keys that verify the claim's signature. The signature is valid while the channel is unspent and not expired,
   * and its current key has one of these tags.
   */
  readonly signers: readonly string[];
  readonly repostedId: string | null;
  /** Public key (33 bytes) of a channel; null if the claim is not a channel or has no valid key. */
  readonly publicKey: Bytes | null;
  /** Name with the spelling of the latest output. */
  readonly rawName: string;
}

const KINDS: readonly (MetadataKind | null)[] = [null, 'stream', 'channel', 'collection', 'repost'];
const KIND_MASK = 7;
const FLAG_CHANNEL = 8;
const FLAG_SIGNED = 16;
const FLAG_REPOST = 32;
const FLAG_KEY = 64;
const FLAG_UPDATED = 128;
const KEY_BYTES = 33;
const ID_BYTES = 20;

const encoder = new RowEncoder();

export function formatClaimRow(row: ClaimRow): Buffer {
  const { point, height, position, channelId, signers, repostedId, publicKey } = row;
  const nout = pointIndex(point);
  const isUpdated =
    row.creationHeight !== height || row.creationPosition !== position || row.creationNout !== nout;
  encoder
    .byte(
      KINDS.indexOf(row.kind) |
        (channelId === null ? 0 : FLAG_CHANNEL) |
        (signers.length > 0 ? FLAG_SIGNED : 0) |
        (repostedId === null ? 0 : FLAG_REPOST) |
        (publicKey === null ? 0 : FLAG_KEY) |
        (isUpdated ? FLAG_UPDATED : 0),
    )
    .raw(point.slice(0, 32))
    .number(nout)
    .number(height)
    .number(position);
  if (isUpdated)
    encoder
      .number(height - row.creationHeight)
      .number(row.creationPosition)
      .number(row.creationNout);
  if (channelId !== null) encoder.raw(channelId);
  if (signers.length > 0) encoder.byte(signers.length).raw(signers.join(''));
  if (repostedId !== null) encoder.raw(repostedId);
  if (publicKey !== null) encoder.bytes(publicKey);
  return encoder.raw(row.rawName).finish();
}

export function parseClaimRow(bytes: Bytes): ClaimRow {
  const input = new RowDecoder(bytes);
  const flags = input.byte();
  const txid = input.raw(32);
  const nout = input.number();
  const height = input.number();
  const position = input.number();
  const isUpdated = (flags & FLAG_UPDATED) !== 0;
  const creationHeight = isUpdated ? height - input.number() : height;
  const creationPosition = isUpdated ? input.number() : position;
  const creationNout = isUpdated ? input.number() : nout;
  const channelId = flags & FLAG_CHANNEL ? input.raw(ID_BYTES) : null;
  const signerCount = flags & FLAG_SIGNED ? input.byte() : 0;
  const signers: string[] = [];
  while (signers.length < signerCount) signers.push(input.raw(TAG_LENGTH));
  const repostedId = flags & FLAG_REPOST ? input.raw(ID_BYTES) : null;
  const publicKey = flags & FLAG_KEY ? input.bytes(KEY_BYTES) : null;
  return {
    point: txid + String.fromCharCode(nout >>> 24, (nout >>> 16) & 255, (nout >>> 8) & 255, nout & 255),
    height,
    position,
    creationHeight,
    creationPosition,
    creationNout,
    kind: KINDS[flags & KIND_MASK] ?? null,
    channelId,
    signers,
    repostedId,
    publicKey,
    rawName: input.raw(bytes.length - input.position),
  };
}

export function parseCountRow(row: Bytes | undefined | null): number {
  return row ? new RowDecoder(row).number() : 0;
}

/** Encodes a row. Null for zero, for which no row is stored. */
export function formatCountRow(count: number): Buffer | null {
  return count === 0 ? null : encoder.number(count).finish();
}

export function parseAmountRow(row: Bytes | undefined | null): bigint {
  return row ? new RowDecoder(row).amount() : 0n;
}

/** Encodes a row. Null for zero, for which no row is stored. */
export function formatAmountRow(amountSat: bigint): Buffer | null {
  return amountSat === 0n ? null : encoder.amount(amountSat).finish();
}

/** Number of supports and the sum of their amounts. */
export interface SupportSum {
  readonly count: number;
  readonly amountSat: bigint;
}

export function parseSupportSumRow(row: Bytes | undefined | null): SupportSum {
  if (!row) return { count: 0, amountSat: 0n };
  const input = new RowDecoder(row);
  return { count: input.number(), amountSat: input.amount() };
}

/** Encodes a row. Null for zero, for which no row is stored. */
export function formatSupportSumRow({ count, amountSat }: SupportSum): Buffer | null {
  return count === 0 ? null : encoder.number(count).amount(amountSat).finish();
}

/** Channel in whose name a support's data is signed, and the tags of the keys that verify the signature. */
export interface SupportSigners {
  readonly channelId: string;
  readonly tags: readonly string[];
}

export function parseSupportSignersRow(row: Bytes): SupportSigners {
  const input = new RowDecoder(row);
  const channelId = input.raw(ID_BYTES);
  const tags: string[] = [];
  while (!input.done) tags.push(input.raw(TAG_LENGTH));
  return { channelId, tags };
}

export function formatSupportSignersRow({ channelId, tags }: SupportSigners): Buffer {
  return encoder.raw(channelId).raw(tags.join('')).finish();
}

/** Number of claims that are unspent and not expired, by kind. */
export interface KindTotals {
  stream: number;
  channel: number;
  collection: number;
  repost: number;
  /** Number of claims whose value cannot be decoded, or is of no known kind. */
  unknown: number;
}

export function parseTotalsRow(row: Bytes | undefined | null): KindTotals {
  if (!row) return { stream: 0, channel: 0, collection: 0, repost: 0, unknown: 0 };
  const input = new RowDecoder(row);
  return {
    stream: input.number(),
    channel: input.number(),
    collection: input.number(),
    repost: input.number(),
    unknown: input.number(),
  };
}

export function formatTotalsRow({ stream, channel, collection, repost, unknown }: KindTotals): Buffer {
  return encoder.number(stream).number(channel).number(collection).number(repost).number(unknown).finish();
}
