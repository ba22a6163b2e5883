/** `submitblock`: hands a block to the chain. Source: lbrycrd rpc/mining.cpp, BIP22. */
import { loadBlock, type LoadedBlock } from '../../../chain/loadedBlock.js';
import { startsWithCoinbase } from '../../../mining/submitBlock.js';
import { fromHex, isHex } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';
import { RPC_ERROR, rpcError } from '../../errors.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';

/** Source: `DecodeHexBlk`; what follows the block is ignored. */
function decodeBlock(text: string): LoadedBlock | null {
  if (text === '' || !isHex(text)) return null;
  try {
    return loadBlock(fromHex(text));
  } catch (error) {
    if (error instanceof ReadError) return null;
    throw error;
  }
}

export const submitBlock = defineMethod({
  name: 'submitblock',
  category: 'mining',
  summary:
    'Attempts to submit new block to network.\nSee https://en.bitcoin.it/wiki/BIP_0022 for full specification.',
  params: [
    {
      name: 'hexdata',
      type: 'string',
      required: true,
      description: 'The hex-encoded block data to submit',
    },
    {
      name: 'dummy',
      type: 'any',
      cli: 'string',
      description: 'Dummy value, for compatibility with BIP22. This value is ignored',
    },
  ],
  result: t.union([
    { when: 'when the block is accepted and the tip', schema: t.none() },
    {
      when: 'otherwise',
      schema: t.str(
        '"duplicate" it is known already, "duplicate-invalid" and known to be wrong, "inconclusive" stored but not on ' +
          'the active chain, "invalid" refused, or the reason for which it could not be connected',
      ),
    },
  ]),
  examples: [['"mydata"']],
  run({ services: { mining } }, { hexdata }) {
    const block = decodeBlock(hexdata);
    if (block === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'Block decode failed');
    if (!startsWithCoinbase(block)) {
      throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'Block does not start with a coinbase');
    }
    return mining.submit(block);
  },
});
