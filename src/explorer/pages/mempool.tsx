/** `/mempool`: unconfirmed transactions by fee rate, and unconfirmed claim operations. */
import { Amount, Coins, Figures, Pager, Section, Table, Tag, Time, Tx } from '../../page/components.js';
import { integerText, sizeText } from '../../page/format.js';
import { withQuery } from '../../page/links.js';
import type { MempoolClaims, MempoolSummary } from '../answers.js';
import type { Page } from '../pageContext.js';
import { ClaimRef, EventTag, isMissing, Missing, NameOf, NotYet, orNull, type OrError } from './parts.js';
import { withUnmade } from './unmadeClaims.js';

const BAR_WIDTH = 100;
const A_PAGE = 100;

type Estimate = OrError<{ readonly feerate?: number }>;

/** Formats a fee rate in LBC per 1,000 virtual bytes as satoshis per virtual byte. */
const rate = (lbcPerKvb: number): string => (lbcPerKvb * 1e5).toFixed(1);

function SummaryFigures({
  summary,
  estimate,
}: {
  readonly summary: MempoolSummary;
  readonly estimate: Estimate;
}) {
  return (
    <Figures
      items={[
        ['Transactions', integerText(summary.size)],
        ['Size', sizeText(summary.bytes)],
        ['Fees', <Amount lbc={summary.totalFee} />],
        ['Least fee', `${rate(summary.minFeeRate)} sat/vB`],
        [
          'To be in the next six blocks',
          isMissing(estimate) || estimate.feerate === undefined
            ? 'not known'
            : `${rate(estimate.feerate)} sat/vB`,
        ],
      ]}
    />
  );
}

function Bar({ share }: { readonly share: number }) {
  return (
    <svg
      class="bar"
      viewBox="0 0 100 8"
      width={BAR_WIDTH * 2}
      height="16"
      aria-hidden="true"
      preserveAspectRatio="none"
    >
      <rect width={Math.max(1, share * BAR_WIDTH)} height="8" />
    </svg>
  );
}

function Histogram({ histogram }: MempoolSummary) {
  const most = Math.max(1, ...histogram.map(({ bytes }) => bytes));
  return (
    <Section title="By fee rate">
      <Table
        caption="Transactions by fee rate"
        empty="The mempool is empty."
        rows={histogram}
        columns={[
          { title: 'From sat/vB', isHead: true, cell: ({ feerate }) => rate(feerate) },
          { title: 'Transactions', isNumber: true, cell: ({ count }) => integerText(count) },
          { title: 'Size', isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
          { title: '', cell: ({ bytes }) => <Bar share={bytes / most} /> },
        ]}
      />
    </Section>
  );
}

function Newest({ newest, nowSec }: Pick<MempoolSummary, 'newest'> & { readonly nowSec: number }) {
  return (
    <Section title="Newest">
      <Table
        caption="The newest transactions"
        empty="The mempool is empty."
        rows={newest}
        columns={[
          { title: 'Transaction', isHead: true, cell: ({ txid }) => <Tx txid={txid} /> },
          { title: 'Received', cell: ({ time }) => <Time sec={time} now={nowSec} /> },
          { title: 'Fee', unit: 'LBC', isNumber: true, cell: ({ fee }) => <Coins lbc={fee} /> },
          { title: 'sat/vB', isNumber: true, cell: ({ feerate }) => rate(feerate) },
          { title: 'Size', isNumber: true, cell: ({ vsize }) => `${integerText(vsize)} vB` },
        ]}
      />
    </Section>
  );
}

const OPERATIONS = [
  ['claim', 'New claims'],
  ['update', 'Updates'],
  ['support', 'Supports'],
  ['abandon', 'Abandoned'],
] as const;

/** Numbers of claim operations by kind. */
function Operations({ operations }: MempoolSummary) {
  return (
    <ul class="counts">
      {OPERATIONS.filter(([kind]) => (operations[kind] ?? 0) > 0).map(([kind, title]) => (
        <li>
          <Tag>
            {title}: {integerText(operations[kind] ?? 0)}
          </Tag>
        </li>
      ))}
    </ul>
  );
}

interface BidsProps extends MempoolClaims {
  /** Cursor of this page; undefined on the first page. */
  readonly after: string | undefined;
}

function Bids({ claims, next, after }: BidsProps) {
  return (
    <>
      <Table
        caption="Claim operations in the mempool"
        empty="No claim operation is in the mempool."
        rows={claims}
        columns={[
          { title: 'Name', isHead: true, cell: (claim) => <NameOf of={claim} /> },
          {
            title: 'What',
            cell: ({ event, isSupport }) => <EventTag event={event} isSupport={isSupport} isWaiting />,
          },
          {
            title: 'Claim',
            cell: ({ claimId, isUnmade }) => <ClaimRef id={claimId} isUnmade={isUnmade} />,
          },
          { title: 'Amount', unit: 'LBC', isNumber: true, cell: ({ amount }) => <Coins lbc={amount} /> },
          { title: 'Transaction', cell: ({ transaction }) => <Tx txid={transaction} /> },
        ]}
      />
      <Pager
        next={next && withQuery('/mempool', { after: next })}
        first={after === undefined ? undefined : '/mempool'}
      />
    </>
  );
}

export const mempool: Page = async ({ ask, query, nowSec, isSyncing }) => {
  const after = query.get('after') || undefined;
  const [summary, found, estimate] = await Promise.all([
    orNull(ask<MempoolSummary>('getmempoolsummary')),
    orNull(ask<MempoolClaims>('listmempoolclaims', null, null, false, A_PAGE, after ?? null), after),
    orNull(ask<{ feerate?: number }>('estimatesmartfee', 6)),
  ]);
  const claims = isMissing(found) ? found : { ...found, claims: await withUnmade(ask, found.claims) };
  return {
    title: 'Mempool',
    description: 'Unconfirmed transactions and bids.',
    topics: ['mempool', 'tip'],
    isLively: true,
    body: (
      <>
        <h1>Mempool: unconfirmed transactions</h1>
        <p class="quiet">
          These transactions wait for a block. Those with a higher fee for their size usually come first.
        </p>
        {isSyncing && <NotYet />}
        {isMissing(summary) ? (
          <Missing error={summary} />
        ) : (
          <>
            <SummaryFigures summary={summary} estimate={estimate} />
            <Histogram {...summary} />
            <Newest newest={summary.newest} nowSec={nowSec} />
          </>
        )}
        <Section
          title={isMissing(claims) ? 'Claim operations' : `Claim operations (${integerText(claims.total)})`}
          id="claims"
        >
          {!isMissing(summary) && <Operations {...summary} />}
          {isMissing(claims) ? <Missing error={claims} /> : <Bids {...claims} after={after} />}
        </Section>
      </>
    ),
  };
};
