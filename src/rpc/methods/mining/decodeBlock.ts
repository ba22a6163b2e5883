/** Reading a block that a miner sends. */
import { loadBlock, type LoadedBlock } from '../../../chain/loadedBlock.js';
import { fromHex, isHex } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';
import { RPC_ERROR, rpcError } from '../../errors.js';

/** Throws -22 where the text is no block; what follows the block is ignored. Source: `DecodeHexBlk`. */
export function decodeBlock(text: string): LoadedBlock {
  try {
    if (text !== '' && isHex(text)) return loadBlock(fromHex(text));
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
  }
  throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'Block decode failed');
}
