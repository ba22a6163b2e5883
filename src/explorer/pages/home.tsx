/** `/`: the state of the chain, recent events and upcoming events. */
import {
  Amount,
  Block,
  Figures,
  Notice,
  Section,
  Table,
  Time,
  type TableColumn,
} from '../../page/components.js';
import { integerText, prefixedText, sizeText, type Lbc } from '../../page/format.js';
import { blockLink } from '../../page/links.js';
import type { ChainInfo, UpcomingAnswer, UpcomingEvent } from '../answers.js';
import type { Page, PageContext } from '../pageContext.js';
import { EventSubject, InBlocks, isMissing, Missing, NameOf, NotYet, orNull, type OrError } from './parts.js';
import { blocksFrom, eventCounts, type BlockRow, type EventCounts } from './blockRow.js';
import { NewestClaims, newestOf, type Newest } from './newestClaims.js';

const BLOCKS = 10;
const TAKEOVERS = 10;
/** Number of latest blocks from which the hash rate is estimated. */
const HASHRATE_BLOCKS = 120;
/** Number of blocks in which takeovers are listed: those of one day on the main network. */
const TAKEOVER_BLOCKS = 576;

interface HomeBlock extends BlockRow {
  readonly counts: EventCounts | null;
}

async function latestBlocks(context: PageContext): Promise<HomeBlock[]> {
  const rows = await blocksFrom(context, context.tip.hash, BLOCKS);
  return Promise.all(rows.map(async (row) => ({ ...row, counts: await eventCounts(context, row.hash) })));
}

/** Shown while the chain contains only the genesis block. Explains how blocks are produced. */
function EmptyChain({ network, command }: Pick<PageContext, 'network' | 'command'>) {
  return (
    <Notice>
      {network === 'regtest' ? (
        <>
          The chain has only its genesis block. To make a block, type this in the folder where the node was
          started: <code class="whole">{command} generate 1</code>
        </>
      ) : (
        <>
          The chain has only its genesis block. The node searches for peers that send it the other blocks. The{' '}
          <a href="/node">page of the node</a> lists the connected peers.
        </>
      )}
    </Notice>
  );
}

/** Returns the events of the next blocks; null during the sync, because they are not known then. */
function comingOf({ ask, isSyncing }: PageContext): Promise<OrError<UpcomingAnswer> | null> {
  return isSyncing
    ? Promise.resolve(null)
    : orNull(ask<UpcomingAnswer>('listupcoming', TAKEOVER_BLOCKS, 'takeover', TAKEOVERS));
}

interface MempoolSize {
  readonly size: number;
  readonly bytes: number;
}

interface Shown {
  readonly info: ChainInfo;
  readonly hashrate: OrError<number>;
  /** Size of the mempool; null during the sync, because it is not known then. */
  readonly mempool: OrError<MempoolSize> | null;
  readonly names: OrError<number>;
  readonly claims: OrError<number>;
  readonly amount: OrError<Lbc>;
  /** Upcoming events; null during the sync. */
  readonly upcoming: OrError<UpcomingAnswer> | null;
  readonly newest: Newest;
  readonly blocks: readonly HomeBlock[];
}

async function read(context: PageContext): Promise<Shown> {
  const { ask, isSyncing } = context;
  const [blocks, info, hashrate, mempool, names, claims, amount, upcoming, newest] = await Promise.all([
    latestBlocks(context),
    ask<ChainInfo>('getblockchaininfo'),
    orNull(ask<number>('getnetworkhashps', HASHRATE_BLOCKS)),
    isSyncing ? null : orNull(ask<MempoolSize>('getmempoolinfo')),
    orNull(ask<number>('gettotalclaimednames')),
    orNull(ask<number>('gettotalclaims')),
    orNull(ask<Lbc>('gettotalvalueofclaims')),
    comingOf(context),
    newestOf(context),
  ]);
  return { info, hashrate, mempool, names, claims, amount, upcoming, newest, blocks };
}

/** Formats a value; returns a dash if the node returned an error. */
function textOf<Value>(value: OrError<Value>, text: (value: Value) => string): string {
  return isMissing(value) ? '–' : text(value);
}

const mempoolText = ({ size, bytes }: MempoolSize): string => `${integerText(size)} tx, ${sizeText(bytes)}`;

function HomeFigures({
  info,
  hashrate,
  mempool,
  names,
  claims,
  amount,
  height,
}: Shown & { readonly height: number }) {
  return (
    <Figures
      items={[
        ['Height', <Block height={height} />],
        ['Difficulty', prefixedText(info.difficulty)],
        [`Hash rate, ${HASHRATE_BLOCKS} blocks`, textOf(hashrate, (rate) => prefixedText(rate, 'H/s'))],
        ['Mempool', mempool === null ? 'not yet' : textOf(mempool, mempoolText)],
        ['Names', textOf(names, integerText)],
        ['Claims', textOf(claims, integerText)],
        ['LBC in claims', isMissing(amount) ? '–' : <Amount lbc={amount} />],
      ]}
    />
  );
}

/** A column with the number of events of these kinds. */
const eventColumn = (title: string, ...kinds: readonly string[]): TableColumn<HomeBlock> => ({
  title,
  isNumber: true,
  cell: ({ counts }) =>
    counts === null ? '–' : integerText(kinds.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0)),
});

function LatestBlocks({
  blocks,
  nowSec,
}: {
  readonly blocks: readonly HomeBlock[];
  readonly nowSec: number;
}) {
  return (
    <Section title="Latest blocks" more={<a href="/blocks">All blocks</a>}>
      <Table<HomeBlock>
        caption="The latest blocks"
        empty="There is no block."
        rows={blocks}
        columns={[
          {
            title: 'Height',
            isHead: true,
            cell: ({ hash, height }) => <a href={blockLink(hash)}>{integerText(height)}</a>,
          },
          { title: 'Age', cell: ({ timeSec }) => <Time sec={timeSec} now={nowSec} /> },
          { title: 'Transactions', isNumber: true, cell: ({ txCount }) => integerText(txCount) },
          {
            title: 'Size',
            isNumber: true,
            cell: ({ data, absent }) => (data ? sizeText(data.size) : absent),
          },
          eventColumn('Claims', 'claim', 'update'),
          eventColumn('Supports', 'support'),
          eventColumn('Ended', 'abandon', 'expiration'),
          eventColumn('Changed hands', 'takeover'),
        ]}
      />
    </Section>
  );
}

interface TakeoversProps extends Pick<Shown, 'upcoming'> {
  readonly height: number;
  readonly spacingSec: number;
}

function Takeovers({ upcoming, height: now, spacingSec }: TakeoversProps) {
  if (upcoming === null) return <NotYet />;
  if (isMissing(upcoming)) return <Missing error={upcoming} />;
  return (
    <Table<UpcomingEvent>
      caption="The next takeovers"
      empty={`No takeover is due up to block ${integerText(upcoming.to)}.`}
      rows={upcoming.events.slice(0, TAKEOVERS)}
      columns={[
        {
          title: 'Name',
          isHead: true,
          cell: (event) => <NameOf of={{ ...event, name: event.name ?? event.normalized_name ?? '' }} />,
        },
        { title: 'From → to', cell: (event) => <EventSubject event={event} /> },
        {
          title: 'In',
          isTight: true,
          cell: ({ height }) => <InBlocks blocks={height - now} spacingSec={spacingSec} />,
        },
      ]}
    />
  );
}

export const home: Page = async (context) => {
  const { tip, nowSec, spacingSec, network } = context;
  const shown = await read(context);
  const { info, names, claims } = shown;
  return {
    title: `The LBRY chain at block ${integerText(tip.height)}`,
    description: `Block ${tip.height}, ${textOf(names, integerText)} names, ${textOf(claims, integerText)} claims.`,
    topics: ['tip', 'mempool'],
    isLively: true,
    body: (
      <>
        <h1>Names, claims and blocks of the LBRY chain</h1>
        <p class="quiet">
          A claim publishes something under a name and bids LBC, the coin of the network. The claim with the
          most LBC holds the name. <a href="/help">What do the words mean?</a>
        </p>
        {tip.height === 0 && <EmptyChain network={network} command={context.command} />}
        {context.showsPeers && info.warnings !== '' && <Notice tone="warning">{info.warnings}</Notice>}
        <HomeFigures {...shown} height={tip.height} />
        <LatestBlocks blocks={shown.blocks} nowSec={nowSec} />
        <div class="columns">
          <Section title="Names that change hands next" more={<a href="/upcoming">All that comes</a>}>
            <Takeovers upcoming={shown.upcoming} height={tip.height} spacingSec={spacingSec} />
          </Section>
          <Section title="Newest claims" more={<a href="/claims">Find claims</a>}>
            {isMissing(shown.newest) ? (
              <Missing error={shown.newest} />
            ) : (
              <NewestClaims {...shown.newest} nowSec={nowSec} />
            )}
          </Section>
        </div>
      </>
    ),
  };
};
