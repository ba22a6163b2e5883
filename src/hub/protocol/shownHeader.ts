/** Formats headers for subscribers. */
import { formatHeader, type BlockHeader } from '../../primitives/header.js';
import { hashToHex, toHex } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';

/** A header in the format of Electrum servers, with the claim root. */
export function decodedHeader(header: BlockHeader, height: number): JsonOut {
  return {
    version: header.version >>> 0,
    prev_block_hash: hashToHex(header.prevHash),
    merkle_root: hashToHex(header.merkleRoot),
    claim_trie_root: hashToHex(header.claimRoot),
    timestamp: header.timeSec,
    bits: header.bits,
    nonce: header.nonce,
    block_height: height,
  };
}

/** Formats a header as `raw` or `decoded`, whichever the client has subscribed to. */
export function headerJson(header: BlockHeader, height: number, form: 'raw' | 'decoded'): JsonOut {
  return form === 'decoded' ? decodedHeader(header, height) : { hex: toHex(formatHeader(header)), height };
}
