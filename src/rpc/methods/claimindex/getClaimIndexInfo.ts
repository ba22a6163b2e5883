/** `getclaimindexinfo`: how far the claim index is, and what is in it. */
import { RPC_ERROR, rpcError } from '../../errors.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';

export const getClaimIndexInfo = defineMethod({
  name: 'getclaimindexinfo',
  category: 'claimindex',
  summary: 'Returns how far the claim index is and what is in it (needs -claimindex).',
  params: [],
  result: t.object({
    synced: t.bool('whether it is at the tip; else it is being filled in the background'),
    height: t.int('the height of the last block in it'),
    tip_height: t.int('the height of the latest block of the chain'),
    progress: t.num('the share of the transactions that is in it, from 0 to 1'),
    failure: t.optional(t.str('why it does not get further'), 'when it does not'),
    size_on_disk: t.int('about how many bytes it takes in the database'),
    claims: t.optional(
      t.object({
        total: t.int('live claims'),
        streams: t.int('of these, streams'),
        channels: t.int('channels'),
        collections: t.int('collections'),
        reposts: t.int('reposts'),
        unknown: t.int('claims whose value says no kind or cannot be decoded'),
      }),
      'when it is at the tip',
    ),
  }),
  examples: [[]],
  async run({ services }) {
    const { claimIndex, chain, indexes } = services;
    const status = indexes().find(({ name }) => name === 'claimindex');
    if (claimIndex === null || status === undefined)
      throw rpcError(
        RPC_ERROR.MISC_ERROR,
        'The claim index is not enabled. Start with -claimindex to use it',
      );
    const { synced, height, failure } = status;
    const { headers, chain: core } = chain;
    const countAt = (at: number): number => headers.chainTxCount(core.index.active.at(at));
    const totals = synced ? await claimIndex.totals() : null;
    return {
      synced,
      height,
      tip_height: core.height,
      progress: synced ? 1 : Math.min(1, countAt(height) / Math.max(1, countAt(core.height))),
      ...(failure === null ? {} : { failure }),
      size_on_disk: await claimIndex.sizeOnDisk(),
      ...(totals && {
        claims: {
          total: Object.values(totals).reduce((sum, count) => sum + count, 0),
          streams: totals.stream,
          channels: totals.channel,
          collections: totals.collection,
          reposts: totals.repost,
          unknown: totals.unknown,
        },
      }),
    };
  },
});
