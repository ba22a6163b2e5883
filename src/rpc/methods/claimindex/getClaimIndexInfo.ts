/** `getclaimindexinfo`: the position and the contents of the claim index. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getClaimIndexInfo = defineMethod({
  name: 'getclaimindexinfo',
  category: 'claimindex',
  explorer: 'page',
  chainUse: 'reads',
  summary: 'Returns the progress and the contents of the claim index (needs -claimindex).',
  params: [],
  result: t.object({
    synced: t.bool('whether the index is at the tip; otherwise it is being built in the background'),
    height: t.int('the height of the last block in the index'),
    tip_height: t.int('the height of the tip'),
    progress: t.num('the share of the transactions that is indexed, from 0 to 1'),
    failure: t.optional(t.str('the error that stopped the index'), 'if an error stopped it'),
    size_on_disk: t.int('approximate size in the database in bytes'),
    claims: t.optional(
      t.object({
        total: t.int('number of existing claims'),
        streams: t.int('number of these that are streams'),
        channels: t.int('channels'),
        collections: t.int('collections'),
        reposts: t.int('reposts'),
        unknown: t.int('number of claims whose value has no type or cannot be decoded'),
      }),
      'if the index is at the tip',
    ),
    search: t.optional(
      t.object({
        synced: t.bool('whether the search index is at the tip'),
        height: t.int('the height of the last block in the search index; -1 until it is built'),
        documents: t.int('number of claims in the search index'),
        building: t.optional(
          t.object({
            claims: t.int('number of claims read so far'),
            stage: t.str('step of the build: "claims", "scores" or "indexes"'),
          }),
          'while the search index is being built',
        ),
        failure: t.optional(t.str('the error that stopped the index'), 'if an error stopped it'),
        backend: t.str('the database of the search index'),
        running: t.int('number of running searches'),
        waiting: t.int('number of queued searches'),
        searches: t.int('number of searches since the start that were not answered from the cache'),
        timeouts: t.int('number of these that were aborted by a timeout'),
      }),
      'with -claimsearch',
    ),
  }),
  examples: [[]],
  async run({ services }) {
    const { claimIndex, claimSearch, chain, indexes } = services;
    const search = claimSearch?.status();
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
      ...(search && {
        search: {
          synced: search.tip?.height === core.height,
          height: search.tip?.height ?? -1,
          documents: search.documents,
          ...(search.building && { building: { ...search.building } }),
          ...(search.failure === null ? {} : { failure: search.failure }),
          backend: search.backend,
          running: search.running,
          waiting: search.waiting,
          searches: search.searches,
          timeouts: search.timeouts,
        },
      }),
    };
  },
});
