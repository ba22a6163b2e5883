/** `getindexinfo`: which indexes run, and how far they are. Source: Bitcoin Core 0.21 rpc/misc.cpp. */
import type { JsonOut } from '../../../util/jsonWrite.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';

export const getIndexInfo = defineMethod({
  name: 'getindexinfo',
  category: 'util',
  summary: 'Returns the status of one or all available indices currently running in the node.',
  params: [
    { name: 'index_name', type: 'string', description: 'Filter results for an index with a specific name' },
  ],
  result: t.map(
    'index name',
    t.object({
      synced: t.bool('whether the index is at the tip'),
      best_block_height: t.int('the block height to which the index is synced'),
    }),
  ),
  examples: [[], ['"txindex"']],
  run({ services: { chain, txIndex, addresses } }, { index_name }) {
    // Indexes are written in the commit of each block: one that exists is never behind.
    const status: JsonOut = { synced: true, best_block_height: chain.chain.height };
    const running = [...(txIndex ? ['txindex'] : []), ...(addresses ? ['addressindex'] : [])];
    const shown = running.filter((name) => index_name === undefined || name === index_name);
    return new Map(shown.map((name) => [name, status]));
  },
});
