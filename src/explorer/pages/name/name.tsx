/**
 * `/name/<name>` and `/name-hex/<hex>`: the owner of a name, the bids, the amount that a new bid needs, upcoming and past
 * events.
 */
import { Block, Facts, Name, Notice, Pager, Section, Table } from '../../../page/components.js';
import { amountText, countText, integerText } from '../../../page/format.js';
import { nameLink, proofLink, withQuery } from '../../../page/links.js';
import { nameWarning, shownLine, shownName } from '../../../page/text.js';
import type { Bid, ClaimAnswer, ListClaimsAnswer, MempoolClaims } from '../../answers.js';
import { badRequest, type Page, type PageContext, type PageResult } from '../../pageContext.js';
import type { KeptRows } from '../../keptRows.js';
import { takenFrom } from '../../takenBlocks.js';
import { Bids, ORDERS } from './nameBids.js';
import { History, pastOf, placeOf, Timeline, type Past } from './nameHistory.js';
import { Holder, titleOfHolder } from './nameHolder.js';
import {
  AsOf,
  AsOfForm,
  blockOf,
  EventSubject,
  EventTag,
  hexOf,
  InBlocks,
  isLongName,
  isMissing,
  nameOfPath,
  nameTooLong,
  OptionalCoins,
  orNull,
  type OrError,
  TakenBack,
  textOfHex,
} from '../parts.js';
import { doubtfulIds, marked, unmadeAmong } from '../unmadeClaims.js';
import { Waiting } from '../waiting.js';

const A_PAGE = 75;
/** Maximum number of upcoming events on the page; `/upcoming` shows more. */
const COMING = 15;

/** Reads the controlling claim with its channel. Null if it has no channel (its bid then has all data) or cannot be read. */
async function signedOwner({ ask }: PageContext, bid: Bid | undefined): Promise<ClaimAnswer | null> {
  if (bid?.channelId === undefined) return null;
  const owner = await orNull(ask<ClaimAnswer>('getclaim', bid.claimId));
  return isMissing(owner) ? null : owner;
}

/** Data that the page shows. */
interface Shown {
  readonly answer: ListClaimsAnswer;
  readonly order: string;
  readonly after: string | undefined;
  /** Position in the history from which the visitor wants to see older events; null for the latest events. */
  readonly before: string | null;
  /** History of the name; null on later pages of bids. */
  readonly history: OrError<Past> | null;
  /** Operations on the name in the mempool; null on later pages of bids, and for a past block. */
  readonly waiting: OrError<MempoolClaims> | null;
  readonly owner: ClaimAnswer | null;
  /** Whether the page shows the state after the latest block. */
  readonly isNow: boolean;
  readonly path: string;
  /** The block (hash or height) as the visitor entered it. */
  readonly block: string | undefined;
}

/**
 * Replaces the digits with which `listclaims` answers for a name in hex by the text of the name. Bytes that are not UTF-8 are
 * never normalized, so the text of the normalized name is also that of the name.
 */
const withText = (answer: ListClaimsAnswer, isHex: boolean): ListClaimsAnswer =>
  isHex ? { ...answer, name: textOfHex(answer.name) ?? answer.normalized_name } : answer;

/** Reads the history up to the block of the page, or up to the position that the visitor requested. */
async function historyOf({ ask, query }: PageContext, name: string, isHex: boolean, height: number) {
  const before = query.get('before') || null;
  const place = before === null ? null : placeOf(before);
  if (place !== null && place.height > height)
    throw badRequest(`“before” names block ${place.height}, but the page shows the state after ${height}.`);
  return orNull(pastOf(ask, name, isHex, place ?? { height, skipped: 0 }));
}

type Marked = Pick<Shown, 'answer' | 'history' | 'waiting' | 'owner'>;

/** Marks the ids that supports and values name and no claim has. Claims among the bids exist. */
async function withMarks(
  ask: PageContext['ask'],
  { answer, history, waiting, owner }: Marked,
): Promise<Marked> {
  const events = history === null || isMissing(history) ? [] : history.events;
  const operations = waiting === null || isMissing(waiting) ? [] : waiting.claims;
  const { bids, coming } = answer;
  const known = new Set(bids.map(({ claimId }) => claimId));
  const doubtful = doubtfulIds([...events, ...operations, ...bids, ...(coming ?? [])]);
  const unsigned = owner?.signing_channel === undefined ? owner?.channel_id : undefined;
  const ids = [...doubtful, unsigned].filter((id) => id !== undefined && !known.has(id));
  const unmade = await unmadeAmong(ask, ids);
  if (unmade.size === 0) return { answer, history, waiting, owner };
  return {
    answer: { ...answer, bids: marked(bids, unmade), ...(coming && { coming: marked(coming, unmade) }) },
    history:
      history === null || isMissing(history) ? history : { ...history, events: marked(events, unmade) },
    waiting:
      waiting === null || isMissing(waiting) ? waiting : { ...waiting, claims: marked(operations, unmade) },
    owner: owner && { ...owner, isChannelUnmade: unsigned !== undefined && unmade.has(unsigned) },
  };
}

async function read(context: PageContext, isHex: boolean): Promise<Shown> {
  const { ask, query, tip } = context;
  const name = nameOfPath(context, isHex);
  const order = ORDERS.find(([key]) => key === query.get('order'))?.[0] ?? 'bid';
  const after = query.get('after') || undefined;
  const asOf = blockOf(context);
  const historyAt = (height: number) => historyOf(context, name, isHex, height);
  const waitingNow = () => orNull(ask<MempoolClaims>('listmempoolclaims', name, null, isHex));
  // All calls start together if the page probably shows the tip.
  const isEarly = after === undefined && asOf === undefined;
  const [answer, early, earlyWaiting] = await Promise.all([
    ask<ListClaimsAnswer>('listclaims', name, A_PAGE, after ?? null, order, asOf ?? null, isHex),
    isEarly ? historyAt(tip.height) : null,
    isEarly ? waitingNow() : null,
  ]);
  if (!isHex && isLongName(name) && answer.claims === 0 && answer.supportsWithoutClaim === 0)
    throw nameTooLong(name);
  // The answer may be for a newer block, whose hint has not arrived yet.
  const isNow = answer.height >= tip.height;
  const isFirst = after === undefined;
  const isRead = isEarly && isNow;
  const [history, waiting, owner] = await Promise.all([
    isRead ? early : isFirst ? historyAt(answer.height) : null,
    isRead ? earlyWaiting : isFirst && isNow ? waitingNow() : null,
    isFirst && isNow ? signedOwner(context, answer.holder) : null,
  ]);
  const named = withText(answer, isHex);
  return {
    ...(await withMarks(ask, { answer: named, history, waiting, owner })),
    order,
    after,
    before: query.get('before') || null,
    isNow,
    path: nameLink(named.name, named.namehex),
    block: query.get('block')?.trim() || undefined,
  };
}

function Head({ shown, context }: { readonly shown: Shown; readonly context: PageContext }) {
  const { answer, path, block, isNow } = shown;
  // Bytes of the normalized name in hex. A name that is not valid UTF-8 is never normalized, so its bytes are unchanged.
  const filedHex = answer.namehex ?? hexOf(answer.normalized_name);
  const warning = nameWarning(answer.name);
  return (
    <>
      <div class="head">
        <h1>
          <bdi>{titleOf(answer)}</bdi>
        </h1>
        <AsOfForm path={path} shown={block ?? ''} />
      </div>
      {isNow && <TakenBack blocks={takenFrom(context.taken, (event) => event.nameHex === filedHex)} />}
      {warning && <Notice tone="warning">{warning}</Notice>}
      {answer.namehex && (
        <Notice>
          These bytes are not text: <code class="hash">{answer.namehex}</code>
        </Notice>
      )}
      {answer.normalized_name !== answer.name && (
        <p class="quiet">
          Normalized name of all spellings: <Name name={answer.normalized_name} />.
        </p>
      )}
      <AsOf height={answer.height} now={context.tip.height} path={path} />
    </>
  );
}

interface ComingProps {
  readonly answer: ListClaimsAnswer;
  readonly spacingSec: number;
}

function Coming({ answer: { coming = [], height: now }, spacingSec }: ComingProps) {
  if (coming.length === 0) return null;
  return (
    <Section title="Coming events">
      <Table
        caption="What comes"
        empty=""
        rows={coming.slice(0, COMING)}
        columns={[
          {
            title: 'In',
            isHead: true,
            isTight: true,
            cell: ({ height }) => <InBlocks blocks={height - now} spacingSec={spacingSec} />,
          },
          {
            title: 'What',
            cell: ({ event, isSupport }) => <EventTag event={event} isSupport={isSupport} isFuture />,
          },
          { title: 'Claim', cell: (event) => <EventSubject event={event} /> },
          {
            title: 'Amount',
            unit: 'LBC',
            isNumber: true,
            cell: ({ amount, effectiveAmount }) => <OptionalCoins lbc={effectiveAmount ?? amount} />,
          },
        ]}
      />
    </Section>
  );
}

function Proof({ shown: { answer, isNow } }: { readonly shown: Shown }) {
  const { namehex, normalized_name: filed, supportsWithoutClaim } = answer;
  return (
    <Section title="Proof">
      <Facts
        rows={[
          ['As of block', <Block height={answer.height} />],
          ['Claims', `${integerText(answer.active)} active, ${integerText(answer.pending)} pending`],
          ['Supports without a claim', supportsWithoutClaim > 0 && integerText(supportsWithoutClaim)],
        ]}
      />
      <p>
        <a
          href={withQuery(proofLink(namehex ?? filed, namehex !== undefined), {
            block: isNow ? undefined : answer.blockhash,
          })}
        >
          Check in this browser who holds it
        </a>{' '}
        against the claim trie root in the header of the block.
      </p>
    </Section>
  );
}

function AllBids({ shown, rows }: { readonly shown: Shown; readonly rows: KeptRows }) {
  const { answer, path, order, after, block } = shown;
  const next =
    answer.next && withQuery(path, { after: answer.next, order: order === 'bid' ? undefined : order, block });
  return (
    <Section title={`Bids (${integerText(answer.claims)})`} id="bids">
      <p class="quiet">
        Each claim bids its own LBC and that of its supports, together its effective amount. The active claim
        with the highest amount holds the name.
      </p>
      <Bids rows={rows} answer={answer} path={path} order={order} block={block} />
      <Pager next={next} first={after === undefined ? undefined : withQuery(path, { block })} />
    </Section>
  );
}

const titleOf = ({ name }: ListClaimsAnswer, most?: number): string =>
  shownName(name, most) || '(empty name)';

/** The holder of the name in a text: its title, or its id. */
function holderTitle({ answer: { holder }, owner }: Shown): string {
  const title = titleOfHolder(holder, owner);
  return title === undefined ? `claim ${holder!.claimId}` : `“${shownLine(title, 100)}”`;
}

async function page(context: PageContext, isHex: boolean): Promise<PageResult> {
  const { spacingSec } = context;
  const shown = await read(context, isHex);
  const { answer, after, before, history, isNow, path, block } = shown;
  const waiting = shown.waiting === null || isMissing(shown.waiting) ? null : shown.waiting;
  return {
    title: titleOf(answer, 60),
    description: answer.holder
      ? `Held by ${holderTitle(shown)} for ${amountText(answer.holder.effectiveAmount)} LBC; ${countText(answer.claims, 'claim')} as of block ${answer.height}.`
      : `No claim holds this name as of block ${answer.height}.`,
    topics: isNow ? ['tip', 'mempool'] : ['tip'],
    searched: answer.namehex === undefined && answer.name.length < 100 ? answer.name : '',
    isLively: isNow,
    body: (
      <>
        <Head shown={shown} context={context} />
        {after === undefined && (
          <Holder answer={answer} owner={shown.owner} spacingSec={spacingSec} waiting={waiting?.total ?? 0} />
        )}
        {waiting !== null && <Waiting {...waiting} />}
        <AllBids shown={shown} rows={context.rows} />
        <Coming answer={answer} spacingSec={spacingSec} />
        {history !== null && !isMissing(history) && before === null && (
          <Timeline blocks={history.blocks} end={answer.height} path={path} />
        )}
        {history !== null && <History rows={context.rows} past={history} path={path} block={block} />}
        <Proof shown={shown} />
      </>
    ),
  };
}

/** `/name/` has no name, so it leads to the list of names. */
export const name: Page = async (context) =>
  (context.parts[0] ?? '') === '' && context.parts.length < 2 ? { redirect: '/names' } : page(context, false);
export const nameHex: Page = (context) => page(context, true);
