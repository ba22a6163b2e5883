/**
 * Codec of the addr message: node addresses with the times at which the nodes were last seen. Source: Core protocol.h
 * `ADDR`, `CAddress`.
 */
import { readNetAddress, writeNetAddress, type NetAddress } from '../netAddress.js';
import { MAX_PAYLOAD_BYTES, readItems, type MessageCodec } from './codec.js';

/** Maximum number of addresses in an addr message. A peer that sends more gets 20 misbehaviour points. */
export const MAX_ADDRESSES = 1000;
const ENTRY_SIZE = 30;

export interface AddressEntry {
  /** Unsigned 32-bit. */
  readonly timeSec: number;
  readonly services: bigint;
  readonly address: NetAddress;
}

export interface AddrMessage {
  /** Received entries. At most `MAX_ADDRESSES` + 1 are parsed; the extra entry shows that the message was too long. */
  readonly addresses: readonly AddressEntry[];
}

export const addrCodec: MessageCodec<AddrMessage> = {
  command: 'addr',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({
    addresses: readItems(reader, ENTRY_SIZE, MAX_ADDRESSES, () => ({
      timeSec: reader.u32(),
      services: reader.u64(),
      address: readNetAddress(reader),
    })),
  }),
  format(writer, { addresses }) {
    writer.compactSize(addresses.length);
    for (const { timeSec, services, address } of addresses) {
      writer.u32(timeSec).u64(services);
      writeNetAddress(writer, address);
    }
  },
};
