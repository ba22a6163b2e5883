/** Sequences of connected headers without blocks. They are valid on regtest, where every header has the minimum difficulty. */
import { decodeCompact } from '../../src/primitives/compactTarget.js';
import { grind } from '../../src/mining/grind.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatHeader, headerHash, parseHeaderBytes } from '../../src/primitives/header.js';
import { NULL_HASH } from '../../src/primitives/transaction.js';

export const GENESIS_HEADER = regtestParams.genesis.block.subarray(0, 112);
/** Work of one header. */
export const HEADER_WORK = 2n;
const NONCE_OFFSET = 108;

export interface HeaderRowOptions {
  /** The 112 bytes of the header before the first one. */
  after?: Buffer;
  /** Sequences with different marks have different headers. */
  mark?: number;
  /** Whether the headers have valid proof of work, which takes time to compute. */
  withWork?: boolean;
}

/** Finds the proof of work that the bits of the header require. */
export async function sealHeader(bytes: Buffer): Promise<Buffer> {
  const { target } = decodeCompact(parseHeaderBytes(bytes).bits);
  bytes.writeUInt32LE(await grind(bytes, target, 1 << 20, new AbortController().signal), NONCE_OFFSET);
  return bytes;
}

export async function makeHeaders(count: number, options: HeaderRowOptions = {}): Promise<Buffer[]> {
  const { after = GENESIS_HEADER, mark = 0, withWork = true } = options;
  const first = parseHeaderBytes(after);
  const headers: Buffer[] = [];
  let prevHash = headerHash(after);
  for (let i = 1; i <= count; i++) {
    const header = {
      version: 0x20000000,
      prevHash,
      merkleRoot: Buffer.alloc(32, mark),
      claimRoot: NULL_HASH,
      timeSec: first.timeSec + i,
      bits: first.bits,
      nonce: 0,
    };
    const bytes = formatHeader(header);
    if (withWork) await sealHeader(bytes);
    headers.push(bytes);
    prevHash = headerHash(bytes);
  }
  return headers;
}
