/** Decodes a block that a miner submits. */
import { loadLargeBlock, type LoadedBlock } from '../../../chain/blocks/loadedBlock.js';
import { decodeHexInSlices } from '../../../util/text/hexSlices.js';
import { ReadError } from '../../../util/reader.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';

/**
 * Decodes a block from hex. Throws error -22 if the text is not a block. Extra bytes after the block are ignored. Source:
 * `DecodeHexBlk`.
 */
export async function decodeBlock(text: string): Promise<LoadedBlock> {
  const bytes = text === '' ? null : await inSlices(decodeHexInSlices(text));
  try {
    if (bytes !== null) return await loadLargeBlock(bytes);
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
  }
  throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'Block decode failed');
}
