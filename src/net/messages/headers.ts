/** Headers in a row, each followed by a number of transactions that means nothing. Source: Core protocol.h `HEADERS`. */
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';

/** Headers of one message; more cost 20 points. */
export const MAX_HEADERS = 2000;

export interface HeadersMessage {
  /** 112 bytes each. */
  readonly headers: readonly Buffer[];
  /** How many were announced, when that was more than `MAX_HEADERS`: none of them is read then. */
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
