/**
 * The values in results, and the JSON text of strings, field names and small values. The serializer (jsonStream.ts) writes
 * the lazy parts (`jsonArray`, `jsonObject`, `hexOf`). The text format is that of the reference (UniValue): compact, with
 * control characters and DEL escaped.
 */
import { asBuffer, type Bytes } from '../bytes.js';
import { formatDouble, JsonNumber, type JsonObject } from './json.js';

/**
 * Maximum length and depth of a value that `smallJson` writes in one step. Arbitrary: most results are far below these
 * limits.
 */
export const SMALL_CHARS = 65_536;
const SMALL_DEPTH = 64;

/**
 * Maximum number of cached field names, more than all results have. If keys are data, the cache fills up and does not change
 * any more.
 */
const MAX_KNOWN_KEYS = 1024;
/** Maximum length of a cached field name. Hashes, which may be keys, are longer and so are not cached. */
const MAX_KNOWN_KEY_CHARS = 40;

/** An array whose items are created one at a time. The source is read only while the response is sent. */
export class JsonArrayStream {
  readonly items: Iterable<JsonOut> | AsyncIterable<JsonOut>;
  constructor(items: Iterable<JsonOut> | AsyncIterable<JsonOut>) {
    this.items = items;
  }
}

/** An object whose members are created one at a time. */
export class JsonObjectStream {
  readonly members: Iterable<JsonMember> | AsyncIterable<JsonMember>;
  constructor(members: Iterable<JsonMember> | AsyncIterable<JsonMember>) {
    this.members = members;
  }
}

/** Bytes that are written as hex digits, without creating the whole string. The buffer must not change until it is written. */
export class HexFragment {
  readonly bytes: Bytes;
  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  /** Number of hex digits. */
  get length(): number {
    return this.bytes.length * 2;
  }

  toString(): string {
    return asBuffer(this.bytes).toString('hex');
  }
}

/** A part of a response body: text, UTF-8 bytes, or bytes that are sent as hex digits. */
export type BodyPiece = string | Buffer | HexFragment;

/**
 * Minimum number of hex digits of a `HexFragment` that is a piece of its own. Fewer digits are cheaper as a part of the text.
 */
const PIECE_MIN_DIGITS = 1 << 15;
/** Maximum number of hex digits of all such pieces of a value. A value with more is written in chunks, at the speed of the client. */
const PIECES_MAX_DIGITS = 1 << 20;

/** JSON text, its UTF-8 bytes, or pieces of both. Each piece of bytes has whole characters. */
export type JsonSource = string | Buffer | readonly (string | Buffer)[];

/** A value that is already JSON, written unchanged. */
export class RawJson {
  private readonly source: JsonSource;

  constructor(source: JsonSource) {
    this.source = source;
  }

  /** The pieces if some of the value is bytes; null if it is one text. The caller must not modify them. */
  get pieces(): readonly (string | Buffer)[] | null {
    const { source } = this;
    if (typeof source === 'string') return null;
    return Buffer.isBuffer(source) ? [source] : (source as readonly (string | Buffer)[]);
  }

  get text(): string {
    const { source } = this;
    return typeof source === 'string' ? source : this.pieces!.join('');
  }
}

export type JsonMember = readonly [string, JsonOut];

/** Types of values in a result. Members that are `undefined` are omitted. A bigint is written as an integer. */
export type JsonOut =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonNumber
  | JsonObject
  | HexFragment
  | RawJson
  | JsonArrayStream
  | JsonObjectStream
  | ReadonlyMap<string, JsonOut>
  | readonly JsonOut[]
  | { readonly [key: string]: JsonOut | undefined };

export function jsonArray(items: Iterable<JsonOut> | AsyncIterable<JsonOut>): JsonArrayStream {
  return new JsonArrayStream(items);
}

export function jsonObject(members: Iterable<JsonMember> | AsyncIterable<JsonMember>): JsonObjectStream {
  return new JsonObjectStream(members);
}

export function hexOf(bytes: Bytes): HexFragment {
  return new HexFragment(bytes);
}

export function rawJson(source: JsonSource): RawJson {
  return new RawJson(source);
}

/**
 * Minimum length of a text in characters from which `encodedJson` uses bytes. Below, a socket writes a string as fast as
 * bytes; much longer strings take several times as long.
 */
const ENCODED_CHARS = 32_768;

/** Prepares JSON text that will be sent several times: a long text is converted to bytes, which are sent without a copy. */
export function encodedJson(text: string): string | Buffer {
  return text.length < ENCODED_CHARS ? text : Buffer.from(text);
}

const NEEDS_ESCAPE = /[\u0000-\u001f"\\\u007f\ud800-\udfff]/;

/** Formats a JSON string literal with the escapes of the reference. In contrast to `JSON.stringify`, DEL is escaped. */
export function quoteJson(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/** Cache of field names in their serialized form with the colon, because results repeat a few names very often. */
const knownKeys = new Map<string, string>();

export function quoteKey(key: string): string {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const quoted = `${quoteJson(key)}:`;
  if (key.length <= MAX_KNOWN_KEY_CHARS && knownKeys.size < MAX_KNOWN_KEYS) knownKeys.set(key, quoted);
  return quoted;
}

export type PlainObject = { readonly [key: string]: JsonOut | undefined };

/** Sum of the lengths of texts in characters and of bytes. */
export const lengthOf = (pieces: readonly (string | Buffer)[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/**
 * Writes plain values by recursion, within limits of length and depth. Fails on values that only the serializer can write.
 */
export class SmallWriter {
  out = '';
  private readonly maxChars: number;
  private readonly takesBytes: boolean;
  private pieces: BodyPiece[] | null = null;
  /** Number of hex digits of the pieces that are sent as hex digits. */
  private pieceDigits = 0;

  /** `takesBytes`: bytes of `RawJson` and long hex digits are not converted to text, so that the result may be several pieces. */
  constructor(maxChars: number, takesBytes = false) {
    this.maxChars = maxChars;
    this.takesBytes = takesBytes;
  }

  /** The written value in pieces; null if it is only `out`. */
  finish(): readonly BodyPiece[] | null {
    return this.pieces && [...this.pieces, this.out];
  }

  private writePieces(pieces: readonly (string | Buffer)[]): void {
    for (const piece of pieces) {
      if (typeof piece === 'string') this.out += piece;
      else this.writePiece(piece);
    }
  }

  private writePiece(piece: BodyPiece): void {
    (this.pieces ??= []).push(this.out, piece);
    this.out = '';
  }

  write(value: JsonOut, depth: number): boolean {
    switch (typeof value) {
      case 'string':
        if (value.length > this.maxChars) return false;
        this.out += quoteJson(value);
        return this.out.length <= this.maxChars;
      case 'number':
        this.out += formatDouble(value);
        return true;
      case 'boolean':
        this.out += value ? 'true' : 'false';
        return true;
      case 'bigint':
        this.out += value.toString();
        return true;
      case 'object':
        if (value !== null) return depth < SMALL_DEPTH && this.writeObject(value, depth + 1);
        this.out += 'null';
        return true;
      default:
        return false;
    }
  }

  private writeObject(
    value: Exclude<JsonOut, null | boolean | number | bigint | string>,
    depth: number,
  ): boolean {
    if (Array.isArray(value)) return this.writeArray(value as readonly JsonOut[], depth);
    if (Object.getPrototypeOf(value) === Object.prototype)
      return this.writeMembers(value as PlainObject, depth);
    if (value instanceof JsonNumber || value instanceof RawJson) {
      const pieces = value instanceof RawJson ? value.pieces : null;
      if (pieces !== null && this.takesBytes) {
        this.writePieces(pieces);
        return this.out.length <= this.maxChars;
      }
      // The limit counts characters. A text in UTF-8 has at least a third as many characters as bytes.
      if (pieces !== null && lengthOf(pieces) > 3 * this.maxChars) return false;
      const { text } = value;
      if (text.length > this.maxChars) return false;
      this.out += text;
      return this.out.length <= this.maxChars;
    }
    if (!(value instanceof HexFragment)) return false;
    if (this.takesBytes && value.length >= PIECE_MIN_DIGITS) {
      this.pieceDigits += value.length;
      if (this.pieceDigits > PIECES_MAX_DIGITS) return false;
      this.out += '"';
      this.writePiece(value);
      this.out = '"';
      return true;
    }
    if (value.length > this.maxChars) return false;
    this.out += `"${value.toString()}"`;
    return this.out.length <= this.maxChars;
  }

  private writeArray(items: readonly JsonOut[], depth: number): boolean {
    this.out += '[';
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.out += ',';
      // `write` fails on a hole or undefined. The serializer then rejects it.
      if (!this.write(items[i] as JsonOut, depth) || this.out.length > this.maxChars) return false;
    }
    this.out += ']';
    return this.out.length <= this.maxChars;
  }

  private writeMembers(object: PlainObject, depth: number): boolean {
    let separator = '{';
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (value === undefined) continue;
      if (key.length > this.maxChars) return false;
      this.out += separator + quoteKey(key);
      separator = ',';
      if (!this.write(value, depth) || this.out.length > this.maxChars) return false;
    }
    this.out += separator === '{' ? '{}' : '}';
    return true;
  }
}

/** The whole text of a small value without lazy parts; null if the value has lazy parts or is not small. */
export function smallJson(value: JsonOut, maxChars = SMALL_CHARS): string | null {
  const writer = new SmallWriter(maxChars);
  return writer.write(value, 0) ? writer.out : null;
}
