/** `listsupports`: a page of the supports of a claim. */
import type { ClaimInfo } from '../../../../store/claims/query/claimQueries.js';
import { hashFromHex, type Bytes } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../../declare/errors.js';
import { NAME_HEX, nameHex, ofBlock, OF_BLOCK_FIELDS } from '../../../format/claimsExplorer.js';
import { LISTED_SUPPORT_SCHEMA, listedSupports, supportAmount } from '../../../format/claimsListed.js';
import { nameText } from '../../../format/claimsText.js';
import { listTag } from '../../../lookup/listTag.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { retryWhileGone, type QueriedBlock } from '../atBlock.js';
import { blockOfPage, cursorText, parseCursor, type Cursor } from './cursors.js';
import { pageParam } from './pages.js';

const ALL_DIGITS = 40;

/** Declares the parameter for a complete claim id. */
export const CLAIM_ID_PARAM = {
  name: 'claimid',
  type: 'claimIdDigits',
  required: true,
  description: 'The claim id, 40 hex digits',
} as const;

/** Throws if the claim id is only a prefix. */
export function requireWholeId(claimId: string): void {
  if (claimId.length !== ALL_DIGITS)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'claimid must have 40 hexadecimal digits');
}

export function claimNotFound(claimId: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Could not find claim at ${claimId}`);
}

const tagOf = (claimId: string): Bytes => listTag('listsupports', hashFromHex(claimId));

interface PageRequest {
  readonly claimid: string;
  readonly count: number;
  readonly cursor: Cursor | null;
}

/** Finds a claim as of a block, under the name that the claim has at the tip. */
async function findClaim(
  { claims }: RpcServices,
  claimId: string,
  height: number,
): Promise<{ claim: ClaimInfo; filed: Uint8Array }> {
  const found = await claims.findClaim(claimId);
  if (found === null) throw claimNotFound(claimId);
  const { claim, name } = await claims.claimAt({ name: found.name, height }, found);
  if (claim === undefined) throw claimNotFound(claimId);
  return { claim, filed: name };
}

async function pageAt(
  services: RpcServices,
  { id, height }: QueriedBlock,
  { claimid, count, cursor }: PageRequest,
): Promise<JsonOut> {
  const { chain } = services;
  const { claim, filed } = await findClaim(services, claimid, height);
  const { supports, fullAmount, amount } = claim;
  const counted = supportAmount(claim);
  const all = fullAmount - amount;
  const from = cursor?.place ?? 0;
  const place = from + count;
  const blockHash = chain.headers.hash(id);
  return {
    claimId: claimid,
    name: nameText(claim.name),
    normalized_name: nameText(filed),
    namehex: nameHex(claim.name),
    ...ofBlock(chain, id, height),
    total: supports.length,
    active: supports.reduce((sum, support) => sum + (support.active ? 1 : 0), 0),
    amount: coins(counted),
    pendingAmount: all > counted ? coins(all) : undefined,
    supports: (await listedSupports(services, supports.slice(from, place))) as JsonOut[],
    next: place < supports.length ? cursorText({ blockHash, order: 0, place }, tagOf(claimid)) : undefined,
  };
}

export const listSupports = defineMethod({
  name: 'listsupports',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  keepsLong: true,
  summary:
    'Returns a page of the supports of a claim that exists after the latest block: first the active ones ' +
    'in the order of activation, then the pending ones. All pages describe the block of the first page.',
  params: [
    CLAIM_ID_PARAM,
    pageParam('Maximum number of supports of the page'),
    {
      name: 'after',
      type: 'string',
      defaultText: 'the first page',
      description: 'Cursor of the page: "next" of the previous page. It determines the block',
    },
  ],
  result: t.object({
    claimId: t.claimId('the claim id'),
    name: t.str('the name in the output of the claim'),
    normalized_name: t.str('the normalized name, by which the claim trie stores the claim'),
    namehex: NAME_HEX,
    ...OF_BLOCK_FIELDS,
    total: t.int('the number of its supports'),
    active: t.int('the number of active claims'),
    amount: t.coins('the sum of its active supports'),
    pendingAmount: t.optional(t.coins('the sum of all supports'), 'if it exceeds the effective amount'),
    supports: t.array(LISTED_SUPPORT_SCHEMA, 'the supports of the page'),
    next: t.optional(t.hex('cursor of the next page, to be passed as "after"'), 'when there is one'),
  }),
  examples: [['"36a719a156a1df178531f3c712b8b37f8e7cc3b3"']],
  run({ services }, { claimid, count, after }) {
    requireWholeId(claimid);
    const cursor = after === undefined ? null : parseCursor(after, tagOf(claimid));
    const find = (): QueriedBlock => blockOfPage(services, cursor, undefined);
    return retryWhileGone(services, find, (queried) => pageAt(services, queried, { claimid, count, cursor }));
  },
});
