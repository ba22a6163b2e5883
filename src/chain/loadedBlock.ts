/** A block as the chain handles it: its bytes, the offset table over them, its header and its id. */
import { headerHash, parseHeaderBytes, HEADER_SIZE_BYTES, type BlockHeader } from '../primitives/header.js';
import { formatBlock, parseBlockBytes } from '../primitives/block.js';
import { parseBlockView, type ParsedBlock } from '../primitives/blockView.js';
import { ReadError } from '../util/reader.js';

export interface LoadedBlock {
  raw: Buffer;
  parsed: ParsedBlock;
  header: BlockHeader;
  /** Wire order. */
  hash: Buffer;
  /** How many of the bytes it was parsed from belong to it. */
  consumedBytes: number;
}

/**
 * Parses block bytes; throws `ReadError` when they are no block. Bytes behind the block are ignored, and a block in
 * another than the canonical form (a witness marker without witness) is brought into it, as the reference does by
 * deserializing and serializing.
 */
export function loadBlock(bytes: Buffer): LoadedBlock {
  let raw = bytes;
  let parsed = parseBlockView(raw);
  const { consumedBytes } = parsed;
  if (parsed.sizeBytes !== parsed.consumedBytes) {
    raw = Buffer.from(formatBlock(parseBlockBytes(raw)));
    parsed = parseBlockView(raw);
    // Outputs without inputs read back as a witness marker: there is no form in which such a block could be stored.
    if (parsed.consumedBytes !== raw.length || parsed.sizeBytes !== raw.length) {
      throw new ReadError('a transaction without inputs has outputs');
    }
  } else if (parsed.consumedBytes !== raw.length) {
    raw = raw.subarray(0, parsed.consumedBytes);
  }
  const hash = headerHash(raw.subarray(0, HEADER_SIZE_BYTES));
  return { raw, parsed, header: parseHeaderBytes(raw), hash, consumedBytes };
}
