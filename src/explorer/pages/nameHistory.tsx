/** The history of a name on its page: its events, the latest first, and the amount that held it as a line. */
import { Amount, Section, Table } from '../../page/components.js';
import { Chart, type ChartPoint } from '../../page/chart.js';
import { countText, integerText } from '../../page/format.js';
import { blockLink, claimLink, withQuery } from '../../page/links.js';
import type { ClaimEvent } from '../answers.js';
import type { AskError } from '../explorerRpcStub.js';
import type { PageContext } from '../pageContext.js';
import { EventSubject, EventTag, isMissing, Missing, OptionalAmount } from './parts.js';

const EVENTS = 100;
/** Events asked for at a time, and the blocks looked at, until there are enough. */
const EVENTS_ASKED = 1000;
const WINDOWS: readonly number[] = [100, 1000, 10_000, 100_000, Infinity];
const MAX_BANDS = 200;

interface HistoryBlock {
  readonly height: number;
  readonly blockhash: string;
  readonly events: readonly ClaimEvent[];
  readonly owner?: { readonly claimId: string; readonly effectiveAmount: number };
}

interface HistoryAnswer {
  readonly blocks: readonly HistoryBlock[];
  readonly next?: number;
}

interface PastEvent extends ClaimEvent {
  readonly height: number;
  readonly blockhash: string;
}

export interface Past {
  /** The latest first: 100, and what else their last block did. */
  readonly events: readonly PastEvent[];
  /** The block above which older events lie; null where there are none. */
  readonly before: number | null;
  /** The blocks that were read, the oldest first. */
  readonly blocks: readonly HistoryBlock[];
}

/**
 * The latest events up to a block. The method tells the oldest first, so windows of blocks below it grow until they have
 * enough, and a crowded name is never read whole.
 */
export async function pastOf(
  ask: PageContext['ask'],
  name: string,
  isHex: boolean,
  to: number,
): Promise<Past> {
  let blocks: readonly HistoryBlock[] = [];
  let events: PastEvent[] = [];
  let from = to;
  for (const window of WINDOWS) {
    from = Math.max(0, to - window);
    const answer = await ask<HistoryAnswer>('getnamehistory', name, from, to, EVENTS_ASKED, isHex);
    // Too many for one answer: the smaller window has the latest ones.
    if (answer.next !== undefined && events.length > 0) break;
    ({ blocks } = answer);
    events = blocks.flatMap(({ height, blockhash, events: inBlock }) =>
      inBlock.map((event) => ({ ...event, height, blockhash })),
    );
    if (events.length >= EVENTS || from === 0) break;
  }
  // Whole blocks, so that the next page begins below the last one.
  const newest = events.toReversed();
  const cutAt = newest[EVENTS - 1]?.height ?? -1;
  const latest = newest.filter(({ height }) => height >= cutAt);
  const isAll = from === 0 && latest.length === events.length;
  return { events: latest, before: isAll || latest.length === 0 ? null : latest.at(-1)!.height, blocks };
}

interface Band {
  readonly claimId: string;
  readonly from: number;
  readonly to: number;
}

/** Who held the name from block to block. */
function bandsOf(blocks: readonly HistoryBlock[], end: number): Band[] {
  const bands: Band[] = [];
  blocks.forEach(({ height, owner }, index) => {
    if (owner === undefined) return;
    const to = blocks[index + 1]?.height ?? end;
    const last = bands.at(-1);
    if (last?.claimId === owner.claimId && last.to === height) bands.splice(-1, 1, { ...last, to });
    else bands.push({ claimId: owner.claimId, from: height, to });
  });
  return bands.slice(-MAX_BANDS);
}

interface TimelineProps {
  readonly blocks: readonly HistoryBlock[];
  /** The block of the page. */
  readonly end: number;
  readonly path: string;
}

/** The effective amount of the holder by block; bands are holders, ticks are blocks with events. */
export function Timeline({ blocks, end, path }: TimelineProps) {
  const [first] = blocks;
  if (first === undefined || end <= first.height || blocks.every(({ owner }) => owner === undefined))
    return null;
  const points: ChartPoint[] = blocks.map(({ height, owner }) => ({
    height,
    value: owner?.effectiveAmount ?? 0,
  }));
  points.push({ height: end, value: points.at(-1)!.value });
  const bands = bandsOf(blocks, end);
  const marks = blocks.filter(({ events }) => events.length > 0).map(({ height }) => height);
  const last = bands.at(-1)!;
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
        The amount that holds the name, in LBC. {countText(bands.length, 'holder')} since block{' '}
        {integerText(first.height)}; the last one since block {integerText(last.from)}. Marks are blocks that
        changed something.
      </p>
      <details>
        <summary>Holders as a table</summary>
        <Table
          caption="Holders"
          empty=""
          rows={bands.toReversed()}
          columns={[
            {
              title: 'Holder',
              isHead: true,
              cell: ({ claimId }) => <a href={claimLink(claimId)}>{claimId.slice(0, 12)}…</a>,
            },
            {
              title: 'From block',
              isNumber: true,
              cell: ({ from }) => <a href={withQuery(path, { block: from })}>{integerText(from)}</a>,
            },
            { title: 'To block', isNumber: true, cell: ({ to }) => integerText(to) },
            {
              title: 'Effective',
              isNumber: true,
              cell: ({ from }) => (
                <Amount lbc={blocks.find(({ height }) => height === from)?.owner?.effectiveAmount ?? 0} />
              ),
            },
          ]}
        />
      </details>
    </Section>
  );
}

interface HistoryProps {
  readonly past: Past | AskError;
  readonly path: string;
  readonly block: string | undefined;
}

export function History({ past, path, block }: HistoryProps) {
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
            columns={[
              {
                title: 'Block',
                isHead: true,
                cell: ({ height, blockhash }) => <a href={blockLink(blockhash)}>{integerText(height)}</a>,
              },
              {
                title: 'What',
                cell: ({ event, isSupport }) => <EventTag event={event} isSupport={isSupport} />,
              },
              { title: 'Claim', cell: (event) => <EventSubject event={event} /> },
              {
                title: 'Amount',
                isNumber: true,
                cell: ({ amount }) => <OptionalAmount lbc={amount} />,
              },
              {
                title: 'State after it',
                isTight: true,
                cell: ({ height }) => (
                  <a href={withQuery(path, { block: height })}>as of {integerText(height)}</a>
                ),
              },
            ]}
          />
          {past.before !== null && (
            <nav class="pager" aria-label="Older events">
              <a href={`${withQuery(path, { before: past.before, block })}#history`}>Older events</a>
            </nav>
          )}
        </>
      )}
    </Section>
  );
}
