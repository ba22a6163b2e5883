/** `getbestblock`: id and height of the tip. Source: lbcd rpcserver.go. */
import { hashToHex } from '../../../util/bytes.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getBestBlock = defineMethod({
  name: 'getbestblock',
  category: 'blockchain',
  chainUse: 'reads',
  summary: 'Returns the hash and the height of the tip of the active chain.',
  params: [],
  result: t.object({ hash: t.hash('the block hash'), height: t.int('the height of the block') }),
  examples: [[]],
  profiles: ['lbcd'],
  run: ({ services: { chain } }) => ({
    hash: hashToHex(chain.headers.hash(chain.chain.tip)),
    height: chain.chain.height,
  }),
});
