/**
 * Codec of the getblocks message, which requests an inv of the blocks after the last common block. Source: Core protocol.h `GETBLOCKS`, primitives/block.h `CBlockLocator`.
 */
import type { Reader } from '../../util/reader.js';
import type { Writer } from '../../util/writer.js';
import { MAX_PAYLOAD_BYTES, readItems, type MessageCodec } from './codec.js';

/** Maximum number of hashes in a locator; a peer that sends more is disconnected. */
export const MAX_LOCATOR_HASHES = 101;
const HASH_SIZE = 32;

export interface LocatorMessage {
  /** Protocol version of the sender, signed 32-bit; ignored. */
  readonly version: number;
  /**
   * Block ids from the tip downwards, at growing distances; 32 bytes each, wire order. At most `MAX_LOCATOR_HASHES` + 1 are
   * parsed; the extra one shows that the locator was too long.
   */
  readonly locator: readonly Buffer[];
  /** Id of the last requested block. All zeros request as many blocks as the receiver may send. */
  readonly stopHash: Buffer;
}

export function readLocatorMessage(reader: Reader): LocatorMessage {
  const version = reader.i32();
  const locator = readItems(reader, HASH_SIZE, MAX_LOCATOR_HASHES, () => reader.hash());
  return { version, locator, stopHash: reader.hash() };
}

export function writeLocatorMessage(writer: Writer, { version, locator, stopHash }: LocatorMessage): void {
  writer.i32(version).compactSize(locator.length);
  for (const hash of locator) writer.raw(hash);
  writer.raw(stopHash);
}

export const getblocksCodec: MessageCodec<LocatorMessage> = {
  command: 'getblocks',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: readLocatorMessage,
  format: writeLocatorMessage,
};
