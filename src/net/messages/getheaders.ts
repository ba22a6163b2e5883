/** Requests the headers after the last common one. Source: Core protocol.h `GETHEADERS`. */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';
import { readLocatorMessage, writeLocatorMessage, type LocatorMessage } from './getblocks.js';

export const getheadersCodec: MessageCodec<LocatorMessage> = {
  command: 'getheaders',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: readLocatorMessage,
  format: writeLocatorMessage,
};
