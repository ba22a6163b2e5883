/** `/charts/<metric>`: the growth of the chain, as a line chart, a sentence and a table. */
import { Chart } from '../../page/chart.js';
import { Block, Notice, Section, Table } from '../../page/components.js';
import { integerText, prefixedText, timeText } from '../../page/format.js';
import { notFound, type Page } from '../pageContext.js';
import { Chips, isMissing, Missing, orNull } from './parts.js';

interface Point {
  readonly height: number;
  readonly time: number;
  readonly value: number;
}
interface SeriesAnswer {
  readonly metric: string;
  readonly unit: string;
  readonly from: number;
  readonly to: number;
  readonly points: readonly Point[];
}

const METRICS = [
  [
    'difficulty',
    'Difficulty',
    'How much work it takes to find a block, compared with the easiest possible block.',
  ],
  [
    'hashrate',
    'Hash rate',
    'Estimated number of hashes that all miners together compute each second: the mean over the blocks since the previous point. The first page shows the mean over the latest 120 blocks.',
  ],
  ['interval', 'Time between blocks', 'Average time from a block to the next.'],
  ['transactions', 'Transactions a block', 'Average number of transactions in a block.'],
  ['names', 'Names', 'Number of names that a claim holds.'],
  ['claims', 'Claims', 'Number of active claims.'],
  ['amount', 'LBC in claims', 'LBC in active claims. Their owners can take them back.'],
] as const;

const POINTS = 600;
/** Number of rows in the table below the chart. */
const ROWS = 50;
export const charts: Page = async ({ ask, parts }) => {
  const [wanted = 'difficulty'] = parts;
  const metric = METRICS.find(([key]) => key === wanted);
  if (metric === undefined)
    throw notFound(
      'There is no such chart',
      'Choose one of these.',
      METRICS.map(([key, title]) => [`/charts/${key}`, title]),
    );
  const [key, title, meaning] = metric;
  const series = await orNull(ask<SeriesAnswer>('getchainseries', key, null, null, POINTS));
  const step = isMissing(series) ? 1 : Math.max(1, Math.ceil(series.points.length / ROWS));
  const rows = isMissing(series)
    ? []
    : series.points.filter((_, index) => index % step === 0 || index === series.points.length - 1).reverse();
  const [first, last] = isMissing(series) ? [] : [series.points[0], series.points.at(-1)];
  return {
    title: `${title} of the chain`,
    description: `${title} of the LBRY chain by block.`,
    topics: ['tip'],
    body: (
      <>
        <h1>{title}</h1>
        <p class="quiet">{meaning}</p>
        <Chips
          label="Charts"
          items={METRICS.map(([other, text]) => [`/charts/${other}`, text, other === key])}
        />
        {isMissing(series) ? (
          <Missing error={series} />
        ) : series.points.length < 2 ? (
          <Notice>There are not enough blocks yet.</Notice>
        ) : (
          <>
            <Section title={`${title}${series.unit ? ` (${series.unit})` : ''}`}>
              <Chart points={series.points} label={`${title} by block; the table below has the figures`} />
              <p>
                From {prefixedText(first!.value)} at block {integerText(first!.height)} to{' '}
                {prefixedText(last!.value)} at block {integerText(last!.height)}.
              </p>
              <details>
                <summary>Show the figures as a table</summary>
                <Table
                  caption={title}
                  empty=""
                  rows={rows}
                  columns={[
                    { title: 'Block', isHead: true, cell: ({ height }) => <Block height={height} /> },
                    { title: 'Time', cell: ({ time }) => timeText(time) },
                    { title, isNumber: true, cell: ({ value }) => prefixedText(value) },
                  ]}
                />
              </details>
            </Section>
          </>
        )}
      </>
    ),
  };
};
