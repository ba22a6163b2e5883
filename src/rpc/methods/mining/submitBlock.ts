/** `submitblock`: submits a block to the chain. Source: lbrycrd rpc/mining.cpp, BIP22. */
import { startsWithCoinbase } from '../../../mining/submitBlock.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { decodeBlock } from './decodeBlock.js';

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
    { when: 'if the block is accepted and is the new tip', schema: t.none() },
    {
      when: 'otherwise',
      schema: t.str(
        '"duplicate": already known; "duplicate-invalid": known and invalid; "inconclusive": stored but not ' +
          'on the active chain; "invalid": rejected; otherwise the reason why it could not be connected. In ' +
          'the lbcd profile the text begins with "rejected: ", and "inconclusive" is null',
      ),
    },
  ]),
  examples: [['"mydata"']],
  async run({ services: { mining }, profile }, { hexdata }) {
    const block = await decodeBlock(hexdata);
    if (!startsWithCoinbase(block)) {
      throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'Block does not start with a coinbase');
    }
    const reason = await mining.submit(block);
    // lbcd also accepts a block on a side branch, and writes `rejected: ` before the reason.
    if (profile !== 'lbcd') return reason;
    return reason === null || reason === 'inconclusive' ? null : `rejected: ${reason}`;
  },
});
