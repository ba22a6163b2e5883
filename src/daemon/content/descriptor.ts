/**
 * Stream descriptors: the JSON that lists the blobs of a stream, written and read bit-equal to lbry-sdk's.
 * Source: lbry-sdk lbry/stream/descriptor.py `StreamDescriptor`.
 */
import { createHash } from 'node:crypto';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { parseJson } from '../../util/json/jsonParse.js';
import { DaemonError } from '../base/daemonError.js';
import { blobHashOf, isBlobHash, MAX_BLOB_BYTES } from './blobHash.js';

const AES_BLOCK_BYTES = 16;

/** An entry of a descriptor: one blob of the stream. */
export interface DescriptorBlob {
  /** Hash of the blob; null only for the terminator, the last entry. */
  readonly blobHash: string | null;
  readonly blobNum: number;
  /** Initialization vector of the blob, 32 hexadecimal digits. */
  readonly iv: string;
  /** Number of bytes of the encrypted blob; 0 for the terminator. */
  readonly length: number;
}

export interface StreamDescriptor {
  readonly streamName: string;
  /** AES key of the stream, 32 hexadecimal digits. */
  readonly key: string;
  readonly suggestedFileName: string;
  /** Hash of the stream, 96 hexadecimal digits. */
  readonly streamHash: string;
  /** Entries of the data blobs in order, then the terminator (an entry without a blob). */
  readonly blobs: readonly DescriptorBlob[];
}

const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

/** Computes the stream hash from the other members of a descriptor. Source: `calculate_stream_hash`, `get_blob_hashsum`. */
export function streamHashOf(stream: Omit<StreamDescriptor, 'streamHash'>): string {
  const entries = createHash('sha384');
  for (const { blobHash, blobNum, iv, length } of stream.blobs) {
    const entry = createHash('sha384');
    if (length !== 0) entry.update(blobHash ?? '');
    entries.update(entry.update(`${blobNum}${iv}${length}`).digest());
  }
  return createHash('sha384')
    .update(hexOf(stream.streamName) + stream.key + hexOf(stream.suggestedFileName))
    .update(entries.digest())
    .digest('hex');
}

/** A JSON object as Python writes it with its default separators. All values are numbers or texts of hexadecimal digits. */
const objectText = (members: readonly (readonly [string, string | number | null])[]): string =>
  `{${members
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `"${key}": ${JSON.stringify(value)}`)
    .join(', ')}}`;

/** Writes the sd blob with sorted keys. Source: `as_json`. */
export function descriptorBytes(stream: StreamDescriptor): Buffer {
  const blobs = stream.blobs.map(({ blobHash, blobNum, iv, length }) =>
    objectText([
      ['blob_hash', blobHash],
      ['blob_num', blobNum],
      ['iv', iv],
      ['length', length],
    ]),
  );
  const rest = objectText([
    ['key', stream.key],
    ['stream_hash', stream.streamHash],
    ['stream_name', hexOf(stream.streamName)],
    ['stream_type', 'lbryfile'],
    ['suggested_file_name', hexOf(stream.suggestedFileName)],
  ]);
  return Buffer.from(`{"blobs": [${blobs.join(', ')}], ${rest.slice(1)}`);
}

/**
 * Writes the sd blob with the fields in the order of old releases, in order to rebuild a lost sd blob. Source:
 * `old_sort_json`.
 */
export function oldDescriptorBytes(stream: StreamDescriptor): Buffer {
  const blobs = stream.blobs.map(({ blobHash, blobNum, iv, length }) =>
    objectText([
      ['length', length],
      ['blob_num', blobNum],
      ['blob_hash', blobHash],
      ['iv', iv],
    ]),
  );
  const rest = objectText([
    ['stream_type', 'lbryfile'],
    ['key', stream.key],
    ['suggested_file_name', hexOf(stream.suggestedFileName)],
    ['stream_hash', stream.streamHash],
  ]);
  return Buffer.from(
    `{"stream_name": "${hexOf(stream.streamName)}", "blobs": [${blobs.join(', ')}], ${rest.slice(1)}`,
  );
}

/**
 * Rebuilds a lost sd blob in the order of fields that gives its hash; null if neither the new nor the old order does.
 * Source: `recover`.
 */
export function rebuiltDescriptor(stream: StreamDescriptor, sdHash: string): Buffer | null {
  for (const bytes of [descriptorBytes(stream), oldDescriptorBytes(stream)])
    if (blobHashOf(bytes) === sdHash) return bytes;
  return null;
}

export const invalidDescriptor = (text: string): DaemonError =>
  new DaemonError('InvalidStreamDescriptorError', text);

/**
 * Maximum number of values in a descriptor. An entry has at most four values and at least 60 bytes, so a blob of 2 MiB
 * contains at most 140,000 values. A descriptor with more values is refused before it is parsed, because it would fill the
 * memory.
 */
const MAX_VALUES = 200_000;

/** Whether the text has few values, as shown by the number of commas. Checked before parsing, which takes more memory. */
function hasFewValues(bytes: Uint8Array): boolean {
  let commas = 0;
  for (const byte of bytes) if (byte === 0x2c && ++commas > MAX_VALUES) return false;
  return true;
}

type Members = ReadonlyMap<string, JsonValue>;

const membersOf = (value: JsonValue): Members | null =>
  value instanceof JsonObject ? new Map(value.entries) : null;

function parseMembers(bytes: Uint8Array): Members {
  let members: Members | null;
  if (bytes.length > MAX_BLOB_BYTES) throw invalidDescriptor('Is larger than a blob');
  if (!hasFewValues(bytes)) throw invalidDescriptor('Has more entries than a stream can have');
  try {
    members = membersOf(parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)));
  } catch {
    throw invalidDescriptor('Does not decode as valid JSON');
  }
  if (members === null) throw invalidDescriptor('Is not a JSON object');
  return members;
}

/** Decodes a text from the hexadecimal digits of its UTF-8. */
function hexText(members: Members, name: string): string {
  const value = members.get(name);
  if (typeof value === 'string' && /^(?:[0-9a-f]{2})*$/i.test(value))
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'hex'));
    } catch {
      // Invalid UTF-8 is reported by the error below.
    }
  throw invalidDescriptor(`The field ${name} is not UTF-8 in hexadecimal digits`);
}

function text(members: Members, name: string): string {
  const value = members.get(name);
  if (typeof value !== 'string') throw invalidDescriptor(`The field ${name} is not a string`);
  return value;
}

function entriesOf(members: Members): Members[] {
  const blobs = members.get('blobs');
  const entries = Array.isArray(blobs) ? blobs.map(membersOf) : [null];
  if (entries.every((entry) => entry !== null)) return entries;
  throw invalidDescriptor('The field blobs is not a list of objects');
}

/** The number as Python compares it: `false` is 0 and `true` is 1. Null for other values. */
function numberOf(value: JsonValue | undefined): number | null {
  if (typeof value === 'boolean') return Number(value);
  return value !== undefined && isJsonNumber(value) ? Number(numberText(value)) : null;
}

/** Whether the value is an integer in the form in which the reference writes it into the stream hash. */
const isPlainInteger = (value: JsonValue | undefined): boolean =>
  value !== undefined && isJsonNumber(value) && String(Number(numberText(value))) === numberText(value);

/** Runs the checks of the reference in the order of the reference, so that the first failure has the same error text. */
function checkOrder(entries: readonly Members[]): void {
  const last = entries.at(-1);
  if (last === undefined) throw invalidDescriptor('Has no blobs');
  if (numberOf(last.get('length')) !== 0) throw invalidDescriptor('Does not end with a zero-length blob.');
  if (entries.slice(0, -1).some((entry) => numberOf(entry.get('length')) === 0))
    throw invalidDescriptor('Contains zero-length data blob');
  if (last.has('blob_hash')) throw invalidDescriptor('Stream terminator blob should not have a hash');
  if (entries.some((entry, n) => numberOf(entry.get('blob_num')) !== n))
    throw invalidDescriptor('Stream contains out of order or skipped blobs');
}

function readEntry(entry: Members, blobNum: number): DescriptorBlob {
  const length = numberOf(entry.get('length')) ?? NaN;
  const blobHash = length === 0 ? null : text(entry, 'blob_hash');
  return { blobHash, blobNum, iv: text(entry, 'iv'), length };
}

const isKeyHex = (hex: string): boolean => /^[0-9a-f]{32}$/i.test(hex);

/** Checks that the reference makes only during download or decryption. Throws `InvalidStreamDescriptorError`. */
export function checkValues({ key, blobs }: Pick<StreamDescriptor, 'key' | 'blobs'>): void {
  for (const { blobHash, length } of blobs) {
    if (blobHash !== null && !isBlobHash(blobHash)) throw invalidDescriptor('A data blob has no valid hash');
    const isPossible = length >= 0 && length <= MAX_BLOB_BYTES && length % AES_BLOCK_BYTES === 0;
    if (!isPossible) throw invalidDescriptor('The length of a blob is not that of encrypted data');
  }
  if (![key, ...blobs.map(({ iv }) => iv)].every(isKeyHex))
    throw invalidDescriptor('The key or an initialization vector is not 16 bytes in hexadecimal digits');
}

/**
 * Reads an sd blob. Throws `InvalidStreamDescriptorError` for an invalid descriptor. The error has the reference's text
 * where the reference has one. It is also thrown where the reference's code fails with another exception. Source:
 * `_from_stream_descriptor_blob`.
 */
export function readDescriptor(bytes: Uint8Array): StreamDescriptor {
  const members = parseMembers(bytes);
  const entries = entriesOf(members);
  checkOrder(entries);
  const stream = {
    streamName: hexText(members, 'stream_name'),
    key: text(members, 'key'),
    suggestedFileName: hexText(members, 'suggested_file_name'),
    blobs: entries.map(readEntry),
  };
  const streamHash = members.get('stream_hash');
  const areNumbers = entries.every((entry) =>
    [entry.get('length'), entry.get('blob_num')].every(isPlainInteger),
  );
  // A number in another notation would give another stream hash.
  if (typeof streamHash !== 'string' || !areNumbers || streamHashOf(stream) !== streamHash)
    throw invalidDescriptor('Stream hash does not match stream metadata');
  checkValues(stream);
  return { ...stream, streamHash };
}

/** Lower and upper bound of the size of a stream's file in bytes. Source: `lower_bound_decrypted_length`. */
export function sizeBounds({ blobs }: Pick<StreamDescriptor, 'blobs'>): { lower: number; upper: number } {
  const data = blobs.slice(0, -1);
  const last = data.at(-1);
  // QUIRK: lbry-sdk fails at an empty file.
  if (last === undefined) return { lower: 0, upper: 0 };
  const full = data.slice(0, -1).reduce((sum, { length }) => sum + length - 1, 0);
  return { lower: full + last.length - AES_BLOCK_BYTES, upper: full + last.length };
}
