/**
 * Codec of the version message, the first message of each side. Fields after the receiver's address are optional, because
 * very old versions do not send them. Source: Core net_processing.cpp `ProcessMessage` (version), `PushNodeVersion`.
 */
import { readNetAddress, writeNetAddress, NO_ADDRESS, type NetAddress } from '../netAddress.js';
import { MAX_PAYLOAD_BYTES, readLimitedString, writeString, type MessageCodec } from './codec.js';

/** Maximum length of a user agent in bytes. A message with a longer user agent is malformed. */
export const MAX_USER_AGENT_LENGTH = 256;

export interface VersionMessage {
  /** Protocol version, signed 32-bit. */
  readonly version: number;
  readonly services: bigint;
  /** Unix time of the sender's clock; signed 64-bit. */
  readonly timeSec: bigint;
  /** Address of the receiver as seen by the sender. */
  readonly receiver: NetAddress;
  readonly receiverServices: bigint;
  /** Address of the sender. Unused; `NO_ADDRESS` when absent. */
  readonly sender: NetAddress;
  readonly senderServices: bigint;
  /** Random number by which a node detects a connection to itself; 1 when absent. */
  readonly nonce: bigint;
  /** User agent, latin1; empty when absent. */
  readonly userAgent: string;
  /** Block height of the sender; −1 when absent. */
  readonly startHeight: number;
  /** Whether the sender wants transactions even before it sets a bloom filter (BIP37); true when absent. */
  readonly relay: boolean;
}

/**
 * QUIRK: the reference treats protocol version 10300 as 300. Source: `ProcessMessage`. Test:
 * test/unit/net/messages/codecs.test.ts.
 */
const MISWRITTEN_300 = 10_300;

export const versionCodec: MessageCodec<VersionMessage> = {
  command: 'version',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse(reader) {
    const version = reader.i32();
    const services = reader.u64();
    const timeSec = reader.i64();
    const receiverServices = reader.u64();
    const receiver = readNetAddress(reader);
    let [sender, senderServices, nonce] = [NO_ADDRESS, 0n, 1n];
    if (reader.remaining > 0) {
      senderServices = reader.u64();
      sender = readNetAddress(reader);
      nonce = reader.u64();
    }
    return {
      version: version === MISWRITTEN_300 ? 300 : version,
      services,
      timeSec,
      receiver,
      receiverServices,
      sender,
      senderServices,
      nonce,
      userAgent: reader.remaining > 0 ? readLimitedString(reader, MAX_USER_AGENT_LENGTH) : '',
      startHeight: reader.remaining > 0 ? reader.i32() : -1,
      relay: reader.remaining > 0 ? reader.u8() !== 0 : true,
    };
  },
  format(writer, message) {
    writer.i32(message.version).u64(message.services).i64(message.timeSec);
    writer.u64(message.receiverServices);
    writeNetAddress(writer, message.receiver);
    writer.u64(message.senderServices);
    writeNetAddress(writer, message.sender);
    writer.u64(message.nonce);
    writeString(writer, message.userAgent);
    writer.i32(message.startHeight).u8(message.relay ? 1 : 0);
  },
};
