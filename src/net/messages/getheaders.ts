/**
 * Codec of the getheaders message, which requests the headers after the last common block. Source: Core protocol.h
 * `GETHEADERS`.
 */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from './codec.js';
import { readLocatorMessage, writeLocatorMessage, type LocatorMessage } from './getblocks.js';

export const getheadersCodec: MessageCodec<LocatorMessage> = {
  command: 'getheaders',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: readLocatorMessage,
  format: writeLocatorMessage,
};
