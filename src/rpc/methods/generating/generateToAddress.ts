/**
 * `generatetoaddress`: mines blocks that pay to an address. Source: lbrycrd rpc/mining.cpp `generatetoaddress`,
 * `generateBlocks`.
 */
import { MiningError } from '../../../mining/miner.js';
import { decodeDestination } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { hashToHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const generateToAddress = defineMethod({
  name: 'generatetoaddress',
  category: 'generating',
  summary: 'Mine blocks immediately to a specified address (before the RPC call returns).',
  params: [
    {
      name: 'nblocks',
      type: 'integer',
      required: true,
      description: 'How many blocks are generated immediately',
    },
    {
      name: 'address',
      type: 'string',
      required: true,
      description: 'The address to send the newly generated coins to',
    },
    { name: 'maxtries', type: 'integer', default: 1_000_000, description: 'How many iterations to try' },
  ],
  result: t.array(t.hash('hash of a generated block')),
  examples: [['11', '"myaddress"']],
  async run({ services: { mining, params }, signal }, { nblocks, address, maxtries }) {
    const destination = decodeDestination(address, addressPrefixes(params));
    if (destination === null) {
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Error: Invalid address');
    }
    // The reference converts a negative number to a very large unsigned number.
    const tries = maxtries < 0 ? Infinity : maxtries;
    try {
      const hashes = await mining.generate(scriptForDestination(destination), nblocks, tries, signal);
      return hashes.map(hashToHex);
    } catch (error) {
      if (error instanceof MiningError) throw rpcError(RPC_ERROR.INTERNAL_ERROR, error.message);
      throw error;
    }
  },
});
