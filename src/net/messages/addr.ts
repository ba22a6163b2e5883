/** Addresses of nodes with their last seen times. Source: Core protocol.h `ADDR`, `CAddress`. */
import { readNetAddress, writeNetAddress, type NetAddress } from '../netAddress.js';
import { MAX_PAYLOAD_BYTES, readItems, type MessageCodec } from './codec.js';

/** Maximum number of addresses in a message; more cost 20 points. */
export const MAX_ADDRESSES = 1000;
const ENTRY_SIZE = 30;

export interface AddressEntry {
  /** Unsigned 32-bit. */
  readonly timeSec: number;
  readonly services: bigint;
  readonly address: NetAddress;
}

export interface AddrMessage {
  /** At most `MAX_ADDRESSES` + 1 entries, however many were received. */
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
