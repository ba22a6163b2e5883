/**
 * Packs claims for transfer to the thread that builds documents: numbers, then amounts, then bytes, in one buffer. Cloning
 * an object for each claim would occupy the node's thread several times as long as reading the claim.
 */
import type { MetadataKind } from '../../metadata/claimFacts.js';
import type { Bytes } from '../../util/bytes.js';
import { hashToHex } from '../../util/bytes.js';
import type { ClaimSources, DocumentSource } from './documentSource.js';

/** `ClaimSources` in packed form. */
export interface PackedSources {
  readonly packedClaims: ArrayBuffer;
  readonly count: number;
  readonly gone: readonly string[];
}

const KINDS: readonly (MetadataKind | null)[] = [null, 'stream', 'channel', 'collection', 'repost'];
/** Numbers of fields per claim, by type: numbers (including lengths), amounts, and byte arrays. */
const NUMBERS = 25;
const AMOUNTS = 3;
const PARTS = 8;
const FIRST_LENGTH = NUMBERS - PARTS;
const CLAIM_BYTES = (NUMBERS + AMOUNTS) * 8;
/** Length that marks an absent byte array. */
const ABSENT = -1;
const FLAG_CONTROLLING = 1;
const FLAG_SIGNED = 2;
const FLAG_REPOSTED_GONE = 4;

type Parts = readonly (Bytes | null)[];

function partsOf({ claim, value, repostedValue }: DocumentSource): Parts {
  const { claimId, txid, name, normalizedName, channelId, repostedId } = claim;
  return [claimId, txid, name, normalizedName, channelId, repostedId, value, repostedValue];
}

function writeNumbers(numbers: Float64Array, at: number, { claim, places }: DocumentSource): void {
  const flags =
    (claim.isControlling ? FLAG_CONTROLLING : 0) |
    (claim.isSignatureValid ? FLAG_SIGNED : 0) |
    (claim.isRepostedGone ? FLAG_REPOSTED_GONE : 0);
  numbers[at++] = claim.nout;
  numbers[at++] = claim.height;
  numbers[at++] = claim.position;
  numbers[at++] = claim.creationHeight;
  numbers[at++] = claim.creationPosition;
  numbers[at++] = claim.creationNout;
  numbers[at++] = claim.activationHeight;
  numbers[at++] = claim.expirationHeight;
  numbers[at++] = claim.takeoverHeight;
  numbers[at++] = flags;
  numbers[at++] = KINDS.indexOf(claim.kind);
  numbers[at++] = claim.repostCount;
  numbers[at++] = claim.claimsInChannel;
  numbers[at++] = places.txNum;
  numbers[at++] = places.creationTxNum;
  numbers[at++] = places.timeSec;
  numbers[at] = places.creationTimeSec;
}

function packSources({ sources, gone }: ClaimSources): PackedSources {
  const parts = sources.map(partsOf);
  let bytes = sources.length * CLAIM_BYTES;
  for (const of of parts) for (const part of of) bytes += part?.length ?? 0;
  const packedClaims = new ArrayBuffer(bytes);
  const numbers = new Float64Array(packedClaims, 0, sources.length * NUMBERS);
  const amounts = new BigInt64Array(packedClaims, numbers.byteLength, sources.length * AMOUNTS);
  const rest = new Uint8Array(packedClaims, sources.length * CLAIM_BYTES);
  let used = 0;
  sources.forEach((source, n) => {
    const { amountSat, effectiveAmountSat, supportAmountSat } = source.claim;
    writeNumbers(numbers, n * NUMBERS, source);
    amounts[n * AMOUNTS] = amountSat;
    amounts[n * AMOUNTS + 1] = effectiveAmountSat;
    amounts[n * AMOUNTS + 2] = supportAmountSat;
    parts[n]!.forEach((part, i) => {
      numbers[n * NUMBERS + FIRST_LENGTH + i] = part?.length ?? ABSENT;
      if (part === null) return;
      rest.set(part, used);
      used += part.length;
    });
  });
  return { packedClaims, count: sources.length, gone };
}

function unpackSources({ packedClaims, count, gone }: PackedSources): ClaimSources {
  const numbers = new Float64Array(packedClaims, 0, count * NUMBERS);
  const amounts = new BigInt64Array(packedClaims, numbers.byteLength, count * AMOUNTS);
  let used = count * CLAIM_BYTES;
  const sources: DocumentSource[] = [];
  for (let n = 0; n < count; n++) {
    let at = n * NUMBERS;
    const number = (): number => numbers[at++]!;
    const nout = number();
    const height = number();
    const position = number();
    const creationHeight = number();
    const creationPosition = number();
    const creationNout = number();
    const activationHeight = number();
    const expirationHeight = number();
    const takeoverHeight = number();
    const flags = number();
    const kind = KINDS[number()]!;
    const repostCount = number();
    const claimsInChannel = number();
    const places = {
      txNum: number(),
      creationTxNum: number(),
      timeSec: number(),
      creationTimeSec: number(),
    };
    at = n * NUMBERS + FIRST_LENGTH;
    const part = (): Buffer | null => {
      const length = number();
      if (length === ABSENT) return null;
      used += length;
      return Buffer.from(packedClaims, used - length, length);
    };
    const claimId = part()!;
    const claim = {
      claimId,
      txid: part()!,
      name: part()!,
      normalizedName: part()!,
      channelId: part(),
      repostedId: part(),
      nout,
      height,
      position,
      creationHeight,
      creationPosition,
      creationNout,
      activationHeight,
      expirationHeight,
      takeoverHeight,
      isControlling: (flags & FLAG_CONTROLLING) !== 0,
      isSignatureValid: (flags & FLAG_SIGNED) !== 0,
      isRepostedGone: (flags & FLAG_REPOSTED_GONE) !== 0,
      kind,
      repostCount,
      claimsInChannel,
      amountSat: amounts[n * AMOUNTS]!,
      effectiveAmountSat: amounts[n * AMOUNTS + 1]!,
      supportAmountSat: amounts[n * AMOUNTS + 2]!,
    };
    const value = part()!;
    sources.push({ claimId: hashToHex(claimId), claim, places, value, repostedValue: part() });
  }
  return { sources, gone };
}

/** Packs the `ClaimSources` in the arguments of a call. Returns the arguments and the buffers to transfer. */
export function packArguments(args: readonly unknown[]): { args: unknown[]; transfer: ArrayBuffer[] } {
  const transfer: ArrayBuffer[] = [];
  const packed = args.map((arg) => {
    if (!isSources(arg)) return arg;
    const sources = packSources(arg);
    transfer.push(sources.packedClaims);
    return sources;
  });
  return { args: packed, transfer };
}

/** Restores the arguments that `packArguments` packed. */
export function unpackArguments(args: readonly unknown[]): unknown[] {
  return args.map((arg) => (isPacked(arg) ? unpackSources(arg) : arg));
}

function isSources(arg: unknown): arg is ClaimSources {
  return typeof arg === 'object' && arg !== null && 'sources' in arg;
}

function isPacked(arg: unknown): arg is PackedSources {
  return typeof arg === 'object' && arg !== null && 'packedClaims' in arg;
}
