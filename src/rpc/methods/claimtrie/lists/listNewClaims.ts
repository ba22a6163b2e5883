/** `listnewclaims`: the claims that were created last, in the mempool and in the latest blocks. */
import { pointIndex, pointTxid } from '../../../../claimtrie/item.js';
import type { WaitingClaim, WaitingTransaction } from '../../../../mempool/mempoolClaims.js';
import { formatOutPoint } from '../../../../primitives/transaction.js';
import { yieldIfDue } from '../../../../scheduler/yield.js';
import { decodeClaimScript } from '../../../../script/claimScript.js';
import type { CreatedClaim, NewestPlace } from '../../../../store/claims/query/newestClaims.js';
import { fromLatin1, hashToHex, toLatin1, type Bytes } from '../../../../util/bytes.js';
import { coins } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { BRIEF_VALUE_FIELDS, briefValue, NAME_FIELDS, nameAnswer } from '../../../format/claimsBrief.js';
import { ofBlock, OF_BLOCK_FIELDS } from '../../../format/claimsExplorer.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { blockOfHashOrHeight, retryWhileGone, type QueriedBlock } from '../atBlock.js';
import { pageParam } from './pages.js';

type Answer = Record<string, JsonOut | undefined>;

/** Maximum number of reads for one page. A further read replaces claims that have ended. */
const MOST_READS = 10;

/** The transactions of the mempool that create claims, the latest first, with their new claims in reverse order. */
async function waitingClaims(
  { waiting }: RpcServices,
  count: number,
): Promise<{ transaction: WaitingTransaction; claim: WaitingClaim }[]> {
  if (waiting.claims.counts.claim === 0) return [];
  const found: { transaction: WaitingTransaction; claim: WaitingClaim }[] = [];
  let since = performance.now();
  for (const transaction of waiting.claims.of({})) {
    for (const claim of transaction.claims) if (claim.kind === 'claim') found.push({ transaction, claim });
    since = await yieldIfDue(since);
  }
  return found.slice(-count).reverse();
}

function waitingAnswer(
  { claims, chain, mempool }: RpcServices,
  { transaction, claim }: { transaction: WaitingTransaction; claim: WaitingClaim },
): Answer {
  const script = mempool.transaction(transaction.txid)?.outputs[claim.n]?.script;
  return {
    claimId: hashToHex(claim.claimId),
    ...nameAnswer(claim.name, claims.rules, chain.chain.height + 1),
    txid: hashToHex(claim.txid),
    n: claim.n,
    amount: coins(claim.amountSat),
    ...briefValue(script && decodeClaimScript(script)?.value, false),
    time: transaction.timeSec,
  };
}

/** The latest output of a claim that exists at the tip. */
interface Present {
  readonly name: Bytes;
  readonly txid: Bytes;
  readonly n: number;
}

/** Returns the latest output of each claim; null for a claim that has ended. */
async function presentOutputs(
  { claims }: RpcServices,
  created: readonly CreatedClaim[],
): Promise<(Present | null)[]> {
  const found: (Present | null)[] = created.map(({ item: { removed, point, rawName } }) =>
    removed === 0 ? { name: fromLatin1(rawName), txid: pointTxid(point), n: pointIndex(point) } : null,
  );
  // The first output of the others was spent, mostly by an update, or the normalization fork moved it to another name.
  const spent = created.flatMap(({ item }, at) =>
    found[at] === null ? [{ at, id: fromLatin1(item.claimId) }] : [],
  );
  const names = await claims.aliveNames(spent.map(({ id }) => id));
  const byName = new Map<string, { at: number; id: Bytes }[]>();
  spent.forEach((one, i) => {
    const name = names[i];
    if (!name) return;
    const some = byName.get(toLatin1(name));
    if (some === undefined) byName.set(toLatin1(name), [one]);
    else some.push(one);
  });
  for (const [key, some] of byName) {
    const name = fromLatin1(key);
    const ids = some.map(({ id }) => id);
    const outputs = await claims.outputsOf(name, ids);
    for (const { at, id } of some) {
      const output = outputs.get(toLatin1(id));
      if (output !== undefined) found[at] = { name, ...output };
    }
  }
  return found;
}

async function createdAnswer(
  { claims, chain }: RpcServices,
  { item, height }: CreatedClaim,
  { name, txid, n }: Present,
): Promise<Answer | null> {
  const coin = await chain.coin(formatOutPoint({ hash: txid, index: n }));
  if (coin === null) return null;
  const block = chain.chain.index.active.at(height);
  return {
    claimId: hashToHex(fromLatin1(item.claimId)),
    ...nameAnswer(name, claims.rules, chain.chain.height),
    txid: hashToHex(txid),
    n,
    amount: coins(coin.amount),
    ...briefValue(decodeClaimScript(coin.script)?.value, false),
    createdHeight: height,
    time: chain.headers.timeSec(block),
  };
}

interface Page {
  readonly answers: readonly Answer[];
  readonly next: NewestPlace | null;
}

/** Reads claims from a place downwards, until `count` of them exist at the tip, or a read reaches its maximum number of blocks. */
async function createdFrom(services: RpcServices, from: NewestPlace, count: number): Promise<Page> {
  const answers: Answer[] = [];
  let next: NewestPlace | null = from;
  let since = performance.now();
  for (let reads = 0; reads < MOST_READS && next !== null && answers.length < count; reads++) {
    const missing = count - answers.length;
    const page = await services.claims.newestClaims(next, missing);
    const present = await presentOutputs(services, page.claims);
    for (const [at, created] of page.claims.entries()) {
      const output = present[at];
      const answer = output ? await createdAnswer(services, created, output) : null;
      if (answer !== null) answers.push(answer);
      since = await yieldIfDue(since);
    }
    ({ next } = page);
    if (page.claims.length < missing) break;
  }
  return { answers, next };
}

export const listNewClaims = defineMethod({
  name: 'listnewclaims',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chainAndMempool',
  keepsLong: true,
  summary:
    'Returns the claims that were created last and still exist, the newest first, with metadata or without. ' +
    'The first page begins with the claims of the mempool in reverse order of arrival. An update does not ' +
    'make a claim new, but its latest confirmed output is returned.',
  params: [
    pageParam('Maximum number of claims of the page'),
    {
      name: 'block',
      type: 'hashOrHeight',
      defaultText: 'the mempool and the tip',
      description:
        'Hash or height of the block of the active chain from which to list downwards; for the next page ' +
        '"next" of the previous page',
    },
    {
      name: 'skip',
      type: 'integer',
      default: 0,
      range: { min: 0, max: 0x7fffffff },
      description:
        'Number of the latest claims of that block to skip; for the next page "skip" of the previous page',
    },
  ],
  result: t.object({
    ...OF_BLOCK_FIELDS,
    claims: t.array(
      t.object({
        claimId: t.claimId('the claim id'),
        ...NAME_FIELDS,
        txid: t.hash('the transaction that contains the latest output'),
        n: t.int('the index of that output'),
        amount: t.coins('the amount of that output'),
        ...BRIEF_VALUE_FIELDS,
        createdHeight: t.optional(
          t.int('the height of the block that created the claim'),
          'unless it waits in the mempool',
        ),
        time: t.time('the time of that block, or the time at which the transaction entered the mempool'),
      }),
      'the claims of the page',
    ),
    next: t.optional(
      t.int('the height from which to continue; a page may be short although more claims follow'),
      'if there may be more',
    ),
    skip: t.optional(
      t.int('number of claims of that block in this page'),
      'if this page ends within a block',
    ),
  }),
  examples: [[], ['10'], ['100', '300000']],
  run({ services }, { count, block, skip }) {
    const find = (): QueriedBlock => blockOfHashOrHeight(services, block);
    return retryWhileGone(services, find, async ({ id, height }): Promise<JsonOut> => {
      const isFirst = block === undefined && skip === 0;
      const waiting = isFirst ? await waitingClaims(services, count) : [];
      const shown = waiting.map((one) => waitingAnswer(services, one));
      const { answers, next } = await createdFrom(services, { height, skip }, count - shown.length);
      return {
        ...ofBlock(services.chain, id, height),
        claims: [...shown, ...answers],
        next: next?.height,
        skip: next !== null && next.skip > 0 ? next.skip : undefined,
      };
    });
  },
});
