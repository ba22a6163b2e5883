/**
 * Codec of the filterload message: the bloom filter for transactions that the sender wants (BIP37). `BloomFilter` checks the
 * limits of the filter. Source: Core bloom.h.
 */
import { MAX_PAYLOAD_BYTES, type MessageCodec } from '../codec.js';

export interface FilterLoadMessage {
  readonly data: Buffer;
  readonly hashFunctions: number;
  /** Value added to the seed of each hash function of the filter; unsigned 32-bit. */
  readonly tweak: number;
  /** Bits 0 and 1 are a value of `BLOOM_UPDATE`. */
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
