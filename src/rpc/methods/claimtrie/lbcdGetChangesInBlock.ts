/** lbcd's `getchangesinblock`: the names that a block touched, in byte order. */
import { hashToHex } from '../../../util/bytes.js';
import { nameTextWithReplacements } from '../../format/claimsText.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';
import { retryWhileGone } from './atBlock.js';
import { HASH_OR_HEIGHT_PARAM, lbcdBlock } from './lbcdBlock.js';

export const lbcdGetChangesInBlock = defineMethod({
  name: 'getchangesinblock',
  category: 'claimtrie',
  summary: 'Returns the names whose claims, supports or ownership a block changed.',
  params: [HASH_OR_HEIGHT_PARAM],
  result: t.object({
    hash: t.hash('the block that the answer is about'),
    height: t.int('its height'),
    names: t.array(t.str('a name'), 'in byte order'),
  }),
  examples: [[], ['"125"']],
  profiles: ['lbcd'],
  run({ services }, { hashorheight }) {
    const { claims, chain } = services;
    const named = (): ReturnType<typeof lbcdBlock> => lbcdBlock(services, hashorheight);
    return retryWhileGone(services, named, async ({ id, height }) => {
      const { names } = await claims.changesIn(height);
      return {
        hash: hashToHex(chain.headers.hash(id)),
        height,
        names: [...names].sort(Buffer.compare).map(nameTextWithReplacements),
      };
    });
  },
});
