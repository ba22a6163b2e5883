/**
 * The history of a name on the page of the name: its events, the latest first, and a line chart of the controlling claim's
 * amount.
 */
import { Amount, Section, Table } from '../../../page/components.js';
import { Chart, type ChartPoint } from '../../../page/chart.js';
import { countText, integerText, type Lbc } from '../../../page/format.js';
import { blockLink, claimLink, withQuery } from '../../../page/links.js';
import { markup } from '../../../page/markup.js';
import type { ClaimEvent } from '../../answers.js';
import type { AskError } from '../../explorerRpcClient.js';
import type { KeptRows } from '../../keptRows.js';
import { MAX_INTEGER, type PageContext } from '../../pageContext.js';
import { EventSubject, EventTag, isMissing, Missing, OptionalCoins } from '../parts.js';

const EVENTS = 30;
const MAX_BANDS = 200;

interface HistoryBlock {
  readonly height: number;
  readonly blockhash: string;
  readonly events: readonly ClaimEvent[];
  readonly owner?: { readonly claimId: string; readonly effectiveAmount: Lbc };
}

/** Blocks with events of the name, sorted from the latest, as are the events of each block. */
interface HistoryAnswer {
  readonly blocks: readonly HistoryBlock[];
  readonly next?: number;
  readonly skip?: number;
}

interface PastEvent extends ClaimEvent {
  readonly height: number;
  readonly blockhash: string;
}

export interface Past {
  /** At most `EVENTS` events, sorted from the latest. */
  readonly events: readonly PastEvent[];
  /** Position in the history at which older events begin; null if no older events exist. */
  readonly older: Place | null;
  /** Blocks that were read for the page, sorted from the oldest. */
  readonly blocks: readonly HistoryBlock[];
}

/** A position in the history: all events up to block `height`, without the latest `skipped` events of that block. */
export interface Place {
  readonly height: number;
  readonly skipped: number;
}

/** Parses a position from a link: `120` or `120-50` (height, skipped events); null if it is malformed. */
export function placeOf(text: string): Place | null {
  const found = /^([0-9]{1,10})(?:-([0-9]{1,10}))?$/.exec(text);
  if (found === null) return null;
  const place = { height: Number(found[1]), skipped: Number(found[2] ?? 0) };
  return Math.max(place.height, place.skipped) > MAX_INTEGER ? null : place;
}

/** Reads the latest events up to a position. */
export async function pastOf(
  ask: PageContext['ask'],
  name: string,
  isHex: boolean,
  { height: end, skipped }: Place,
): Promise<Past> {
  const { blocks, next, skip } = await ask<HistoryAnswer>(
    'getnamehistory',
    name,
    0,
    end,
    EVENTS,
    isHex,
    'newest',
    skipped,
  );
  const events = blocks.flatMap((block) =>
    block.events.map((event) => ({ ...event, height: block.height, blockhash: block.blockhash })),
  );
  const older = next === undefined ? null : { height: next, skipped: skip ?? 0 };
  return { events, older, blocks: blocks.toReversed() };
}

/** A range of blocks with the same owner of the name. */
interface Span {
  /** Id of the owner; null while the name is free. */
  readonly claimId: string | null;
  readonly from: number;
  /** The block after the range. */
  readonly to: number;
  /** Effective amount of the owner at the end of the range. */
  readonly amount: Lbc;
}

/** Divides the blocks up to `end` into ranges with the same owner. */
export function spansOf(blocks: readonly HistoryBlock[], end: number): Span[] {
  const spans: Span[] = [];
  blocks.forEach(({ height, owner }, index) => {
    const claimId = owner?.claimId ?? null;
    const to = blocks[index + 1]?.height ?? end + 1;
    const last = spans.at(-1);
    const from = last?.claimId === claimId ? last.from : height;
    if (last?.claimId === claimId) spans.pop();
    spans.push({ claimId, from, to, amount: owner?.effectiveAmount ?? 0 });
  });
  return spans.slice(-MAX_BANDS);
}

interface TimelineProps {
  readonly blocks: readonly HistoryBlock[];
  /** Height of the last block that the chart shows. */
  readonly end: number;
  readonly path: string;
}

/** Chart of the owner's effective amount by block. Bands show the owners, ticks show blocks with events. */
export function Timeline({ blocks, end, path }: TimelineProps) {
  const [first] = blocks;
  if (first === undefined || blocks.every(({ owner }) => owner === undefined)) return null;
  const points: ChartPoint[] = blocks.map(({ height, owner }) => ({
    height,
    value: Number(owner?.effectiveAmount ?? 0),
  }));
  // The state after the last block lasts until the next block, so that the last range has a width.
  points.push({ height: end + 1, value: points.at(-1)!.value });
  const spans = spansOf(blocks, end);
  const bands = spans.filter(({ claimId }) => claimId !== null);
  const marks = blocks.filter(({ events }) => events.length > 0).map(({ height }) => height);
  const last = bands.at(-1)!;
  const holders = new Set(bands.map(({ claimId }) => claimId)).size;
  return (
    <Section title="Timeline" id="timeline">
      <Chart
        label="Effective amount of the holder by block; the table below has the figures"
        points={points}
        isStep
        bands={bands}
        marks={marks}
        tall={200}
      />
      <p class="quiet">
        The amount that holds the name, in LBC. {countText(holders, 'holder')} since block{' '}
        {integerText(first.height)}
        {bands.length > 1 && `; the last one since block ${integerText(last.from)}`}. Marks are blocks that
        changed something.
      </p>
      <details>
        <summary>Holders as a table</summary>
        <Table
          caption="Holders"
          empty=""
          rows={spans.toReversed()}
          columns={[
            {
              title: 'Holder',
              isHead: true,
              cell: ({ claimId }) =>
                claimId === null ? 'no claim' : <a href={claimLink(claimId)}>{claimId.slice(0, 12)}…</a>,
            },
            {
              title: 'From block',
              isNumber: true,
              cell: ({ from }) => <a href={withQuery(path, { block: from })}>{integerText(from)}</a>,
            },
            {
              title: 'To block',
              isNumber: true,
              cell: ({ to }) => integerText(to - 1),
            },
            {
              title: 'Effective at its end',
              isNumber: true,
              cell: ({ claimId, amount }) => (claimId === null ? '–' : <Amount lbc={amount} />),
            },
          ]}
        />
      </details>
    </Section>
  );
}

interface HistoryProps {
  readonly rows: KeptRows;
  readonly past: Past | AskError;
  readonly path: string;
  readonly block: string | undefined;
}

export function History({ rows, past, path, block }: HistoryProps) {
  return (
    <Section title="History" id="history">
      {isMissing(past) ? (
        <Missing error={past} />
      ) : (
        <>
          <Table
            caption="What happened to the name, the latest first"
            empty="Nothing ever happened to this name."
            rows={past.events}
            kept={(event, make) => rows.of(JSON.stringify(['event', event, path]), make)}
            columns={[
              {
                title: 'Block',
                isHead: true,
                cell: ({ height, blockhash }) =>
                  markup`<a href="${blockLink(blockhash)}">${integerText(height)}</a>`,
              },
              {
                title: 'What',
                cell: ({ event, isSupport }) => EventTag({ event, isSupport }),
              },
              { title: 'Claim', cell: (event) => EventSubject({ event }) },
              {
                title: 'Amount',
                unit: 'LBC',
                isNumber: true,
                cell: ({ amount, effectiveAmount }) => OptionalCoins({ lbc: effectiveAmount ?? amount }),
              },
              {
                title: 'State after it',
                isTight: true,
                cell: ({ height }) =>
                  markup`<a href="${withQuery(path, { block: height })}">as of ${integerText(height)}</a>`,
              },
            ]}
          />
          {past.older !== null && (
            <nav class="pager" aria-label="Older events">
              <a
                href={`${withQuery(path, { before: `${past.older.height}-${past.older.skipped}`, block })}#history`}
              >
                Older events
              </a>
            </nav>
          )}
        </>
      )}
    </Section>
  );
}
