/**
 * Codec of the filteradd message, which adds an item to the sender's bloom filter (BIP37). Source: Core net_processing.cpp
 * `ProcessMessage` (filteradd).
 */
import { MAX_SCRIPT_ELEMENT_SIZE } from '../../../script/script.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

/**
 * Maximum size of a filter item in bytes: that of a script element, which is 520 bytes in Bitcoin. A peer that sends a
 * longer item gets 100 misbehaviour points.
 */
export const MAX_FILTER_ITEM_SIZE = MAX_SCRIPT_ELEMENT_SIZE;

export interface FilterAddMessage {
  readonly data: Buffer;
}

export const filteraddCodec: MessageCodec<FilterAddMessage> = {
  command: 'filteradd',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({ data: reader.varBytes() }),
  format: (writer, { data }) => void writer.varBytes(data),
};
