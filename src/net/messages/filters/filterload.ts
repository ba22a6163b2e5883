/** Sets a bloom filter for relayed transactions (BIP37). `BloomFilter` checks its limits. Source: Core bloom.h. */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

export interface FilterLoadMessage {
  readonly data: Buffer;
  readonly hashFunctions: number;
  /** Added to the seed of each hash; unsigned 32-bit. */
  readonly tweak: number;
  /** `BLOOM_UPDATE` in the lower two bits. */
  readonly flags: number;
}

export const filterloadCodec: MessageCodec<FilterLoadMessage> = {
  command: 'filterload',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse: (reader) => ({
    data: reader.varBytes(),
    hashFunctions: reader.u32(),
    tweak: reader.u32(),
    flags: reader.u8(),
  }),
  format: (writer, { data, hashFunctions, tweak, flags }) =>
    void writer.varBytes(data).u32(hashFunctions).u32(tweak).u8(flags),
};
