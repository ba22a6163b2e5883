/** `/`: how the chain is, what just happened, what comes next. */
import { Amount, Block, Figures, Notice, Section, Table, Time } from '../../page/components.js';
import { blocksText, integerText, prefixedText, sizeText } from '../../page/format.js';
import { blockLink } from '../../page/links.js';
import type {
  BlockAnswer,
  BlockEventsAnswer,
  ChainInfo,
  ClaimAnswer,
  UpcomingAnswer,
  UpcomingEvent,
} from '../answers.js';
import type { Page, PageContext } from '../pageContext.js';
import { EventSubject, isMissing, Missing, NameOf, orNull } from './parts.js';
import { ClaimTable } from './claimTable.js';

const BLOCKS = 10;
const TAKEOVERS = 10;
const NEWEST = 10;

interface BlockRow {
  readonly block: BlockAnswer;
  readonly counts: Readonly<Record<string, number>> | null;
}

async function latestBlocks({ ask, tip }: PageContext): Promise<BlockRow[]> {
  const rows: BlockRow[] = [];
  let hash: string | undefined = tip.hash;
  while (hash !== undefined && rows.length < BLOCKS) {
    const asked: string = hash;
    const [block, events] = await Promise.all([
      ask<BlockAnswer>('getblock', asked, 1),
      orNull(ask<BlockEventsAnswer>('getblockevents', asked, 1)),
    ]);
    rows.push({ block, counts: isMissing(events) ? null : events.counts });
    hash = block.previousblockhash;
  }
  return rows;
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
    orNull(ask<UpcomingAnswer>('listupcoming', 576, 'takeover', TAKEOVERS)),
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
        {info.initialblockdownload && network !== 'regtest' && (
          <Notice tone="warning">
            The node reads the chain: block {integerText(info.blocks)} of {integerText(info.headers)},{' '}
            {(info.verificationprogress * 100).toFixed(1)} %.
          </Notice>
        )}
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
                cell: ({ block }) => <a href={blockLink(block.hash)}>{integerText(block.height)}</a>,
              },
              { title: 'Age', cell: ({ block }) => <Time sec={block.time} now={nowSec} /> },
              { title: 'Transactions', isNumber: true, cell: ({ block }) => integerText(block.tx.length) },
              { title: 'Size', isNumber: true, cell: ({ block }) => sizeText(block.size) },
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
            {isMissing(upcoming) ? (
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
                    cell: ({ height }) =>
                      `${integerText(height - tip.height)} blocks (${blocksText(height - tip.height, spacingSec)})`,
                  },
                ]}
              />
            )}
          </Section>
          <Section title="Newest claims" more={<a href="/claims">Find claims</a>}>
            {isMissing(newest) ? (
              <Missing error={newest} />
            ) : (
              <ClaimTable
                claims={newest.claims}
                nowSec={nowSec}
                caption="The newest claims"
                empty="There is no claim yet."
              />
            )}
          </Section>
        </div>
      </>
    ),
  };
};
