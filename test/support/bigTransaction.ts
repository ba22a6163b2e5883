/** Serialized transactions of any number of equal parts. */
import { Writer } from '../../src/util/writer.js';

export interface Parts {
  readonly inputs?: number;
  readonly outputs?: number;
  readonly scriptSig?: Buffer;
  readonly script?: Buffer;
  /** The witness of each input. */
  readonly witness?: readonly Buffer[];
}

const EMPTY = Buffer.alloc(0);

export function bigTransaction({ inputs = 1, outputs = 1, scriptSig, script, witness }: Parts): Buffer {
  const writer = new Writer(1 << 20).i32(2);
  if (witness) writer.u8(0).u8(1);
  writer.compactSize(inputs);
  const hash = Buffer.alloc(32);
  for (let n = 0; n < inputs; n++) {
    hash.writeUInt32BE(n + 1);
    writer
      .raw(hash)
      .u32(0)
      .varBytes(scriptSig ?? EMPTY)
      .u32(0xffffffff);
  }
  writer.compactSize(outputs);
  for (let n = 0; n < outputs; n++) writer.i64(1000n).varBytes(script ?? EMPTY);
  for (let n = 0; witness !== undefined && n < inputs; n++) {
    writer.compactSize(witness.length);
    for (const item of witness) writer.varBytes(item);
  }
  return writer.u32(0).finish();
}
