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

/** Number of blocks that are examined by default: one day on the main network. */
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
    throw rpcError(
      RPC_ERROR.INVALID_PARAMETER,
      `Upcoming events are available only for block ${oldest} and later blocks`,
    );
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
    'Returns the changes to claims that the following blocks will make without further transactions: ' +
    'activations and expirations of claims and supports, and the takeovers that they cause. The forecast ' +
    'is made as of the latest block or one shortly before it, and does not foresee transactions. Pages ' +
    'are consistent even if blocks are connected between calls: pass the blockhash of the first page as ' +
    '"block", and each "next" as "from". Before the normalization fork, the forecast ends with the block ' +
    'before the fork.',
  params: [
    {
      name: 'blocks',
      type: 'integer',
      default: DEFAULT_BLOCKS,
      range: { min: 1, max: 0x7fffffff },
      description: 'Number of blocks after that block to forecast',
    },
    {
      name: 'kind',
      type: 'string',
      default: ALL_KINDS,
      description: `Type of events to return: ${UPCOMING_KINDS.join(', ')} or ${ALL_KINDS}`,
    },
    countParam('The page ends with the block that reaches this number of events'),
    {
      name: 'from',
      type: 'integer',
      range: { min: 0, max: 0x7fffffff },
      defaultText: 'the next block',
      description:
        'The height of the first block; for the next page "next" of the previous page. Heights up to the ' +
        'block of the forecast are skipped',
    },
    {
      ...BLOCK_PARAM,
      description:
        'Hash or height of the block after which the forecast begins: the latest block, or one of the ' +
        `${FORESEEN_BLOCKS_BEHIND} before it`,
    },
  ],
  result: t.object({
    ...OF_BLOCK_FIELDS,
    from: t.int('the first block of the page'),
    to: t.int('the last block of the forecast, over all pages'),
    events: t.array(UPCOMING_EVENT_SCHEMA, 'by height, then by name, then in the order of processing'),
    next: t.optional(
      t.int('the height from which to continue; a page covers at most 2,000 blocks and may be empty'),
      'if the last block is not reached',
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
