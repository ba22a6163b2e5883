/**
 * `getchangesinblock`: items that entered the trie and items that expired in a block. For lbcd's clients see
 * `lbcdGetChangesInBlock.ts`.
 */
import type { Bytes } from '../../../util/bytes.js';
import { hashToHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { atBlock, blockParam } from './atBlock.js';

const ids = (list: readonly Bytes[]): string[] => list.map(hashToHex);

export const getChangesInBlock = defineMethod({
  name: 'getchangesinblock',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the list of claims and supports that entered the trie in a block, and of those that expired in it. Use it ' +
    'to determine which of them went live in a given block. Each one is named by the id that a claim made at its ' +
    'output would have: for an update or a support that is not the claim id which it carries.',
  params: [blockParam('blockhash (optional parameter)')],
  result: t.object({
    claimsAddedOrUpdated: t.array(t.claimId('a claim'), 'claims that entered'),
    claimsRemoved: t.array(t.claimId('a claim'), 'claims that expired'),
    supportsAddedOrUpdated: t.array(t.claimId('a support'), 'supports that entered'),
    supportsRemoved: t.array(t.claimId('a support'), 'supports that expired'),
  }),
  examples: [[]],
  profiles: ['documented', 'lbrycrd'],
  run({ services }, { blockhash }) {
    return atBlock(services, blockhash, async ({ height }) => {
      if (height === 0) {
        throw rpcError(RPC_ERROR.INTERNAL_ERROR, 'Unable to read the undo block for height 0');
      }
      const changes = await services.claims.changesIn(height);
      return {
        claimsAddedOrUpdated: ids(changes.claimsAddedOrUpdated),
        claimsRemoved: ids(changes.claimsRemoved),
        supportsAddedOrUpdated: ids(changes.supportsAddedOrUpdated),
        supportsRemoved: ids(changes.supportsRemoved),
      };
    });
  },
});
