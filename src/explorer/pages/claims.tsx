/** `/claims?text=&tag=&kind=&channel=&order=`: searches content. */
import { Pager, Section } from '../../page/components.js';
import { integerText } from '../../page/format.js';
import { withQuery } from '../../page/links.js';
import type { ClaimAnswer } from '../answers.js';
import { PageError, type Near, type Page } from '../pageContext.js';
import { ClaimTable, NoneFound, signedBy } from './claim/claimTable.js';

const A_PAGE = 50;
/** Maximum number of claims that `searchclaims` lists. */
const MOST_FOUND = 1000;

/** Maximum number of characters of the words and of the tag. */
export const MAX_TEXT = 300;
export const KINDS = ['stream', 'channel', 'repost', 'collection'] as const;
export const ORDERS = [
  ['release_time', 'newest first'],
  ['effective_amount', 'by amount'],
  ['trending_score', 'trending'],
  ['name', 'by name'],
] as const;

/** Search conditions that the visitor entered. */
type Conditions = {
  readonly text: string | undefined;
  readonly tag: string | undefined;
  readonly channel: string | undefined;
  readonly kind: (typeof KINDS)[number] | undefined;
  /** Name of the order; undefined for the first order. */
  readonly order: string | undefined;
};

function Filters({ own: { text, tag, channel, kind, order } }: { readonly own: Conditions }) {
  return (
    <form class="filters" action="/claims" method="get">
      <label>
        Words <input type="text" name="text" value={text} maxlength={MAX_TEXT} />
      </label>
      <label>
        Tag <input type="text" name="tag" value={tag} maxlength={100} />
      </label>
      <label>
        Kind{' '}
        <select name="kind">
          <option value="">any</option>
          {KINDS.map((known) => (
            <option value={known} selected={known === kind}>
              {known}
            </option>
          ))}
        </select>
      </label>
      <label>
        Order{' '}
        <select name="order">
          {ORDERS.map(([key, words]) => (
            <option value={key} selected={key === (order ?? ORDERS[0][0])}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {channel !== undefined && <input type="hidden" name="channel" value={channel} />}
      <button type="submit">Find</button>
    </form>
  );
}

interface Found {
  readonly claims: readonly ClaimAnswer[];
  readonly total: number;
  readonly next?: string;
}

/** A link to the claims of a channel, which the claim index lists without the search. */
const wholeChannel = (channel: string): Near => [
  withQuery('/claims', { channel, order: 'name' }),
  'All claims of the channel by name',
];

/** Says that the search does not list all claims, and links to all claims of a channel. */
function Cut({ channel }: { readonly channel: string | undefined }) {
  const link = channel === undefined ? undefined : wholeChannel(channel);
  return (
    <p class="quiet">
      The search lists at most {integerText(MOST_FOUND)} claims. {link && <a href={link[0]}>{link[1]}</a>}
    </p>
  );
}

/** Error page of a node without the search. It names the option, and links to lists that need no search. */
const searchOff = (channel: string | undefined, lacking: readonly string[]): PageError =>
  new PageError(
    501,
    'The search for claims is off',
    'The node searches claims only if it is started with -claimsearch' +
      `${lacking.includes('claimindex') ? ', which also turns on -claimindex' : ''}. ` +
      'The names and their claims are listed without it.',
    [
      ...(channel === undefined || lacking.includes('claimindex') ? [] : [wholeChannel(channel)]),
      ['/names', 'Names with active claims'],
    ],
  );

export const claims: Page = async ({ ask, query, nowSec, lacking }) => {
  const given = (key: string): string | undefined => query.get(key) || undefined;
  const [text, tag] = [given('text'), given('tag')?.toLowerCase()];
  const channel = given('channel')?.toLowerCase();
  const kind = KINDS.find((known) => known === query.get('kind'));
  const order = ORDERS.find(([key]) => key === query.get('order'))?.[0] ?? 'release_time';
  const after = query.get('after') ?? '';
  // Claims in the mempool are on the first page.
  const isFirst = after === '';
  // The search lists a limited number of claims. The claims of a channel by name are read from the claim index.
  const isWhole = channel !== undefined && order === 'name' && !text && !tag && !kind;
  if (!isWhole && lacking.includes('claimsearch')) throw searchOff(channel, lacking);
  // The page contains only this list. If the method fails, the error page is shown instead.
  const answer = isWhole
    ? await ask<Found>('listchannelclaims', channel, A_PAGE, ...(isFirst ? [] : [after]))
    : await ask<Found>(
        'searchclaims',
        {
          ...(text && { text }),
          ...(tag && { any_tags: [tag] }),
          ...(channel && signedBy(channel)),
          ...(kind && { claim_type: kind }),
          order_by: [order === 'name' ? '^name' : order],
          limit: A_PAGE,
        },
        after,
      );
  const isCut = !isWhole && answer.total >= MOST_FOUND;
  const own: Conditions = { text, tag, channel, kind, order: order === 'release_time' ? undefined : order };
  return {
    title: 'Find claims',
    description: 'Claims by words, tags, channels and kinds.',
    topics: isFirst ? ['tip', 'mempool'] : ['tip'],
    isLively: isFirst,
    searched: text ?? '',
    body: (
      <>
        <h1>Find claims</h1>
        <Filters own={own} />
        <Section title={`Claims (${integerText(answer.total)}${isCut ? ' or more' : ''})`}>
          <ClaimTable
            claims={answer.claims}
            nowSec={nowSec}
            caption="Claims that were found"
            empty={<NoneFound />}
          />
          <Pager
            next={answer.next ? withQuery('/claims', { ...own, after: answer.next }) : undefined}
            first={isFirst ? undefined : withQuery('/claims', own)}
          />
          {isCut && <Cut channel={channel} />}
        </Section>
      </>
    ),
  };
};
