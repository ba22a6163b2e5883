/** `/`: the state of the chain, recent events and upcoming events. */
import { Amount, Block, Figures, Notice, Section, Table, Time } from '../../page/components.js';
import { integerText, prefixedText, sizeText } from '../../page/format.js';
import { blockLink } from '../../page/links.js';
import type { BlockEventsAnswer, ChainInfo, ClaimAnswer, UpcomingAnswer, UpcomingEvent } from '../answers.js';
import type { AskError } from '../explorerRpcStub.js';
import type { Page, PageContext } from '../pageContext.js';
import { EventSubject, InBlocks, isMissing, Missing, NameOf, NotYet, orNull } from './parts.js';
import { blockRow, type BlockRow } from './blockRow.js';
import { ClaimList } from './claimTable.js';

const BLOCKS = 10;
const TAKEOVERS = 10;
/** Blocks per day on the main network. */
const TAKEOVER_BLOCKS = 576;
const NEWEST = 10;

interface HomeBlock extends BlockRow {
  readonly counts: Readonly<Record<string, number>> | null;
}

async function latestBlocks({ ask, tip }: PageContext): Promise<HomeBlock[]> {
  const rows: HomeBlock[] = [];
  let hash: string | undefined = tip.hash;
  while (hash !== undefined && rows.length < BLOCKS) {
    const asked: string = hash;
    const [row, events] = await Promise.all([
      blockRow(ask, asked),
      orNull(ask<BlockEventsAnswer>('getblockevents', asked, 1)),
    ]);
    rows.push({ ...row, counts: isMissing(events) ? null : events.counts });
    hash = row.header.previousblockhash;
  }
  return rows;
}

/** Shown before the first block after genesis: how blocks are produced. */
function EmptyChain({ network }: { readonly network: string }) {
  return (
    <Notice>
      {network === 'regtest' ? (
        <>
          The chain has its genesis block alone. Make a block: <code>lbcnode-cli -regtest generate 1</code>
        </>
      ) : (
        <>
          The chain has its genesis block alone. The node looks for peers that send it the others; its{' '}
          <a href="/node">page</a> shows whom it found.
        </>
      )}
    </Notice>
  );
}

/** The events of the next blocks are not known during the sync. */
function comingOf({ ask, isSyncing }: PageContext): Promise<UpcomingAnswer | AskError | null> {
  return isSyncing
    ? Promise.resolve(null)
    : orNull(ask<UpcomingAnswer>('listupcoming', TAKEOVER_BLOCKS, 'takeover', TAKEOVERS));
}

export const home: Page = async (context) => {
  const { ask, tip, nowSec, spacingSec, network } = context;
  const [info, hashrate, mempool, names, claims, amount, upcoming, newest, blocks] = await Promise.all([
    ask<ChainInfo>('getblockchaininfo'),
    orNull(ask<number>('getnetworkhashps')),
    orNull(ask<{ size: number; bytes: number }>('getmempoolinfo')),
    orNull(ask<number>('gettotalclaimednames')),
    orNull(ask<number>('gettotalclaims')),
    orNull(ask<number>('gettotalvalueofclaims')),
    comingOf(context),
    orNull(ask<{ claims: ClaimAnswer[] }>('searchclaims', { order_by: ['creation_height'], limit: NEWEST })),
    latestBlocks(context),
  ]);
  const shown = <Value,>(value: Value, text: (value: Exclude<Value, Error>) => string): string =>
    value instanceof Error ? '–' : text(value as Exclude<Value, Error>);
  return {
    title: `The LBRY chain at block ${integerText(tip.height)}`,
    description: `Block ${tip.height}, ${shown(names, integerText)} names, ${shown(claims, integerText)} claims.`,
    topics: ['tip', 'mempool'],
    isLively: true,
    body: (
      <>
        <h1>Names, claims and blocks of the LBRY chain</h1>
        {tip.height === 0 && <EmptyChain network={network} />}
        {info.warnings !== '' && <Notice tone="warning">{info.warnings}</Notice>}
        <Figures
          items={[
            ['Height', <Block height={tip.height} />],
            ['Difficulty', prefixedText(info.difficulty)],
            ['Hash rate', shown(hashrate, (rate) => prefixedText(rate, 'H/s'))],
            ['Mempool', shown(mempool, ({ size, bytes }) => `${integerText(size)} tx, ${sizeText(bytes)}`)],
            ['Names', shown(names, integerText)],
            ['Claims', shown(claims, integerText)],
            ['LBC in claims', isMissing(amount) ? '–' : <Amount lbc={amount} />],
          ]}
        />
        <Section title="Latest blocks" more={<a href="/blocks">All blocks</a>}>
          <Table
            caption="The latest blocks"
            empty="There is no block."
            rows={blocks}
            columns={[
              {
                title: 'Height',
                isHead: true,
                cell: ({ header }) => <a href={blockLink(header.hash)}>{integerText(header.height)}</a>,
              },
              { title: 'Age', cell: ({ header }) => <Time sec={header.time} now={nowSec} /> },
              { title: 'Transactions', isNumber: true, cell: ({ header }) => integerText(header.nTx) },
              {
                title: 'Size',
                isNumber: true,
                cell: ({ block }) => (block ? sizeText(block.size) : 'pruned'),
              },
              {
                title: 'Claims',
                isNumber: true,
                cell: ({ counts }) =>
                  counts ? integerText((counts['claim'] ?? 0) + (counts['update'] ?? 0)) : '–',
              },
              {
                title: 'Supports',
                isNumber: true,
                cell: ({ counts }) => (counts ? integerText(counts['support'] ?? 0) : '–'),
              },
              {
                title: 'Ended',
                isNumber: true,
                cell: ({ counts }) =>
                  counts ? integerText((counts['abandon'] ?? 0) + (counts['expiration'] ?? 0)) : '–',
              },
              {
                title: 'Changed hands',
                isNumber: true,
                cell: ({ counts }) => (counts ? integerText(counts['takeover'] ?? 0) : '–'),
              },
            ]}
          />
        </Section>
        <div class="columns">
          <Section title="Names that change hands next" more={<a href="/upcoming">All that comes</a>}>
            {upcoming === null ? (
              <NotYet />
            ) : isMissing(upcoming) ? (
              <Missing error={upcoming} />
            ) : (
              <Table<UpcomingEvent>
                caption="The next takeovers"
                empty="No name changes hands by itself in the next day."
                rows={upcoming.events}
                columns={[
                  {
                    title: 'Name',
                    isHead: true,
                    cell: (event) => (
                      <NameOf of={{ ...event, name: event.name ?? event.normalized_name ?? '' }} />
                    ),
                  },
                  { title: 'From → to', cell: (event) => <EventSubject event={event} /> },
                  {
                    title: 'In',
                    isTight: true,
                    cell: ({ height }) => <InBlocks blocks={height - tip.height} spacingSec={spacingSec} />,
                  },
                ]}
              />
            )}
          </Section>
          <Section title="Newest claims" more={<a href="/claims">Find claims</a>}>
            {isMissing(newest) ? (
              <Missing error={newest} />
            ) : (
              <ClaimList
                claims={newest.claims}
                nowSec={nowSec}
                caption="The newest claims"
                empty="There is not a claim yet."
              />
            )}
          </Section>
        </div>
      </>
    ),
  };
};
