/** `/upcoming`: scheduled activations, expirations and takeovers. */
import { Pager, Section, Table, type TableColumn } from '../../page/components.js';
import { integerText } from '../../page/format.js';
import { withQuery } from '../../page/links.js';
import type { UpcomingAnswer, UpcomingEvent } from '../answers.js';
import { integerOf, type Page, type PageResult } from '../pageContext.js';
import {
  AsOf,
  AsOfForm,
  blockOf,
  Chips,
  EventSubject,
  EventTag,
  InBlocks,
  NameOf,
  NotYet,
  OptionalCoins,
} from './parts.js';
import { withUnmade } from './unmadeClaims.js';

const A_PAGE = 100;
export const KINDS = [
  ['all', 'All'],
  ['takeover', 'Changes of hands'],
  ['activation', 'Claims that become active'],
  ['expiration', 'Expiries'],
] as const;
/** Number of future blocks in which events are listed: those of one week on the main network. */
const BLOCKS = 4032;

function notYet(): PageResult {
  return {
    title: 'Coming events',
    description: 'What the next blocks do to names by themselves.',
    topics: ['tip'],
    body: (
      <>
        <h1>Coming events</h1>
        <NotYet />
      </>
    ),
  };
}

const columnsOf = (now: number, spacingSec: number): readonly TableColumn<UpcomingEvent>[] => [
  { title: 'Block', isHead: true, cell: ({ height }) => integerText(height) },
  {
    title: 'In',
    isTight: true,
    cell: ({ height }) => <InBlocks blocks={height - now} spacingSec={spacingSec} />,
  },
  {
    title: 'Name',
    cell: (event) => <NameOf of={{ ...event, name: event.name ?? event.normalized_name ?? '' }} />,
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
];

/** Events of one page, and the query of the next page; null if there is none. */
interface EventPage {
  readonly events: readonly UpcomingEvent[];
  readonly next: { readonly from: number; readonly skip?: number | undefined } | null;
}

/**
 * Selects the events of one page from an answer. An answer contains the events of whole blocks, and a block may have thousands
 * of events. `skip` is the number of events of the block `from` that are on earlier pages.
 */
function eventPageOf({ events, next }: UpcomingAnswer, skip: number): EventPage {
  const shown = events.slice(skip, skip + A_PAGE);
  const following = events[skip + A_PAGE];
  if (following === undefined) return { events: shown, next: next === undefined ? null : { from: next } };
  const { height } = following;
  const earlier = events.slice(0, skip + A_PAGE).filter((event) => event.height === height).length;
  return { events: shown, next: { from: height, skip: earlier || undefined } };
}

export const upcoming: Page = async (context) => {
  const { ask, query, tip, spacingSec, isSyncing } = context;
  if (isSyncing) return notYet();
  const kind = KINDS.find(([key]) => key === query.get('kind'))?.[0] ?? 'all';
  const from = integerOf(query, 'from');
  const skip = integerOf(query, 'skip') ?? 0;
  const block = blockOf(context);
  const given = { kind: kind === 'all' ? undefined : kind, block };
  const path = withQuery('/upcoming', given);
  const answer = await ask<UpcomingAnswer>('listupcoming', BLOCKS, kind, A_PAGE, from ?? null, block ?? null);
  const { events: listed, next } = eventPageOf(answer, skip);
  const events = await withUnmade(ask, listed);
  return {
    title: 'Coming events',
    description: `Activations, expirations and takeovers of the next ${BLOCKS} blocks.`,
    topics: ['tip'],
    body: (
      <>
        <div class="head">
          <h1>Coming events</h1>
          <AsOfForm path="/upcoming" shown={String(block ?? '')} kept={{ kind: given.kind ?? '' }} />
        </div>
        <AsOf height={answer.height} now={tip.height} path={withQuery('/upcoming', { kind: given.kind })} />
        <p class="quiet">
          What happens to names without further transactions: claims become active, claims expire that their
          owners do not update, and names change hands. Blocks {integerText(answer.from)} to{' '}
          {integerText(answer.to)}, as of block {integerText(answer.height)}.
        </p>
        <Chips
          label="What"
          items={KINDS.map(([key, text]) => [
            withQuery('/upcoming', { kind: key === 'all' ? undefined : key, block }),
            text,
            key === kind,
          ])}
        />
        <Section title="Sorted by block">
          <Table
            caption="Coming events"
            empty="No events are due in these blocks."
            rows={events}
            columns={columnsOf(answer.height, spacingSec)}
          />
          <Pager
            next={
              next === null
                ? undefined
                : withQuery('/upcoming', { ...given, ...next, block: answer.blockhash })
            }
            first={from === undefined ? undefined : path}
          />
        </Section>
      </>
    ),
  };
};
