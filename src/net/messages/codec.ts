/**
 * What the payload of a message is to the rest: parsed from bytes, formatted to bytes. One file a message beside this
 * one; `table.ts` lists them. Owns no limit on counts: those are constants beside the codecs, and the handler of a
 * message punishes what exceeds them. Source: Core net_processing.cpp `ProcessMessage`, protocol.h.
 */
import type { Bytes } from '../../util/bytes.js';
import { Reader, ReadError } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';

/** Bytes of the longest payload. QUIRK: a block may be twice as large, and then cannot be sent. Source: net.h. */
export const MAX_PAYLOAD_BYTES = 4_000_000;

export interface MessageCodec<T> {
  readonly command: string;
  /** Longest payload that is read. The reference knows no limit for single commands, only the one for all. */
  readonly maxSizeBytes: number;
  /**
   * Bytes behind the message are ignored. What is returned may hold views of the reader's bytes. Throws `ReadError`
   * where the reference would not deserialize.
   */
  parse(reader: Reader): T;
  format(writer: Writer, value: T): void;
}

export function parsePayload<T>(codec: MessageCodec<T>, payload: Bytes): T {
  return codec.parse(new Reader(payload));
}

export function formatPayload<T>(codec: MessageCodec<T>, value: T): Buffer {
  const writer = new Writer();
  codec.format(writer, value);
  return writer.finish();
}

/** A message that says all by its command. */
export function emptyCodec(command: string): MessageCodec<null> {
  return {
    command,
    maxSizeBytes: MAX_PAYLOAD_BYTES,
    parse: () => null,
    format: () => undefined,
  };
}

export interface RawMessage {
  /** The whole payload, not parsed. */
  readonly raw: Buffer;
}

/** A message whose payload others parse. */
export function rawCodec(command: string): MessageCodec<RawMessage> {
  return {
    command,
    maxSizeBytes: MAX_PAYLOAD_BYTES,
    parse: (reader) => ({ raw: reader.view(reader.remaining) }),
    format: (writer, { raw }) => void writer.raw(raw),
  };
}

/** A string of one byte a character, so that nothing is lost of what is not UTF-8. Throws `ReadError` above `limit` bytes. */
export function readLimitedString(reader: Reader, limit: number): string {
  const length = reader.compactSize();
  if (length > limit) throw new ReadError('String length limit exceeded');
  return reader.view(length).toString('latin1');
}

export function writeString(writer: Writer, text: string): void {
  writer.varBytes(Buffer.from(text, 'latin1'));
}

/**
 * A count and items of a fixed size. Of more than `limit` one above it is kept, which is enough to tell: no one makes us
 * build a hundred thousand objects in vain. Throws `ReadError` when they are not all there.
 */
export function readItems<T>(reader: Reader, itemSizeBytes: number, limit: number, read: () => T): T[] {
  const count = reader.compactSize();
  const end = reader.offset + count * itemSizeBytes;
  if (end > reader.end) throw new ReadError(`end of data: ${count} items wanted at ${reader.offset}`);
  const items: T[] = [];
  for (let i = 0; i < count && i <= limit; i++) items.push(read());
  reader.offset = end;
  return items;
}
