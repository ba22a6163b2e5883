/**
 * `setgenerate`: turns the node's own mining on or off. This node does not mine by itself, so mining can only be turned off.
 * Source: lbcd rpcserver.go `handleSetGenerate`.
 */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const setGenerate = defineMethod({
  name: 'setgenerate',
  category: 'mining',
  chainUse: 'none',
  summary:
    'Turns mining by the node itself on or off. Turning it on returns an error, because the node does ' +
    'not mine by itself; generatetoaddress generates blocks.',
  params: [
    {
      name: 'generate',
      type: 'boolean',
      required: true,
      description: 'Whether to mine; true returns an error',
    },
    {
      name: 'genproclimit',
      type: 'integer',
      default: -1,
      description: 'Number of processors for mining: 0 turns mining off, -1 sets no limit',
    },
  ],
  result: t.none(),
  examples: [['false']],
  profiles: ['lbcd'],
  run({ services: { mining } }, { generate, genproclimit }) {
    if (!generate || genproclimit === 0) return null;
    if (mining.nextPayoutScript() === null)
      throw rpcError(RPC_ERROR.INTERNAL_ERROR, 'No payment addresses specified via --miningaddr');
    throw rpcError(
      RPC_ERROR.INTERNAL_ERROR,
      'The node does not mine by itself. Call generatetoaddress, or connect a miner to getblocktemplate',
    );
  },
});
