/** `getblockfilter`: the compact filter of a block with its header. Source: Core 0.21 rpc/blockchain.cpp. */
import { hashToHex, toHex } from '../../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { findFilter } from './filterAnswers.js';

export const getBlockFilter = defineMethod({
  name: 'getblockfilter',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Retrieves the BIP 157 content filter of a block of the active chain (needs -blockfilterindex).',
  params: [
    { name: 'blockhash', type: 'hash', required: true, description: 'The hash of the block' },
    { name: 'filtertype', type: 'string', default: 'basic', description: 'The type name of the filter' },
  ],
  result: t.object({ filter: t.hex('the filter'), header: t.hash('the filter header') }),
  examples: [['"9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463"', '"basic"']],
  async run({ services }, { blockhash, filtertype }) {
    if (filtertype !== 'basic') throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Unknown filtertype');
    const found = await findFilter(services, blockhash, () =>
      rpcError(RPC_ERROR.MISC_ERROR, `Index is not enabled for filtertype ${filtertype}`),
    );
    if (found !== null) return { filter: toHex(found.filter), header: hashToHex(found.header) };
    throw rpcError(
      RPC_ERROR.INVALID_ADDRESS_OR_KEY,
      'Filter not found. The block is unknown or not in the active chain.',
    );
  },
});
