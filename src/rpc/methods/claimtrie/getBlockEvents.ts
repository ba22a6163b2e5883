/** `getblockevents`: a block's effects on claims, supports and names, as in the notifications. */
import { blockClaims } from '../../../chain/connect/blockClaims.js';
import type { ClaimEvent } from '../../../claimtrie/types.js';
import type { LoadedBlock } from '../../../chain/blocks/loadedBlock.js';
import { resolvedFromUndo } from '../../../store/cache/coinRow.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { readBlockChecked, readUndoBytesChecked } from '../../lookup/blockLookup.js';
import { CLAIM_EVENT_SCHEMA, CLAIM_EVENT_TYPES, claimEventShower } from '../../format/claimEvents.js';
import { ShownMetadata } from '../../format/claimMetadata.js';
import { ofBlock, OF_BLOCK_FIELDS } from '../../format/claimsExplorer.js';
import { defineMethod } from '../../declare/method.js';
import type { ClaimReader } from '../../../interfaces/claimReader.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { BLOCK_PARAM, blockOfHashOrHeight, retryWhileGone, type QueriedBlock } from './atBlock.js';
import { pageParam } from './lists/pages.js';

interface EventsOf {
  /** Header id of the block. The events of a block never change. */
  readonly id: number;
  readonly events: readonly ClaimEvent[];
}

/** Cache of the events that were read last, because the pages of a block are usually requested one after the other. */
const latest = new WeakMap<ClaimReader, EventsOf>();

async function eventsOf(
  services: RpcServices,
  { id, height }: QueriedBlock,
  block: () => Promise<LoadedBlock>,
): Promise<readonly ClaimEvent[]> {
  const { claims } = services;
  const known = latest.get(claims);
  if (known?.id === id) return known.events;
  if (height === 0) return [];
  const loaded = await block();
  const resolved = resolvedFromUndo(loaded.parsed, await readUndoBytesChecked(services, id));
  const events = await claims.eventsOf(blockClaims(loaded, resolved, height));
  latest.set(claims, { id, events });
  return events;
}

function countsOf(events: readonly ClaimEvent[]): Record<string, number> {
  const counts = Object.fromEntries(CLAIM_EVENT_TYPES.map((type) => [type, 0]));
  for (const { type } of events) counts[type]!++;
  return counts;
}

async function pageAt(
  services: RpcServices,
  queried: QueriedBlock,
  { count, after }: { readonly count: number; readonly after: number | undefined },
): Promise<JsonOut> {
  const { chain } = services;
  const { id, height } = queried;
  let block: LoadedBlock | null = null;
  const load = async (): Promise<LoadedBlock> => (block ??= await readBlockChecked(services, id));
  const events = await eventsOf(services, queried, load);
  const metadata = ShownMetadata.of(services);
  const values = metadata !== null && events.length > 0 ? { block: await load(), metadata } : null;
  const show = claimEventShower({ hash: chain.headers.hash(id), height, events, isConnected: true }, values);
  const from = after === undefined ? 0 : after + 1;
  const end = Math.min(events.length, from + count);
  const shown: JsonOut[] = [];
  let since = performance.now();
  for (let index = from; index < end; index++) {
    shown.push(show(index) as JsonOut);
    since = await yieldIfDue(since);
  }
  return {
    ...ofBlock(chain, id, height),
    total: events.length,
    counts: countsOf(events),
    events: shown,
    next: end < events.length && shown.length > 0 ? end - 1 : undefined,
  };
}

export const getBlockEvents = defineMethod({
  name: 'getblockevents',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  keepsLong: true,
  summary:
    'Returns the changes that a block of the active chain made to claims, supports and names, in the ' +
    'form and order of the claim notifications: first the changes by transactions, then activations, ' +
    'expirations and takeovers. The block of the normalization fork, which moves all names to their ' +
    'normalized form, has no events for that. Needs the block and its undo data on disk.',
  params: [
    {
      ...BLOCK_PARAM,
      description: 'The hash or the height of the block',
    },
    pageParam('Maximum number of events of the page'),
    {
      name: 'after',
      type: 'integer',
      range: { min: 0, max: 0x7fffffff },
      defaultText: 'the first page',
      description: 'Index of the event after which the page begins: "next" of the previous page',
    },
  ],
  result: t.object({
    ...OF_BLOCK_FIELDS,
    total: t.int('the number of events of the block'),
    counts: t.object(
      Object.fromEntries(
        CLAIM_EVENT_TYPES.map((type) => [type, t.int(`the number of events of type ${type}`)]),
      ),
    ),
    events: t.array(CLAIM_EVENT_SCHEMA, 'the events of the page'),
    next: t.optional(
      t.int('index of the last event of this page, to be passed as "after"'),
      'if there are more',
    ),
  }),
  examples: [['300'], ['300', '100', '99']],
  run({ services }, { block, count, after }) {
    const find = (): QueriedBlock => blockOfHashOrHeight(services, block);
    return retryWhileGone(services, find, (queried) => pageAt(services, queried, { count, after }));
  },
});
