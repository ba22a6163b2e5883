/** `/claim/<id>`: what a claim is, who signed it, what supports it; of a channel its claims. */
import type { ComponentChildren } from 'preact';
import {
  Address,
  Amount,
  Block,
  ClaimId,
  Facts,
  Hash,
  LongText,
  Name,
  Notice,
  Outside,
  Pager,
  Pattern,
  Section,
  Table,
  Tag,
  Time,
  Title,
  Tx,
} from '../../page/components.js';
import {
  amountText,
  blocksText,
  countText,
  durationText,
  integerText,
  sizeText,
  timeText,
} from '../../page/format.js';
import { claimLink, txLink, withQuery } from '../../page/links.js';
import { nameWarning, shownLine, shownText } from '../../page/text.js';
import type { ClaimAnswer, ClaimStatusAnswer, SupportsAnswer } from '../answers.js';
import { AskError } from '../explorerRpcStub.js';
import { notFound, type Page, type PageContext } from '../pageContext.js';
import { ClaimTable, titleOf } from './claimTable.js';
import { isMissing, orNull } from './parts.js';

const SUPPORTS = 100;
const CLAIMS = 50;
/** Decoded values are cut here. */
const MAX_VALUE_CHARS = 100_000;
const MAX_TAGS = 50;

type Value = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const numberOf = (value: unknown): number | null => {
  const number = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};
const partOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Value)[key] : undefined;

function feeText(fee: unknown): string | null {
  const [currency, amount] = [textOf(partOf(fee, 'currency')), textOf(partOf(fee, 'amount'))];
  return currency !== null && amount !== null ? `${amount} ${currency}` : null;
}

/** What the value says, as rows. */
function valueRows(value: unknown): [string, ComponentChildren][] {
  const source = partOf(value, 'source');
  const media = partOf(value, 'video') ?? partOf(value, 'image') ?? partOf(value, 'audio');
  const [width, height] = [numberOf(partOf(media, 'width')), numberOf(partOf(media, 'height'))];
  const duration = numberOf(partOf(media, 'duration'));
  const size = numberOf(partOf(source, 'size'));
  const released = numberOf(partOf(value, 'release_time'));
  const website = textOf(partOf(value, 'website_url')) ?? textOf(partOf(value, 'license_url'));
  const languages = partOf(value, 'languages');
  const rows: [string, string | null | ComponentChildren][] = [
    ['Author', textOf(partOf(value, 'author'))],
    ['Released', released === null ? null : timeText(released)],
    ['Kind of file', textOf(partOf(source, 'media_type'))],
    ['File name', textOf(partOf(source, 'name'))],
    ['Size', size === null ? null : sizeText(size)],
    ['Dimensions', width === null || height === null || width === 0 ? null : `${width} × ${height}`],
    ['Duration', duration === null || duration === 0 ? null : durationText(duration)],
    ['Price', feeText(partOf(value, 'fee'))],
    ['Languages', Array.isArray(languages) ? languages.slice(0, 20).map(String).join(', ') : null],
    ['Licence', textOf(partOf(value, 'license'))],
    ['E-mail', textOf(partOf(value, 'email'))],
    ['Stream hash', textOf(partOf(source, 'sd_hash'))],
    ['File hash', textOf(partOf(source, 'hash'))],
    ['Public key', textOf(partOf(value, 'public_key'))],
  ];
  return [
    ...rows.map(([name, text]): [string, ComponentChildren] => [
      name,
      typeof text === 'string' ? <bdi>{shownLine(text, 300)}</bdi> : text,
    ]),
    [
      'Website',
      website && (
        <Outside url={website}>
          <bdi>{shownLine(website, 120)}</bdi>
        </Outside>
      ),
    ],
  ];
}

function Tags({ value }: { readonly value: unknown }) {
  const tags = partOf(value, 'tags');
  if (!Array.isArray(tags) || tags.length === 0) return null;
  return (
    <p>
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <>
          <a class="tag info" href={withQuery('/claims', { tag: String(tag) })}>
            <bdi>{shownLine(String(tag), 60)}</bdi>
          </a>{' '}
        </>
      ))}
    </p>
  );
}

function Picture({
  value,
  context,
  path,
}: {
  readonly value: unknown;
  readonly context: PageContext;
  readonly path: string;
}) {
  const url = textOf(partOf(partOf(value, 'thumbnail'), 'url'));
  if (url === null || !context.showsImages || !URL.canParse(url) || new URL(url).protocol !== 'https:')
    return null;
  if (context.wantsImages)
    return (
      <img
        class="thumbnail"
        src={url}
        alt="The claim's picture"
        width="320"
        height="180"
        loading="lazy"
        referrerpolicy="no-referrer"
      />
    );
  return (
    <p class="quiet">
      The claim has a picture at <bdi>{new URL(url).host}</bdi>. Its host would learn your address and when
      you look.{' '}
      <a rel="nofollow" href={withQuery('/look', { images: 'yes', back: path })}>
        Show pictures from their hosts
      </a>
    </p>
  );
}

/** The page of a claim that lives no more. */
function ended(status: ClaimStatusAnswer, context: PageContext) {
  const { tip } = context;
  const how = status.state === 'expired' ? 'It expired' : status.spentBy ? 'It was abandoned' : 'It ended';
  return {
    title: `${shownLine(status.title ?? status.name, 80)} (ended)`,
    description: `An ended claim of the name ${shownLine(status.name, 60)}.`,
    topics: [`claim:${status.claimId}`, 'tip'],
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
              [
                'Output',
                <a href={txLink(status.txid, status.n)}>
                  {status.txid.slice(0, 12)}…:{status.n}
                </a>,
              ],
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
  const { ask, query, tip, nowSec, spacingSec } = context;
  const id = claim.claim_id;
  const after = query.get('after') ?? undefined;
  const isChannel = claim.value_type === 'channel';
  const [supports, claims] = await Promise.all([
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
  ]);
  const path = claimLink(id);
  const title = titleOf(claim.value) ?? claim.name;
  const description = textOf(partOf(claim.value, 'description'));
  const warning = nameWarning(claim.name);
  const blocksLeft = claim.expiration_height - tip.height;
  const isActive = claim.activation_height <= tip.height;
  const { signing_channel: channel } = claim;
  const raw = claim.value === undefined ? null : JSON.stringify(claim.value, null, 2);
  return {
    title: shownLine(title, 100),
    description: description ?? `A claim of the name ${claim.name} for ${amountText(claim.amount)} LBC.`,
    topics: [`claim:${id}`, 'tip'],
    body: (
      <>
        <div class="lead">
          <Pattern id={id} />
          <div>
            <h1>
              <Title text={title} />
            </h1>
            <Tag>{claim.value_type ?? 'not decoded'}</Tag>{' '}
            {claim.is_controlling ? (
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
              ['Effective amount', <Amount lbc={claim.effective_amount} />],
              ['Own amount', <Amount lbc={claim.amount} />],
              ['Supports', <Amount lbc={claim.support_amount} />],
              [
                isActive ? 'Active since' : 'Becomes active',
                isActive ? (
                  <Block height={claim.activation_height} />
                ) : (
                  `block ${integerText(claim.activation_height)}`
                ),
              ],
              ['Expires', `block ${integerText(claim.expiration_height)}`],
              ['Made', <Time sec={claim.creation_timestamp} now={nowSec} />],
              [
                'Latest output',
                <a href={txLink(claim.txid, claim.nout)}>
                  {claim.txid.slice(0, 12)}…:{claim.nout}
                </a>,
              ],
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
              ['Claim id', <Hash hash={id} isWhole />],
              [
                'Short',
                <code>
                  <bdi>{shownLine(claim.short_url, 300)}</bdi>
                </code>,
              ],
              [
                'Canonical',
                <code>
                  <bdi>{shownLine(claim.canonical_url, 300)}</bdi>
                </code>,
              ],
              [
                'Permanent',
                <code>
                  <bdi>{shownLine(claim.permanent_url, 300)}</bdi>
                </code>,
              ],
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
                    cell: ({ txid, n }) => (
                      <a href={txLink(txid, n)}>
                        <code>
                          {txid.slice(0, 12)}…:{n}
                        </code>
                      </a>
                    ),
                  },
                  { title: 'Amount', isNumber: true, cell: ({ amount }) => <Amount lbc={amount} /> },
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
        {raw !== null && (
          <Section title="The value as JSON">
            <details>
              <summary>Show it</summary>
              <pre tabIndex={0}>
                <code>{shownText(raw, MAX_VALUE_CHARS)}</code>
              </pre>
            </details>
          </Section>
        )}
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
  throw notFound('There is no such claim', 'No claim that this node knows has this id.');
};
