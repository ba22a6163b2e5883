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
    search: t.optional(
      t.object({
        synced: t.bool('whether it is at the tip'),
        height: t.int('the height of the last block in it; -1 until it is built'),
        documents: t.int('claims in it'),
        building: t.optional(
          t.object({
            claims: t.int('claims read so far'),
            stage: t.str('"claims", "scores" or "indexes"'),
          }),
          'while it is built',
        ),
        failure: t.optional(t.str('why it does not get further'), 'when it does not'),
        backend: t.str('what keeps it'),
        running: t.int('searches that run'),
        waiting: t.int('searches that wait for their turn'),
        searches: t.int('searches since the start that were not answered from memory'),
        timeouts: t.int('of these, given up because they took too long'),
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
