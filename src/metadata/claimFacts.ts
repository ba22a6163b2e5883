/**
 * Extracts from the value of a claim, with a handwritten parser, only the data that a claim index needs: kind, signature,
 * reposted claim, and a channel's key. The whole message is checked, because a message that is malformed anywhere is not a
 * claim of any kind. The parser creates no objects from the message, and it never throws. Source: lbry-sdk schema/base.py
 * `Signable.from_bytes`, schema/compat.py.
 */
import { isUtf8 } from 'node:buffer';
import { isHex, type Bytes } from '../util/bytes.js';

export type MetadataKind = 'stream' | 'channel' | 'collection' | 'repost';

export interface ClaimFacts {
  /** Kind of the claim; null if the value cannot be decoded or has no type. */
  readonly kind: MetadataKind | null;
  /** Channel id in the value (20 bytes, wire order). The signature may be invalid. */
  readonly channelId: Bytes | null;
  /** r and s, 64 bytes; a signature of another length is returned unchanged and is never valid. */
  readonly signature: Bytes | null;
  /** Id of the reposted claim, 20 bytes in wire order. */
  readonly repostedId: Bytes | null;
  /** Title in UTF-8. Null if the value has none, and for a value in an older format. */
  readonly title: Bytes | null;
  /** Public key of a channel: 33 bytes compressed, or a DER SubjectPublicKeyInfo. */
  readonly publicKey: Bytes | null;
}

const NOTHING: ClaimFacts = {
  kind: null,
  channelId: null,
  signature: null,
  repostedId: null,
  title: null,
  publicKey: null,
};

const ID_BYTES = 20;
/** First byte of a value in the current format: `UNSIGNED`, or `SIGNED` by a channel. */
const UNSIGNED = 0;
const SIGNED = 1;
/** First byte of a value in the JSON format of 2016: the character `{`. */
const BRACE = 0x7b;
/**
 * Offsets in a signed value. Its envelope consists of the first byte, the channel's id and the signature; the message
 * follows.
 */
const SIGNATURE_AT = 1 + ID_BYTES;
const MESSAGE_AT = SIGNATURE_AT + 64;
/** Maximum depth of nested messages. Deeper ones are rejected, as by protobuf's own libraries. */
const MAX_DEPTH = 100;

/**
 * Maximum length in bytes of an encoded number (`NUMBER_BYTES`), and of an encoded tag or length of 32 bits (`TAG_BYTES`).
 */
const NUMBER_BYTES = 10;
const TAG_BYTES = 5;

const WIRE = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

/** Known fields of a message, by number: a text, or a nested message with its own fields. Unknown fields are skipped. */
type Fields = ReadonlyMap<number, 'text' | (() => Fields)>;

const texts = (...numbers: readonly number[]): [number, 'text'][] => numbers.map((n) => [n, 'text']);
const NO_FIELDS: Fields = new Map();
const none = (): Fields => NO_FIELDS;
const SOURCE: Fields = new Map(texts(2, 4, 5));
const source = (): Fields => SOURCE;
const LIST: Fields = new Map([[2, none]]);
const VIDEO: Fields = new Map([[15, none]]);
const SOFTWARE: Fields = new Map(texts(1));
const LOCATION: Fields = new Map(texts(2, 3, 4));
const STREAM: Fields = new Map<number, 'text' | (() => Fields)>([
  ...texts(2, 3, 4),
  [1, source],
  [6, none],
  [10, none],
  [11, () => VIDEO],
  [12, none],
  [13, () => SOFTWARE],
]);
const CHANNEL: Fields = new Map<number, 'text' | (() => Fields)>([
  ...texts(2, 3),
  [4, source],
  [5, () => LIST],
]);
const CLAIM: Fields = new Map<number, 'text' | (() => Fields)>([
  ...texts(8, 9, 11),
  [1, () => STREAM],
  [2, () => CHANNEL],
  [3, () => LIST],
  [4, none],
  [10, source],
  [12, none],
  [13, () => LOCATION],
]);
/**
 * Fields of the message format of 2017: a stream with its metadata (and fee) and its source, a certificate, and the
 * publisher's signature.
 */
const OLD_METADATA: Fields = new Map<number, 'text' | (() => Fields)>([
  ...texts(3, 4, 5, 6, 9, 11),
  [8, none],
]);
const OLD_SOURCE: Fields = new Map(texts(4));
const OLD_STREAM: Fields = new Map([
  [2, () => OLD_METADATA],
  [3, () => OLD_SOURCE],
]);
const OLD_CLAIM: Fields = new Map([
  [3, () => OLD_STREAM],
  [4, none],
  [5, none],
]);

/** Number of the field with the title. */
const TITLE = 8;

/** Type of a channel claim of 2017. */
const OLD_CERTIFICATE = 2;

const KINDS: Readonly<Record<number, MetadataKind>> = {
  1: 'stream',
  2: 'channel',
  3: 'collection',
  4: 'repost',
};

/**
 * Called for each field of a message. `value` is the number of a varint; `from` and `to` are the byte range of a
 * length-delimited field.
 */
type OnField = (field: number, value: number, from: number, to: number) => void;

/** Checks the messages within a value at an offset, which advances. */
class Walk {
  private readonly bytes: Bytes;
  private at = 0;
  failed = false;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  /** Whether the message between two offsets is well-formed, including every nested message in `fields`. */
  message(from: number, to: number, fields: Fields, depth: number, onField?: OnField): boolean {
    if (depth > MAX_DEPTH) return false;
    this.at = from;
    while (this.at < to) {
      const tag = this.varint(to, TAG_BYTES);
      const field = tag >>> 3;
      if (this.failed) return false;
      const wire = tag & 7;
      // QUIRK: the reference's parser treats a zero tag and an end-of-group tag as the end of the message, and ignores the
      // bytes after them.
      if (depth === 0 && (tag === 0 || wire === WIRE.groupEnd)) return true;
      if (field === 0) return false;
      if (wire === WIRE.bytes) {
        const length = this.varint(to, TAG_BYTES);
        const start = this.at;
        const end = start + length;
        if (this.failed || end > to) return false;
        const inner = fields.get(field);
        if (inner === 'text' && !isUtf8(this.bytes.subarray(start, end))) return false;
        if (typeof inner === 'function' && !this.message(start, end, inner(), depth + 1)) return false;
        onField?.(field, length, start, end);
        this.at = end;
      } else if (wire === WIRE.varint) {
        const value = this.varint(to);
        if (this.failed) return false;
        onField?.(field, value, this.at, -1);
      } else if (!this.skip(wire, field, to, depth)) return false;
    }
    return this.at === to;
  }

  private skip(wire: number, field: number, to: number, depth: number): boolean {
    if (wire === WIRE.fixed64) this.at += 8;
    else if (wire === WIRE.fixed32) this.at += 4;
    else if (wire !== WIRE.groupStart || depth >= MAX_DEPTH) return false;
    else return this.group(field, to, depth + 1);
    return this.at <= to;
  }

  private group(field: number, to: number, depth: number): boolean {
    while (this.at < to) {
      const tag = this.varint(to, TAG_BYTES);
      const inner = tag >>> 3;
      if (this.failed || inner === 0) return false;
      const wire = tag & 7;
      if (wire === WIRE.groupEnd) return inner === field;
      if (wire === WIRE.varint) this.varint(to);
      else if (wire === WIRE.bytes) {
        // The length is read in a separate statement, because reading it also advances the position.
        const length = this.varint(to, TAG_BYTES);
        this.at += length;
      } else if (!this.skip(wire, inner, to, depth)) return false;
      if (this.failed || this.at > to) return false;
    }
    return false;
  }

  /** Reads a varint of at most `most` bytes and returns its low 32 bits. Sets `failed` if the varint is malformed. */
  private varint(to: number, most = NUMBER_BYTES): number {
    let value = 0;
    for (let n = 0; n < most; n++) {
      if (this.at >= to) break;
      const byte = this.bytes[this.at++]!;
      if (n < 5) value |= (byte & 0x7f) << (7 * n);
      if (byte < 0x80) return value >>> 0;
    }
    this.failed = true;
    return 0;
  }
}

/** Whether the value is in the current format, so that the result of `readClaimFacts` contains its title. */
export function isCurrentFormat(value: Bytes): boolean {
  return value[0] === UNSIGNED || value[0] === SIGNED;
}

/**
 * Extracts the data for the index from a claim's value. The byte arrays are views of the value, or copies if their byte
 * order differs.
 */
export function readClaimFacts(value: Bytes): ClaimFacts {
  if (value[0] === UNSIGNED) return readMessage(value, 1, null, null);
  if (value[0] === SIGNED) {
    const channel = value.subarray(1, SIGNATURE_AT);
    const channelId = channel.length === ID_BYTES ? channel : null;
    return readMessage(
      value,
      Math.min(MESSAGE_AT, value.length),
      channelId,
      value.subarray(SIGNATURE_AT, MESSAGE_AT),
    );
  }
  if (value[0] === BRACE) return readJson(value);
  return value.length === 0 ? NOTHING : readOldMessage(value);
}

function readMessage(
  value: Bytes,
  from: number,
  channelId: Bytes | null,
  signature: Bytes | null,
): ClaimFacts {
  let kind: MetadataKind | null = null;
  let title: Bytes | null = null;
  let bodies: [from: number, to: number][] = [];
  const isWhole = new Walk(value).message(from, value.length, CLAIM, 0, (field, _number, start, end) => {
    if (end < 0) return;
    if (field === TITLE) title = value.subarray(start, end);
    const type = KINDS[field];
    if (type === undefined) return;
    // If the message has several types, the last one counts. Repeated fields of the same type are merged.
    if (type !== kind) bodies = [];
    kind = type;
    bodies.push([start, end]);
  });
  if (!isWhole) return NOTHING;
  const facts = { ...NOTHING, kind: kind as MetadataKind | null, channelId, signature, title };
  if (facts.kind !== 'channel' && facts.kind !== 'repost') return facts;
  let first: Bytes | null = null;
  for (const [start, end] of bodies) first = fieldsOf(value, start, end).get(1) ?? first;
  if (facts.kind === 'channel') return { ...facts, publicKey: first };
  return { ...facts, repostedId: first?.length === ID_BYTES ? first : null };
}

/** Reads a value in the format of 2016: a stream without signature, identified by the hash of its source. */
function readJson(value: Bytes): ClaimFacts {
  if (!isUtf8(value)) return NOTHING;
  try {
    const json = JSON.parse(Buffer.from(value).toString()) as { sources?: { lbry_sd_hash?: unknown } | null };
    const hash = json.sources?.lbry_sd_hash;
    return typeof hash === 'string' && isHex(hash) ? { ...NOTHING, kind: 'stream' } : NOTHING;
  } catch {
    return NOTHING;
  }
}

/** Reads a value in the format of 2017, whose message is either a certificate or a stream. */
function readOldMessage(value: Bytes): ClaimFacts {
  let type: number | null = null;
  let certificate: Bytes | null = null;
  let publisher: [from: number, to: number] | null = null;
  const isWhole = new Walk(value).message(0, value.length, OLD_CLAIM, 0, (field, number, start, end) => {
    if (field === 2 && end < 0) type = number;
    else if (field === 4 && end >= 0) certificate = fieldsOf(value, start, end).get(4) ?? certificate;
    else if (field === 5 && end >= 0) publisher = [start, end];
  });
  if (!isWhole) return NOTHING;
  if (type === OLD_CERTIFICATE) return { ...NOTHING, kind: 'channel', publicKey: certificate };
  if (publisher === null) return { ...NOTHING, kind: 'stream' };
  const signed = fieldsOf(value, publisher[0], publisher[1]);
  const printedId = signed.get(4);
  return {
    ...NOTHING,
    kind: 'stream',
    channelId: printedId?.length === ID_BYTES ? Buffer.from(printedId).reverse() : null,
    signature: signed.get(3) ?? null,
  };
}

/** Byte ranges of the length-delimited fields of a well-formed message, by field number. */
function fieldsOf(value: Bytes, from: number, to: number): Map<number, Bytes> {
  const fields = new Map<number, Bytes>();
  new Walk(value).message(from, to, NO_FIELDS, 0, (field, _number, start, end) => {
    if (end >= 0) fields.set(field, value.subarray(start, end));
  });
  return fields;
}
