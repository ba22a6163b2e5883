/** `getindexinfo`: the enabled indexes and the height that each has reached. Source: Bitcoin Core 0.21 rpc/misc.cpp. */
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getIndexInfo = defineMethod({
  name: 'getindexinfo',
  category: 'util',
  explorer: 'page',
  chainUse: 'reads',
  summary: 'Returns the status of one or all available indices currently running in the node.',
  params: [
    { name: 'index_name', type: 'string', description: 'Filter results for an index with a specific name' },
  ],
  result: t.map(
    'index name',
    t.object({
      synced: t.bool('whether the index is at the tip; otherwise it is being built in the background'),
      best_block_height: t.int('the block height to which the index is synced'),
    }),
  ),
  examples: [[], ['"txindex"']],
  run({ services }, { index_name }): JsonOut {
    const shown = services.indexes().filter(({ name }) => index_name === undefined || name === index_name);
    return new Map(shown.map(({ name, synced, height }) => [name, { synced, best_block_height: height }]));
  },
});
