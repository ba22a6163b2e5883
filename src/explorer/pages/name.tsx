/**
 * `/name/<name>` and `/name-hex/<hex>`: the owner of a name, the bids, the amount that a new bid needs, upcoming and past
 * events.
 */
import {
  Amount,
  Block,
  ClaimId,
  Facts,
  Name,
  Notice,
  Pager,
  Pattern,
  Section,
  Table,
  Tag,
  Title,
} from '../../page/components.js';
import { amountText, blocksText, countText, integerText } from '../../page/format.js';
import { claimLink, nameLink, withQuery } from '../../page/links.js';
import { nameWarning, shownLine } from '../../page/text.js';
import type { Bid, ListClaimsAnswer, MempoolClaims } from '../answers.js';
import { badRequest, type Page, type PageContext } from '../pageContext.js';
import { takenFrom } from '../takenBlocks.js';
import { History, pastOf, placeOf, Timeline } from './nameHistory.js';
import {
  AsOf,
  AsOfForm,
  blockOf,
  Chips,
  EventSubject,
  EventTag,
  InBlocks,
  isMissing,
  NameOf,
  OptionalAmount,
  hexOf,
  orNull,
  TakenBack,
  Tx,
} from './parts.js';

const A_PAGE = 100;
/** Maximum number of upcoming events shown; /upcoming has the others. */
const COMING = 15;
const ORDERS = [
  ['bid', 'by amount'],
  ['newest', 'newest'],
  ['oldest', 'oldest'],
] as const;

/** The requested name, and its bytes in hex if the page is given by bytes. */
function askedName({ parts }: PageContext, isHex: boolean): string {
  const [name = ''] = parts;
  if (parts.length > 1) throw badRequest('A slash in a name is written %2F.');
  if (isHex && !/^([0-9a-f]{2})+$/i.test(name))
    throw badRequest('The bytes of a name are given as pairs of hexadecimal digits.');
  return name;
}

function Bids({
  answer,
  path,
  order,
  block,
}: {
  readonly answer: ListClaimsAnswer;
  readonly path: string;
  readonly order: string;
  readonly block: string | undefined;
}) {
  const { bids, holder } = answer;
  return (
    <>
      <Chips
        label="Order of bids"
        items={ORDERS.map(([key, text]) => [
          withQuery(path, { order: key === 'bid' ? undefined : key, block }),
          text,
          key === order,
        ])}
      />
      <Table<Bid>
        caption="Bids"
        empty="No claim bids for this name."
        rows={bids}
        columns={[
          { title: '#', cell: ({ bid }) => integerText(bid + 1) },
          {
            title: 'Claim',
            isHead: true,
            cell: (bid) => (
              <>
                <Pattern id={bid.claimId} />{' '}
                {bid.title ? (
                  <a href={claimLink(bid.claimId)}>
                    <Title text={bid.title} />
                  </a>
                ) : (
                  <ClaimId id={bid.claimId} />
                )}{' '}
                {bid.kind && <Tag>{bid.kind}</Tag>}{' '}
                {holder?.claimId === bid.claimId && <Tag tone="good">holds the name</Tag>}
                {bid.name !== answer.name && (
                  <>
                    {' '}
                    as <NameOf of={bid} />
                  </>
                )}
              </>
            ),
          },
          { title: 'Channel', cell: ({ channelId }) => (channelId ? <ClaimId id={channelId} /> : '–') },
          {
            title: 'Effective',
            isNumber: true,
            cell: ({ effectiveAmount }) => <Amount lbc={effectiveAmount} />,
          },
          { title: 'Own', isNumber: true, cell: ({ amount }) => <Amount lbc={amount} /> },
          {
            title: 'Supports',
            isNumber: true,
            cell: ({ supports, supportAmount }) =>
              supports === 0 ? (
                '–'
              ) : (
                <>
                  {integerText(supports)}, <Amount lbc={supportAmount} />
                </>
              ),
          },
          {
            title: 'Active',
            cell: ({ active, validAtHeight }) =>
              active ? (
                <>
                  since <Block height={validAtHeight} />
                </>
              ) : (
                <Tag tone="warning">from {integerText(validAtHeight)}</Tag>
              ),
          },
          { title: 'Expires', isNumber: true, cell: ({ expirationHeight }) => integerText(expirationHeight) },
        ]}
      />
    </>
  );
}

interface HolderProps {
  readonly answer: ListClaimsAnswer;
  readonly context: PageContext;
  /** Number of operations on the name in the mempool. */
  readonly waiting: number;
}

function Holder({ answer, context, waiting }: HolderProps) {
  const { holder, newBid, lastTakeoverHeight, coming = [] } = answer;
  const { spacingSec } = context;
  const takeover = coming.find(({ event }) => event === 'takeover');
  return (
    <Section title={holder ? 'Held by' : 'No claim holds this name'}>
      {holder && (
        <div class="lead">
          <Pattern id={holder.claimId} />
          <div>
            <a href={claimLink(holder.claimId)}>
              <strong>
                <Title
                  text={
                    answer.bids.find(({ claimId }) => claimId === holder.claimId)?.title ?? holder.claimId
                  }
                />
              </strong>
            </a>
            <br />
            <Amount lbc={holder.effectiveAmount} /> effective
            {lastTakeoverHeight !== undefined && (
              <>
                , since block <Block height={lastTakeoverHeight} />
              </>
            )}
          </div>
        </div>
      )}
      <Notice>
        {holder ? (
          <>
            To take the name over, a new claim must have more than{' '}
            <strong>{amountText(newBid.mustExceed)} LBC</strong>. It counts{' '}
            {newBid.delay === 0
              ? 'at once'
              : `after ${countText(newBid.delay, 'block')} (${blocksText(newBid.delay, spacingSec)})`}
            , from block {integerText(newBid.validAtHeight)} on.
          </>
        ) : (
          <>A claim of any amount takes this name at once.</>
        )}
      </Notice>
      {takeover && (
        <Notice tone="warning">
          <strong>Changes hands</strong> in {countText(takeover.height - answer.height, 'block')} (
          {blocksText(takeover.height - answer.height, spacingSec)}):{' '}
          {takeover.claimId === undefined ? (
            'the last claim ends, and the name is free.'
          ) : (
            <>
              <ClaimId id={takeover.claimId} /> takes it over
              {takeover.effectiveAmount !== undefined && (
                <>
                  {' '}
                  with <Amount lbc={takeover.effectiveAmount} />
                </>
              )}
              .
            </>
          )}
        </Notice>
      )}
      {waiting > 0 && (
        <p>
          <a href="#waiting">{countText(waiting, 'operation')} for this name</a>{' '}
          {waiting === 1 ? 'waits' : 'wait'} in the mempool.
        </p>
      )}
    </Section>
  );
}

async function page(context: PageContext, isHex: boolean) {
  const { ask, query, tip, spacingSec, taken } = context;
  const name = askedName(context, isHex);
  const hex = isHex ? name.toLowerCase() : undefined;
  const order = ORDERS.find(([key]) => key === query.get('order'))?.[0] ?? 'bid';
  const after = query.get('after') ?? undefined;
  const asOf = blockOf(context);
  const answer = await ask<ListClaimsAnswer>(
    'listclaims',
    name,
    A_PAGE,
    after ?? null,
    order,
    asOf ?? null,
    isHex,
  );
  const isNow = answer.height === tip.height;
  const before = query.get('before');
  const place = before === null ? { height: answer.height, skipped: 0 } : placeOf(before);
  if (place === null || place.height > answer.height)
    throw badRequest('“before” is not a place in the history.');
  const [history, waiting] = await Promise.all([
    after === undefined ? orNull(pastOf(ask, name, isHex, place)) : null,
    after === undefined && isNow ? orNull(ask<MempoolClaims>('listmempoolclaims', name, null, isHex)) : null,
  ]);
  const waitingCount = waiting === null || isMissing(waiting) ? 0 : waiting.total;
  // A name that is not text is never normalized.
  const filedHex = answer.namehex ?? hexOf(answer.normalized_name);
  const path = nameLink(answer.name, answer.namehex ?? hex);
  const blockText = query.get('block') ?? undefined;
  const shownName = shownLine(answer.name, 60) || '(empty name)';
  const warning = nameWarning(answer.name);
  return {
    title: shownName,
    description: answer.holder
      ? `Held for ${amountText(answer.holder.effectiveAmount)} LBC; ${countText(answer.claims, 'claim')} as of block ${answer.height}.`
      : `No claim holds this name as of block ${answer.height}.`,
    topics: isNow ? ['tip', 'mempool'] : ['tip'],
    searched: answer.name.length < 100 ? answer.name : '',
    isLively: isNow,
    body: (
      <>
        <div class="head">
          <h1>
            <bdi>{shownName}</bdi>
          </h1>
          <AsOfForm path={path} shown={blockText ?? ''} />
        </div>
        {isNow && <TakenBack blocks={takenFrom(taken, (event) => event.nameHex === filedHex)} />}
        {warning && <Notice tone="warning">{warning}</Notice>}
        {answer.namehex && (
          <Notice>
            These bytes are not text: <code class="hash">{answer.namehex}</code>
          </Notice>
        )}
        {answer.normalized_name !== answer.name && (
          <p class="quiet">
            Filed as <Name name={answer.normalized_name} />, with all its spellings.
          </p>
        )}
        <AsOf height={answer.height} now={tip.height} path={path} />
        {after === undefined && <Holder answer={answer} context={context} waiting={waitingCount} />}
        {waiting !== null && !isMissing(waiting) && waiting.total > 0 && (
          <Section title={`Waiting in the mempool (${integerText(waiting.total)})`} id="waiting">
            <Table
              caption="Operations in the mempool"
              empty=""
              rows={waiting.claims}
              columns={[
                {
                  title: 'What',
                  isHead: true,
                  cell: ({ event, isSupport }) => <EventTag event={event} isSupport={isSupport} isWaiting />,
                },
                { title: 'Claim', cell: ({ claimId }) => <ClaimId id={claimId} /> },
                { title: 'Amount', isNumber: true, cell: ({ amount }) => <Amount lbc={amount} /> },
                { title: 'Transaction', cell: ({ transaction }) => <Tx txid={transaction} /> },
              ]}
            />
          </Section>
        )}
        <Section title={`Bids (${integerText(answer.claims)})`} id="bids">
          <Bids answer={answer} path={path} order={order} block={blockText} />
          <Pager
            next={
              answer.next === undefined
                ? undefined
                : withQuery(path, {
                    after: answer.next,
                    order: order === 'bid' ? undefined : order,
                    block: blockText,
                  })
            }
            first={after === undefined ? undefined : withQuery(path, { block: blockText })}
          />
        </Section>
        {answer.coming && answer.coming.length > 0 && (
          <Section title="What comes by itself">
            <Table
              caption="What comes"
              empty=""
              rows={answer.coming.slice(0, COMING)}
              columns={[
                {
                  title: 'In',
                  isHead: true,
                  cell: ({ height }) => <InBlocks blocks={height - answer.height} spacingSec={spacingSec} />,
                },
                {
                  title: 'What',
                  cell: ({ event, isSupport }) => <EventTag event={event} isSupport={isSupport} isFuture />,
                },
                { title: 'Claim', cell: (event) => <EventSubject event={event} /> },
                {
                  title: 'Amount',
                  isNumber: true,
                  cell: ({ amount, effectiveAmount }) => <OptionalAmount lbc={effectiveAmount ?? amount} />,
                },
              ]}
            />
          </Section>
        )}
        {history !== null && !isMissing(history) && before === null && (
          <Timeline blocks={history.blocks} end={answer.height} path={path} />
        )}
        {history !== null && <History past={history} path={path} block={blockText} />}
        <Section title="Proof">
          <Facts
            rows={[
              ['As of block', <Block height={answer.height} />],
              ['Claims', `${integerText(answer.active)} active, ${integerText(answer.pending)} pending`],
              [
                'Supports without a claim',
                answer.supportsWithoutClaim > 0 && integerText(answer.supportsWithoutClaim),
              ],
            ]}
          />
          <p>
            <a
              href={
                answer.namehex
                  ? `/proof-hex/${answer.namehex}`
                  : `/proof/${encodeURIComponent(answer.name.toWellFormed())}`
              }
            >
              Check who holds it against the block header
            </a>
          </p>
        </Section>
      </>
    ),
  };
}

export const name: Page = (context) => page(context, false);
export const nameHex: Page = (context) => page(context, true);
