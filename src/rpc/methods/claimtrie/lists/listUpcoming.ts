/** `listupcoming`: claims and supports that will be activated or expire in the coming blocks, and the resulting takeovers. */
import { lastForeseen } from '../../../../claimtrie/rules.js';
import { FORESEEN_BLOCKS_BEHIND, type UpcomingPage } from '../../../../store/claims/query/upcoming.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import {
  ofBlock,
  OF_BLOCK_FIELDS,
  UPCOMING_EVENT_SCHEMA,
  UPCOMING_KINDS,
  upcomingEvent,
} from '../../../format/claimsExplorer.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { BLOCK_PARAM, blockOfHashOrHeight, retryWhileGone, type QueriedBlock } from '../atBlock.js';
import { countParam } from './pages.js';

/** Default number of blocks to examine: one day on the main network. */
const DEFAULT_BLOCKS = 576;
/** Maximum number of blocks examined for one page. Arbitrary: their rows are read in a fraction of a second. */
const BLOCKS_PER_PAGE = 2000;

const ALL_KINDS = 'all';

interface Request {
  readonly blocks: number;
  readonly from: number | undefined;
  readonly kind: string;
  readonly count: number;
}

async function pageAt(
  services: RpcServices,
  { id, height }: QueriedBlock,
  { blocks, from: wanted, kind, count }: Request,
): Promise<JsonOut> {
  const { claims } = services;
  const oldest = await claims.oldestForeseeing();
  if (height < oldest)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `What comes is told as of block ${oldest} and later ones`);
  const from = Math.max(wanted ?? 0, height + 1);
  const to = Math.min(height + blocks, lastForeseen(claims.rules, height));
  const end = Math.min(to, from + BLOCKS_PER_PAGE - 1);
  const isWanted = (type: string): boolean => kind === ALL_KINDS || kind === type;
  const page =
    from > to
      ? { events: [], next: null }
      : await claims.upcoming({ height, from, to: end, count, isWanted });
  if (page === null) return null;
  const next = page.next ?? (from <= to && end < to ? end + 1 : undefined);
  return { ...ofBlock(services.chain, id, height), from, to, events: jsonArray(entries(page)), next };
}

function* entries({ events }: UpcomingPage): Generator<JsonOut> {
  for (const event of events) yield upcomingEvent(event);
}

export const listUpcoming = defineMethod({
  name: 'listupcoming',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns what the blocks to come will do to claims by themselves: pending claims and supports that enter, those ' +
    'that expire, and names that change hands by it. As after one block, the latest or a little older, and as if no claim transaction came: ' +
    'what is spent, updated or made before then changes it. Pages of one block fit together whatever is connected ' +
    'meanwhile: pass the blockhash of the first page on, and each "next" as from. Nothing is told beyond the block before the normalization ' +
    'fork while that lies ahead.',
  params: [
    {
      name: 'blocks',
      type: 'integer',
      default: DEFAULT_BLOCKS,
      range: { min: 1, max: 0x7fffffff },
      description: 'How many blocks after that block are looked at',
    },
    {
      name: 'kind',
      type: 'string',
      default: ALL_KINDS,
      description: `Which events are told: ${UPCOMING_KINDS.join(', ')} or ${ALL_KINDS}`,
    },
    countParam('The page ends with the block that brings so many events'),
    {
      name: 'from',
      type: 'integer',
      range: { min: 0, max: 0x7fffffff },
      defaultText: 'the next block',
      description:
        'The height of the first block; for another page "next" of the one before. Heights up to the block of the answer are skipped',
    },
    {
      ...BLOCK_PARAM,
      description: `The hash or the height of the block of the answer: the latest, or one of the ${FORESEEN_BLOCKS_BEHIND} before it`,
    },
  ],
  result: t.object({
    ...OF_BLOCK_FIELDS,
    from: t.int('the first block of the answer'),
    to: t.int('the last block that is, over all pages'),
    events: t.array(UPCOMING_EVENT_SCHEMA, 'by height, then by name, then in the order in which they happen'),
    next: t.optional(
      t.int(
        'the height from which on there may be more; a page looks at 2,000 blocks at most and may be empty',
      ),
      'when the last block is not reached',
    ),
  }),
  examples: [[], ['4032', '"takeover"'], ['16000', '"expiration"']],
  async run({ services }, { blocks, kind, count, from, block }) {
    if (kind !== ALL_KINDS && !UPCOMING_KINDS.some((known) => known === kind)) {
      const message = `kind must be one of ${[ALL_KINDS, ...UPCOMING_KINDS].join(', ')}`;
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
    }
    const request = { blocks, from, kind, count };
    for (;;) {
      const find = () => blockOfHashOrHeight(services, block);
      const answer = await retryWhileGone(services, find, (found) => pageAt(services, found, request));
      if (answer !== null) return answer;
    }
  },
});
