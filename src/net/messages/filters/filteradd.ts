/** Adds an item to the filter (BIP37). Source: Core net_processing.cpp `ProcessMessage` (filteradd). */
import { MAX_SCRIPT_ELEMENT_SIZE } from '../../../script/script.js';
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

/** Maximum size of an item: that of a script element, 520 bytes in Bitcoin. A longer one costs 100 points. */
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
