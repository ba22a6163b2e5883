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
    'Returns the claims and supports that a block added to the claim trie, and those that expired in it. ' +
    'Compare with their activation height to determine which of them became active in the block. Each ' +
    'entry has the id that a new claim in its output would have; for an update or a support this differs ' +
    'from the claim id in its script.',
  params: [blockParam('blockhash (optional parameter)')],
  result: t.object({
    claimsAddedOrUpdated: t.array(t.claimId('the id of a claim'), 'claims that were added'),
    claimsRemoved: t.array(t.claimId('the id of a claim'), 'claims that expired'),
    supportsAddedOrUpdated: t.array(t.claimId('a support'), 'supports that were added'),
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
