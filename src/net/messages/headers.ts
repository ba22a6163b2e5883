/**
 * Codec of the headers message: consecutive block headers, each followed by an unused transaction count. Source: Core
 * protocol.h `HEADERS`.
 */
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

/** Maximum number of headers in a headers message. A peer that sends more gets 20 misbehaviour points. */
export const MAX_HEADERS = 2000;

export interface HeadersMessage {
  /** Serialized headers, 112 bytes each. */
  readonly headers: readonly Buffer[];
  /** Number of headers that the message announces, if it exceeds `MAX_HEADERS`. The headers are not parsed in this case. */
  readonly tooMany?: number;
}

export const headersCodec: MessageCodec<HeadersMessage> = {
  command: 'headers',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse(reader) {
    const count = reader.compactSize();
    if (count > MAX_HEADERS) return { headers: [], tooMany: count };
    const headers: Buffer[] = [];
    for (let i = 0; i < count; i++) {
      headers.push(reader.view(HEADER_SIZE_BYTES));
      reader.compactSize();
    }
    return { headers };
  },
  format(writer, { headers }) {
    writer.compactSize(headers.length);
    for (const header of headers) writer.raw(header).compactSize(0);
  },
};
