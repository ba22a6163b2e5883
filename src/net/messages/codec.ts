/**
 * Interface of message codecs, which parse and format payloads. Each message has a file in this folder; `table.ts` lists
 * them. Limits of counts are constants in these files; the message handler punishes peers that exceed them. Source: Core
 * net_processing.cpp `ProcessMessage`, protocol.h.
 */
import type { Bytes } from '../../util/bytes.js';
import { Reader, ReadError } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';

/**
 * Maximum payload size in bytes. QUIRK: a block may be twice as large, and cannot be sent to peers in this case. Source:
 * net.h.
 */
export const MAX_PAYLOAD_BYTES = 4_000_000;

export interface MessageCodec<T> {
  readonly command: string;
  /** Maximum size in bytes of a received payload of this command. The reference has one limit for all commands. */
  readonly maxSizeBytes: number;
  /**
   * Parses a payload. Extra bytes at the end are ignored. The result may reference the reader's buffer. Throws `ReadError`
   * if the reference cannot deserialize the payload.
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

/** Creates the codec of a message without payload. */
export function emptyCodec(command: string): MessageCodec<null> {
  return {
    command,
    maxSizeBytes: MAX_PAYLOAD_BYTES,
    parse: () => null,
    format: () => undefined,
  };
}

export interface RawMessage {
  /** The whole payload as received, unparsed. */
  readonly raw: Buffer;
}

/** Creates the codec of a message whose payload stays unparsed. */
export function rawCodec(command: string): MessageCodec<RawMessage> {
  return {
    command,
    maxSizeBytes: MAX_PAYLOAD_BYTES,
    parse: (reader) => ({ raw: reader.view(reader.remaining) }),
    format: (writer, { raw }) => void writer.raw(raw),
  };
}

/**
 * Reads a string as latin1, which preserves bytes that are not valid UTF-8. Throws `ReadError` if the length exceeds `limit`
 * bytes.
 */
export function readLimitedString(reader: Reader, limit: number): string {
  const length = reader.compactSize();
  if (length > limit) throw new ReadError('String length limit exceeded');
  return reader.view(length).toString('latin1');
}

export function writeString(writer: Writer, text: string): void {
  writer.varBytes(Buffer.from(text, 'latin1'));
}

/**
 * Reads a count and that number of items of fixed size. Returns at most `limit` + 1 items; the extra item shows that the
 * limit is exceeded. This limits the number of objects that a peer can make this node create. Throws `ReadError` if the
 * payload has fewer items than its count.
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
