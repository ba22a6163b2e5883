/** `/claim/<id>`: a claim's contents, its signer and its supports; for a channel also its claims. */
import {
  Address,
  Amount,
  Coins,
  Block,
  ClaimId,
  Copied,
  Facts,
  Hash,
  LongText,
  Name,
  Notice,
  Output,
  Pager,
  Pattern,
  Section,
  Table,
  Tag,
  Time,
  Title,
  Tx,
} from '../../page/components.js';
import { amountText, blocksText, countText, integerText, placeText } from '../../page/format.js';
import { claimLink, nameLink, withQuery } from '../../page/links.js';
import { nameWarning, shownLine } from '../../page/text.js';
import type { ClaimAnswer, ClaimStatusAnswer, ListClaimsAnswer, SupportsAnswer } from '../answers.js';
import { AskError } from '../explorerRpcStub.js';
import type { TakenBlock } from '../messages.js';
import { notFound, type Page, type PageContext, type PageResult } from '../pageContext.js';
import { takenFrom } from '../takenBlocks.js';
import { ClaimOutputs, outputsOf } from './claimOutputs.js';
import { ClaimTable, titleOf } from './claimTable.js';
import { partOf, Picture, RawValue, Tags, textOf, valueRows } from './claimValue.js';
import { isMissing, orNull, TakenBack } from './parts.js';

const SUPPORTS = 100;
const CLAIMS = 50;
/** Maximum number of bids among which the claim's rank is searched. */
const PLACES = 100;

/** The page of a claim that was abandoned or has expired. */
function ended(status: ClaimStatusAnswer, context: PageContext) {
  const { tip } = context;
  const how = status.state === 'expired' ? 'It expired' : status.spentBy ? 'It was abandoned' : 'It ended';
  return {
    title: `${shownLine(status.title ?? status.name, 80)} (ended)`,
    description: `An ended claim of the name ${shownLine(status.name, 60)}.`,
    topics: ['tip'],
    body: (
      <>
        <div class="lead">
          <Pattern id={status.claimId} />
          <div>
            <h1>
              <Title text={status.title ?? status.name} />
            </h1>
            <Tag tone="warning">ended</Tag> {status.kind && <Tag>{status.kind}</Tag>} at{' '}
            <Name name={status.name} hex={status.namehex} />
          </div>
        </div>
        <Notice tone="warning">
          {how}
          {status.endedHeight !== undefined && (
            <>
              {' '}
              in block <Block height={status.endedHeight} />
            </>
          )}
          {status.spentBy && (
            <>
              {' '}
              by transaction <Tx txid={status.spentBy} />
            </>
          )}
          . Nothing can be bid on it any more.
        </Notice>
        <Section title="Its last output">
          <Facts
            rows={[
              ['Claim id', <Hash hash={status.claimId} isWhole />],
              ['Output', <Output txid={status.txid} n={status.n} />],
              ['Amount', <Amount lbc={status.amount} />],
              ['In block', <Block height={status.outputHeight} />],
              ['Would have expired', integerText(status.expirationHeight)],
              ['Address', status.address && <Address address={status.address} />],
              ['As of', <Block height={tip.height} />],
            ]}
          />
        </Section>
      </>
    ),
  };
}

async function living(context: PageContext, claim: ClaimAnswer) {
  const { ask, query, tip, nowSec, spacingSec, taken } = context;
  const id = claim.claim_id;
  const after = query.get('after') ?? undefined;
  const isChannel = claim.value_type === 'channel';
  const [supports, claims, bids, status, outputs] = await Promise.all([
    orNull(ask<SupportsAnswer>('listsupports', id, SUPPORTS, ...(after === undefined ? [] : [after]))),
    isChannel
      ? orNull(
          ask<{ claims: ClaimAnswer[]; total: number }>('searchclaims', {
            channel_ids: [id],
            order_by: ['release_time'],
            limit: CLAIMS,
          }),
        )
      : null,
    orNull(ask<ListClaimsAnswer>('listclaims', claim.name, PLACES)),
    orNull(ask<ClaimStatusAnswer>('getclaimstatus', id)),
    orNull(outputsOf(ask, id, { txid: claim.txid, n: claim.nout })),
  ]);
  const place = isMissing(bids) ? undefined : bids.bids.find(({ claimId }) => claimId === id)?.bid;
  const path = claimLink(id);
  const title = titleOf(claim.value) ?? claim.name;
  const description = textOf(partOf(claim.value, 'description'));
  const warning = nameWarning(claim.name);
  const isWaiting = claim.is_waiting === true;
  const activation = isWaiting ? undefined : claim.activation_height;
  const expiration = isWaiting ? undefined : claim.expiration_height;
  const blocksLeft = expiration === undefined ? Infinity : expiration - tip.height;
  const isActive = activation !== undefined && activation <= tip.height;
  const { signing_channel: channel } = claim;
  return {
    title: shownLine(title, 100),
    description: description ?? `A claim of the name ${claim.name} for ${amountText(claim.amount)} LBC.`,
    topics: ['tip', 'mempool'],
    isLively: true,
    body: (
      <>
        <div class="lead">
          <Pattern id={id} />
          <div>
            <h1>
              <Title text={title} />
            </h1>
            <Tag>{claim.value_type ?? 'not decoded'}</Tag>{' '}
            {isWaiting ? (
              <Tag tone="warning">waits in the mempool</Tag>
            ) : claim.is_controlling ? (
              <Tag tone="good">holds the name</Tag>
            ) : isActive ? (
              <Tag>bids</Tag>
            ) : (
              <Tag tone="warning">pending</Tag>
            )}{' '}
            at <Name name={claim.name} />
            {channel && (
              <>
                {' '}
                in{' '}
                <a href={claimLink(channel.claim_id)}>
                  <Title text={channel.name} />
                </a>{' '}
                <Tag tone="good">✓ signature valid</Tag>
              </>
            )}
            {claim.channel_id && !channel && (
              <>
                {' '}
                <Tag tone="warning">signature not valid</Tag> names the channel{' '}
                <ClaimId id={claim.channel_id} />
              </>
            )}
          </div>
        </div>
        {warning && <Notice tone="warning">{warning}</Notice>}
        <TakenBack
          blocks={takenFrom(taken, ({ claimId, formerClaimId }) => claimId === id || formerClaimId === id)}
        />
        {blocksLeft < 20_160 && (
          <Notice tone="warning">
            It expires in {countText(blocksLeft, 'block')} ({blocksText(blocksLeft, spacingSec)}). Its owner
            keeps it by an update.
          </Notice>
        )}
        {claim.is_reposted_claim_gone && <Notice tone="warning">It reposts a claim that is gone.</Notice>}
        <Section title="On its name">
          <Facts
            rows={[
              [
                'Place',
                !isMissing(bids) && !isWaiting && (
                  <a href={nameLink(claim.name)}>
                    {place === undefined ? `below the first ${PLACES}` : placeText(place + 1)} of{' '}
                    {countText(bids.claims, 'bid')}
                  </a>
                ),
              ],
              ['Effective amount', <Amount lbc={claim.effective_amount} />],
              ['Own amount', <Amount lbc={claim.amount} />],
              ['Supports', <Amount lbc={claim.support_amount} />],
              [
                isActive ? 'Active since' : 'Becomes active',
                activation === undefined ? (
                  'not before its block'
                ) : isActive ? (
                  <Block height={activation} />
                ) : (
                  `block ${integerText(activation)}`
                ),
              ],
              ['Expires', expiration !== undefined && `block ${integerText(expiration)}`],
              ['Made', <Time sec={claim.creation_timestamp} now={nowSec} />],
              ['Latest output', <Output txid={claim.txid} n={claim.nout} />],
              ['Reposted', claim.reposted > 0 && countText(claim.reposted, 'time')],
              ['Claims in the channel', isChannel && integerText(claim.claims_in_channel)],
              ['Reposts', claim.reposted_claim_id && <ClaimId id={claim.reposted_claim_id} />],
            ]}
          />
        </Section>
        <Section title="What it says">
          <Picture value={claim.value} context={context} path={path} />
          {description && <LongText text={description} />}
          <Tags value={claim.value} />
          <Facts rows={valueRows(claim.value)} />
        </Section>
        <Section title="Addresses of it">
          <Facts
            rows={[
              ['Claim id', <Copied text={id} />],
              ['Short', <Copied text={claim.short_url} />],
              ['Canonical', <Copied text={claim.canonical_url} />],
              ['Permanent', <Copied text={claim.permanent_url} />],
            ]}
          />
        </Section>
        {claims !== null && (
          <Section
            title="Claims of the channel"
            more={<a href={withQuery('/claims', { channel: id })}>All of them</a>}
          >
            {isMissing(claims) ? (
              <Notice>{claims.message}</Notice>
            ) : (
              <ClaimTable
                claims={claims.claims}
                nowSec={nowSec}
                caption="Claims that the channel signed"
                empty="The channel has signed no claim."
              />
            )}
          </Section>
        )}
        <Section
          title={isMissing(supports) ? 'Supports' : `Supports (${integerText(supports.total)})`}
          id="supports"
        >
          {isMissing(supports) ? (
            <Notice>{supports.message}</Notice>
          ) : (
            <>
              <Table
                caption="Supports"
                empty="Nothing supports this claim."
                rows={supports.supports}
                columns={[
                  {
                    title: 'Output',
                    isHead: true,
                    cell: ({ txid, n }) => <Output txid={txid} n={n} />,
                  },
                  {
                    title: 'Amount',
                    unit: 'LBC',
                    isNumber: true,
                    cell: ({ amount }) => <Coins lbc={amount} />,
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
                  {
                    title: 'Expires',
                    isNumber: true,
                    cell: ({ expirationHeight }) => integerText(expirationHeight),
                  },
                  {
                    title: 'From',
                    cell: ({ channelId, address }) =>
                      channelId ? <ClaimId id={channelId} /> : address ? <Address address={address} /> : '–',
                  },
                ]}
              />
              <Pager
                next={supports.next === undefined ? undefined : withQuery(path, { after: supports.next })}
                first={after === undefined ? undefined : path}
              />
            </>
          )}
        </Section>
        {after === undefined && <ClaimOutputs found={outputs} />}
        <RawValue value={claim.value} hex={isMissing(status) ? undefined : status.value} />
      </>
    ),
  };
}

/** The page of a claim whose block was disconnected by a reorg. */
function takenBack(id: string, blocks: readonly TakenBlock[]): PageResult {
  return {
    status: 404,
    title: 'Claim taken back',
    description: 'The block that made this claim is no longer in the chain.',
    topics: ['tip'],
    body: (
      <>
        <h1>This claim was taken back</h1>
        <p>
          <Hash hash={id} isWhole />
        </p>
        <TakenBack blocks={blocks} />
        <p>Its transaction may come into another block. This page shows the claim again then.</p>
      </>
    ),
  };
}

export const claim: Page = async (context) => {
  const { ask, parts } = context;
  const [wanted = ''] = parts;
  if (!/^[0-9a-f]{40}$/i.test(wanted))
    throw notFound('This is not a claim id', 'A claim is named by its id of 40 hexadecimal digits.', [
      [withQuery('/find', { q: wanted.slice(0, 300) }), 'Search for it'],
    ]);
  const id = wanted.toLowerCase();
  const answer = await orNull(ask<ClaimAnswer>('getclaim', id));
  if (!isMissing(answer)) return living(context, answer);
  if (answer.code !== -5) throw answer;
  const status = await orNull(ask<ClaimStatusAnswer>('getclaimstatus', id));
  if (!isMissing(status)) return ended(status, context);
  if (status instanceof AskError && status.code !== -5 && status.code !== -32601) throw status;
  const gone = takenFrom(context.taken, ({ event, claimId }) => event === 'claim' && claimId === id);
  if (gone.length > 0) return takenBack(id, gone);
  throw notFound('There is no such claim', 'No claim that this node knows has this id.');
};
