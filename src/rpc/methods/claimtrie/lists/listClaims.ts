/** `listclaims`: the owner of a name, the amount that a new bid must exceed, upcoming events, and a page of the bids. */
import { MAX_DELAY, newClaimDelay } from '../../../../claimtrie/rules.js';
import type { NameBids } from '../../../../interfaces/claimReader.js';
import { toLatin1, type Bytes } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import {
  NAME_HEX,
  nameHex,
  ofBlock,
  OF_BLOCK_FIELDS,
  UPCOMING_EVENT_SCHEMA,
  upcomingEvent,
} from '../../../format/claimsExplorer.js';
import { LISTED_BID_SCHEMA, listedBids } from '../../../format/claimsListed.js';
import { nameText } from '../../../format/claimsText.js';
import { listTag } from '../../../lookup/listTag.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { BLOCK_PARAM, retryWhileGone, type QueriedBlock } from '../atBlock.js';
import { blockOfPage, cursorText, parseCursor, type Cursor } from './cursors.js';
import { givenName } from '../hexNames.js';
import { pageParam } from './pages.js';

type Answer = Record<string, JsonOut | undefined>;

/** Sort orders of bids. Cursors contain the index of an order, so entries must keep their positions. */
const ORDERS = ['bid', 'oldest', 'newest'] as const;
/** Maximum number of upcoming events in one result. Arbitrary: one page. */
const MOST_COMING = 100;

function orderOf(name: string): number {
  const order = ORDERS.findIndex((known) => known === name);
  if (order < 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, `order must be one of ${ORDERS.join(', ')}`);
  return order;
}

/** Returns the amount that a claim created in the next block must exceed, and the claim's activation height. */
function newBidAnswer({ holder, lastTakeoverHeight, coming }: NameBids, height: number): JsonOut {
  const delay = newClaimDelay(height + 1, holder === undefined ? null : lastTakeoverHeight);
  const validAtHeight = height + 1 + delay;
  const owner = coming === null ? null : coming.ownerAt(validAtHeight);
  const mustExceed = owner?.effective ?? (coming === null ? (holder?.effectiveAmount ?? 0n) : 0n);
  return { mustExceed: coins(mustExceed), delay, height: height + 1, validAtHeight };
}

function comingAnswer({ name: filed, coming }: NameBids): Answer {
  if (coming === null) return {};
  const { events } = coming;
  const name = toLatin1(filed);
  return {
    coming: events.slice(0, MOST_COMING).map((event) => upcomingEvent({ name, event })),
    comingMore: events.length > MOST_COMING ? true : undefined,
  };
}

const tagOf = (name: Bytes): Bytes => listTag('listclaims', name);

interface PageRequest {
  readonly name: Buffer;
  readonly count: number;
  readonly cursor: Cursor | null;
  readonly order: number;
}

async function pageAt(
  services: RpcServices,
  { id, height }: QueriedBlock,
  { name, count, cursor, order }: PageRequest,
): Promise<Answer> {
  const { chain, claims } = services;
  const from = cursor?.place ?? 0;
  const query = { name, height, order: ORDERS[order]!, from, count, coming: MOST_COMING };
  const found = await claims.bidsAt(query);
  const { holder, bids: shown } = found;
  const place = from + count;
  const blockHash = chain.headers.hash(id);
  const listed = await listedBids(services, holder === undefined ? shown : [holder, ...shown]);
  return {
    normalized_name: nameText(found.name),
    namehex: nameHex(found.name),
    ...ofBlock(chain, id, height),
    claims: found.claims,
    active: found.active,
    pending: found.claims - found.active,
    supportsWithoutClaim: found.supportsWithoutClaim,
    ...(holder && { holder: listed.shift(), lastTakeoverHeight: found.lastTakeoverHeight }),
    newBid: newBidAnswer(found, height),
    ...(cursor === null ? comingAnswer(found) : {}),
    bids: listed,
    next: place < found.claims ? cursorText({ blockHash, order, place }, tagOf(name)) : undefined,
  };
}

export const listClaims = defineMethod({
  name: 'listclaims',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  keepsLong: true,
  summary:
    'Returns a page of the claims for a name, without supports and whole values (see listsupports and ' +
    'getclaimbyid). The result also contains the controlling claim, the amount that a claim created in ' +
    'the next block must exceed and its activation height, and the changes that the following blocks ' +
    'will make to the name without further transactions (only for the latest block and the 144 before ' +
    'it). All pages describe the block of the first page.',
  params: [
    NAME_PARAM,
    pageParam('Maximum number of claims of the page'),
    {
      name: 'after',
      type: 'string',
      defaultText: 'the first page',
      description: 'Cursor of the page: "next" of the previous page. It determines the block and the order',
    },
    {
      name: 'order',
      type: 'string',
      default: ORDERS[0],
      description:
        '"bid": by effective amount, pending claims last; "oldest", "newest": by the height of the output',
    },
    BLOCK_PARAM,
    NAME_HEX_PARAM,
  ],
  result: t.object({
    name: t.str('the requested name'),
    normalized_name: t.str('the normalized name, by which the claim trie stores the claim'),
    namehex: NAME_HEX,
    ...OF_BLOCK_FIELDS,
    claims: t.int('the number of claims for the name'),
    active: t.int('the number of active claims'),
    pending: t.int('the number of pending claims'),
    supportsWithoutClaim: t.int(
      'number of supports under this name for claim ids that have no claim under it',
    ),
    holder: t.optional(LISTED_BID_SCHEMA, 'if the name has an active claim: the controlling claim'),
    lastTakeoverHeight: t.optional(
      t.int('the height at which the controlling claim of the name last changed'),
      'if a claim controls the name',
    ),
    newBid: t.object({
      mustExceed: t.coins(
        'the highest effective amount of the other claims at validAtHeight, if no further transaction ' +
          'changes it; a new claim controls the name only with a higher amount',
      ),
      delay: t.int('number of blocks after which a claim created in the next block becomes active'),
      height: t.int('the height of the next block'),
      validAtHeight: t.int('the activation height of such a claim, unless a takeover activates it earlier'),
    }),
    coming: t.optional(
      t.array(UPCOMING_EVENT_SCHEMA, `events in the next ${MAX_DELAY} blocks, at most ${MOST_COMING}`),
      'on the first page, for the latest block and the 144 before it',
    ),
    comingMore: t.optional(t.bool('true'), 'if there are more events'),
    bids: t.array(LISTED_BID_SCHEMA, 'the claims of the page'),
    next: t.optional(t.hex('cursor of the next page, to be passed as "after"'), 'when there is one'),
  }),
  examples: [['"mindblown"'], ['"mindblown"', '10']],
  run({ services }, { name, count, after, order, block, hex }) {
    const wanted = givenName('name', name, hex);
    const cursor = after === undefined ? null : parseCursor(after, tagOf(wanted), ORDERS.length);
    const given = orderOf(order);
    const request = { name: wanted, count, cursor, order: cursor?.order ?? given };
    const find = (): QueriedBlock => blockOfPage(services, cursor, block);
    return retryWhileGone(services, find, async (queried) => ({
      name,
      ...(await pageAt(services, queried, request)),
    }));
  },
});
