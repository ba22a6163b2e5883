/** `listmempoolclaims`: the claim operations of the transactions in the mempool. */
import { isOnName, type WaitingClaim, type WaitingTransaction } from '../../../../mempool/mempoolClaims.js';
import { yieldIfDue } from '../../../../scheduler/yield.js';
import {
  concatBytes,
  equalBytes,
  fromHex,
  hashFromHex,
  hashToHex,
  toHex,
  type Bytes,
} from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { NAME_FIELDS, nameAnswer } from '../../../format/claimsBrief.js';
import { listTag, withoutTag } from '../../../lookup/listTag.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { NAME_HEX_PARAM } from '../answers.js';
import { givenName } from '../hexNames.js';
import { requireWholeId } from './listSupports.js';
import { pageParam } from './pages.js';

const KINDS = ['claim', 'update', 'support', 'abandon'] as const;

interface Mark {
  readonly arrival: number;
  readonly index: number;
}

interface Wanted {
  readonly name: Bytes | undefined;
  readonly claimId: Bytes | undefined;
}

const NOTHING = Buffer.alloc(0);

function tagOf({ name, claimId }: Wanted): Bytes {
  const given = Buffer.of(Number(name !== undefined), Number(claimId !== undefined));
  return listTag('listmempoolclaims', concatBytes(given, claimId ?? NOTHING, name ?? NOTHING));
}

/** Formats the cursor of the next page: arrival number of a transaction, number of an operation in it, and tag of the list. */
function markText({ arrival, index }: Mark, wanted: Wanted): string {
  return `${arrival}-${index}-${toHex(tagOf(wanted))}`;
}

function parseMark(text: string, wanted: Wanted): Mark {
  const [, arrival, index, tag] = /^(\d{1,15})-(\d{1,9})-([0-9a-f]{8})$/.exec(text) ?? [];
  if (arrival === undefined || index === undefined || tag === undefined)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'after must be the value "next" of the previous page');
  withoutTag(fromHex(tag), tagOf(wanted));
  return { arrival: Number(arrival), index: Number(index) };
}

function isWanted(claim: WaitingClaim, { name, claimId }: Wanted): boolean {
  if (claimId !== undefined && !equalBytes(claim.claimId, claimId)) return false;
  return name === undefined || isOnName(claim, name);
}

interface Found {
  readonly transaction: WaitingTransaction;
  readonly claim: WaitingClaim;
}

async function find(
  { waiting }: RpcServices,
  wanted: Wanted,
  count: number,
  after: Mark | null,
): Promise<{ total: number; page: Found[]; next: Mark | null }> {
  const page: Found[] = [];
  let total = 0;
  let last: Mark | null = null;
  let isMore = false;
  let since = performance.now();
  for (const transaction of waiting.claims.of(wanted)) {
    const { arrival, claims } = transaction;
    for (const [index, claim] of claims.entries()) {
      if (!isWanted(claim, wanted)) continue;
      total++;
      if (after && (arrival < after.arrival || (arrival === after.arrival && index <= after.index))) continue;
      if (page.length === count) isMore = true;
      else {
        page.push({ transaction, claim });
        last = { arrival, index };
      }
    }
    since = await yieldIfDue(since);
  }
  return { total, page, next: isMore ? last : null };
}

export const listMempoolClaims = defineMethod({
  name: 'listmempoolclaims',
  category: 'claimtrie',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns the claim operations of mempool transactions in the order of arrival: for a name (in all ' +
    'spellings with the same normalized form), for a claim id, or all. Their effect is determined by the ' +
    'block that confirms them.',
  params: [
    { name: 'name', type: 'string', defaultText: 'all names', description: 'Only operations for this name' },
    {
      name: 'claimid',
      type: 'claimIdDigits',
      defaultText: 'all claims',
      description: 'The claim id, 40 hex digits',
    },
    NAME_HEX_PARAM,
    pageParam('Maximum number of operations of the page'),
    {
      name: 'after',
      type: 'string',
      defaultText: 'the first page',
      description: 'Cursor of the page: "next" of the previous page',
    },
  ],
  result: t.object({
    total: t.int('the number of matching operations in the mempool'),
    claims: t.array(
      t.object({
        event: t.oneOf(
          KINDS,
          'type of the operation; abandon: an input spends a claim or support without an update',
        ),
        ...NAME_FIELDS,
        claimId: t.claimId('the id of the claim, or of the supported claim'),
        txid: t.hash('the transaction that contains the created or abandoned output'),
        n: t.int('the index of that output'),
        amount: t.coins('the amount of the output'),
        isSupport: t.bool('whether the event concerns a support'),
        transaction: t.hash('the mempool transaction that does this'),
        time: t.time('the time at which that transaction entered the mempool'),
      }),
      'the operations of the page',
    ),
    next: t.optional(t.str('cursor of the next page, to be passed as "after"'), 'when there is one'),
  }),
  examples: [[], ['"mindblown"']],
  async run({ services }, { name, claimid, hex, count, after }): Promise<JsonOut> {
    if (claimid !== undefined) requireWholeId(claimid);
    const wanted = {
      name: name === undefined ? undefined : givenName('name', name, hex),
      claimId: claimid === undefined ? undefined : hashFromHex(claimid),
    };
    const mark = after === undefined ? null : parseMark(after, wanted);
    const { total, page, next } = await find(services, wanted, count, mark);
    const { rules } = services.claims;
    const height = services.chain.chain.height + 1;
    return {
      total,
      claims: page.map(({ transaction, claim }) => ({
        event: claim.kind,
        ...nameAnswer(claim.name, rules, height),
        claimId: hashToHex(claim.claimId),
        txid: hashToHex(claim.txid),
        n: claim.n,
        amount: coins(claim.amountSat),
        isSupport: claim.isSupport,
        transaction: hashToHex(transaction.txid),
        time: transaction.timeSec,
      })),
      next: next ? markText(next, wanted) : undefined,
    };
  },
});
