/** `/block/<hash, height or tip>`: the events of a block for names and claims, and its transactions. */
import type { VNode } from 'preact';
import {
  Amount,
  Facts,
  Figures,
  Hash,
  Notice,
  Pager,
  Section,
  Table,
  Tag,
  Tx,
  UtcTime,
} from '../../page/components.js';
import { integerText, prefixedText, sizeText, timeText } from '../../page/format.js';
import { blockLink, withQuery } from '../../page/links.js';
import type { BlockAnswer, BlockEventsAnswer, BlockHeaderAnswer, ClaimEvent } from '../answers.js';
import { AskError } from '../explorerRpcClient.js';
import { integerOf, notFound, searchFor, type Page, type PageContext } from '../pageContext.js';
import {
  EventSubject,
  EventTag,
  GENESIS_TRANSACTION,
  isMissing,
  lbcOf,
  Missing,
  NameOf,
  noBlockYet,
  unknownObject,
  OptionalCoins,
  orNull,
  type OrError,
  type Satoshis,
} from './parts.js';
import { withUnmade } from './unmadeClaims.js';

const A_PAGE = 100;

interface BlockStats {
  /** Fees of the block's transactions and sum of their outputs, both in satoshis. */
  readonly totalfee: Satoshis;
  readonly total_out: Satoshis;
}

const KINDS = [
  ['takeover', 'Changed hands'],
  ['claim', 'Claims'],
  ['update', 'Updates'],
  ['support', 'Supports'],
  ['abandon', 'Abandoned'],
  ['activation', 'Became active'],
  ['expiration', 'Expired'],
] as const;

/** Resolves the path's parameter to a block hash. For a height or `tip` the caller redirects to the page of the hash. */
async function hashOf(context: PageContext, wanted: string): Promise<{ hash: string; isHash: boolean }> {
  const { ask, tip } = context;
  if (wanted === 'tip') return { hash: tip.hash, isHash: false };
  if (/^[0-9]{1,10}$/.test(wanted)) {
    const height = Number(wanted);
    if (height > tip.height) throw noBlockYet(context, height);
    return { hash: await ask<string>('getblockhash', height), isHash: false };
  }
  if (!/^[0-9a-f]{64}$/i.test(wanted))
    throw notFound(
      'This is not a block',
      'A block is identified by its hash of 64 hexadecimal digits, or by its height.',
      searchFor(wanted),
    );
  return { hash: wanted.toLowerCase(), isHash: true };
}

interface EventTableProps {
  readonly events: readonly ClaimEvent[];
  /** Whether the table begins with the first event of the block. */
  readonly isFirst: boolean;
}

function EventTable({ events, isFirst }: EventTableProps): VNode {
  return (
    <Table
      caption="What the block did to names"
      empty={isFirst ? 'This block did nothing to any name.' : 'There is no further event.'}
      rows={events}
      columns={[
        { title: 'What', cell: ({ event, isSupport }) => <EventTag event={event} isSupport={isSupport} /> },
        { title: 'Name', isHead: true, cell: (event) => <NameOf of={event} /> },
        { title: 'Claim', cell: (event) => <EventSubject event={event} /> },
        {
          title: 'Amount',
          unit: 'LBC',
          isNumber: true,
          cell: ({ amount }) => <OptionalCoins lbc={amount} />,
        },
        {
          title: 'Transaction',
          cell: ({ event, spentBy, txid }) => {
            const cause = spentBy ?? txid;
            // No transaction ends an output that expires.
            return cause === undefined || event === 'expiration' ? '' : <Tx txid={cause} />;
          },
        },
      ]}
    />
  );
}

interface Shown {
  readonly header: BlockHeaderAnswer;
  /** Whether the block is in the active chain. */
  readonly isActive: boolean;
  /** Data of the block, or an error if the data is not on disk. */
  readonly whole: OrError<BlockAnswer>;
  /** Statistics; null for a block that is not in the active chain. */
  readonly stats: OrError<BlockStats> | null;
  readonly events: OrError<BlockEventsAnswer> | null;
  /** For a block outside the active chain: the hash of the block at its height in the active chain, if there is one. */
  readonly place: OrError<string> | null;
  readonly path: string;
  /** Positions of the first event and the first transaction that the page shows. */
  readonly after: number | undefined;
  readonly from: number;
}

async function headerOf(context: PageContext, hash: string): Promise<BlockHeaderAnswer> {
  const { ask, tip, isSyncing } = context;
  try {
    const header = await ask<BlockHeaderAnswer>('getblockheader', hash);
    // The node knows the headers of blocks that it downloads later.
    if (isSyncing && header.confirmations < 0 && header.height > tip.height)
      throw noBlockYet(context, header.height);
    return header;
  } catch (error) {
    if (!(error instanceof AskError) || error.code !== -5) throw error;
    throw unknownObject(context, 'block', {
      title: 'The block is unknown',
      message: 'This node knows no block with this hash.',
      near: searchFor(hash),
    });
  }
}

async function read(context: PageContext, hash: string): Promise<Shown> {
  const { ask, query, tip } = context;
  const after = integerOf(query, 'after');
  const from = integerOf(query, 'tx') ?? 0;
  const header = await headerOf(context, hash);
  const isActive = header.confirmations >= 0;
  const [whole, stats, events, place] = await Promise.all([
    orNull(ask<BlockAnswer>('getblock', hash, 1)),
    isActive ? orNull(ask<BlockStats>('getblockstats', hash, ['totalfee', 'total_out'])) : null,
    isActive
      ? orNull(
          ask<BlockEventsAnswer>('getblockevents', hash, A_PAGE, ...(after === undefined ? [] : [after])),
        )
      : null,
    isActive || header.height > tip.height ? null : orNull(ask<string>('getblockhash', header.height)),
  ]);
  const marked =
    events === null || isMissing(events)
      ? events
      : { ...events, events: await withUnmade(ask, events.events) };
  return { header, isActive, whole, stats, events: marked, place, path: blockLink(hash), after, from };
}

function Neighbours({ previousblockhash: before, nextblockhash: next, height }: BlockHeaderAnswer) {
  return (
    <nav class="pager" aria-label="Neighbours">
      {before && (
        <a rel="prev" href={blockLink(before)}>
          ← {integerText(height - 1)}
        </a>
      )}
      {next && (
        <a rel="next" href={blockLink(next)}>
          {integerText(height + 1)} →
        </a>
      )}
    </nav>
  );
}

function BlockFigures({ header, isActive, whole, stats }: Shown) {
  return (
    <Figures
      items={[
        ['Time', <UtcTime sec={header.time} />],
        ['Transactions', integerText(header.nTx)],
        ...(isMissing(whole) ? [] : [['Size', sizeText(whole.size)] as const]),
        ...(stats === null || isMissing(stats)
          ? []
          : [
              ['Moved', <Amount lbc={lbcOf(stats.total_out)} />] as const,
              ['Fees', <Amount lbc={lbcOf(stats.totalfee)} />] as const,
            ]),
        ['Confirmations', isActive ? integerText(header.confirmations) : 'none'],
      ]}
    />
  );
}

function Events({ events, path, after }: Shown) {
  if (events === null) return <Notice>The reorganisation also removed its changes to names.</Notice>;
  if (isMissing(events)) return <Missing error={events} />;
  const { counts, next } = events;
  return (
    <>
      <ul class="counts">
        {KINDS.filter(([kind]) => (counts[kind] ?? 0) > 0).map(([kind, title]) => (
          <li>
            <Tag tone={kind === 'takeover' ? 'warning' : 'info'}>
              {title}: {integerText(counts[kind] ?? 0)}
            </Tag>
          </li>
        ))}
      </ul>
      <EventTable events={events.events} isFirst={after === undefined} />
      <Pager
        next={next === undefined ? undefined : withQuery(path, { after: next })}
        first={after === undefined ? undefined : path}
      />
    </>
  );
}

function Transactions({ header, whole, path, from }: Shown) {
  if (isMissing(whole)) return <Missing error={whole} />;
  return (
    <>
      <Table
        caption="Transactions of the block"
        empty="There is no further transaction."
        rows={whole.tx.slice(from, from + A_PAGE)}
        columns={[
          { title: '#', cell: (_, index) => integerText(from + index) },
          {
            title: 'Transaction',
            isHead: true,
            cell: (txid, index) => (
              <>
                {header.height === 0 ? <Hash hash={txid} /> : <Tx txid={txid} />}{' '}
                {from + index === 0 && <Tag>coinbase</Tag>}
              </>
            ),
          },
        ]}
      />
      {header.height === 0 && <p class="quiet">{GENESIS_TRANSACTION}</p>}
      <Pager
        next={from + A_PAGE < whole.tx.length ? withQuery(path, { tx: from + A_PAGE }) : undefined}
        first={from === 0 ? undefined : path}
      />
    </>
  );
}

function Header({ header, whole }: Shown) {
  return (
    <Facts
      rows={[
        ['Hash', <Hash hash={header.hash} isWhole />],
        ['Claim trie', <Hash hash={header.nameclaimroot} isWhole />],
        ['Merkle root', <Hash hash={header.merkleroot} isWhole />],
        ['Difficulty', prefixedText(header.difficulty)],
        ['Bits', <code>{header.bits}</code>],
        ['Nonce', integerText(header.nonce)],
        ['Version', <code>{header.versionHex}</code>],
        ['Median time', <UtcTime sec={header.mediantime} />],
        ['Chain work', <code class="hash">{header.chainwork.replace(/^0+(?=.)/, '')}</code>],
        ['Weight', !isMissing(whole) && integerText(whole.weight)],
      ]}
    />
  );
}

export const block: Page = async (context) => {
  const [wanted = ''] = context.parts;
  const { hash, isHash } = await hashOf(context, wanted);
  if (!isHash && wanted !== 'tip') return { redirect: blockLink(hash) };
  const shown = await read(context, hash);
  const { header, isActive, place } = shown;
  return {
    title: `Block ${integerText(header.height)}`,
    description: `Block ${header.height} of ${timeText(header.time)} with ${header.nTx} transactions.`,
    topics: ['tip'],
    body: (
      <>
        <h1>Block {integerText(header.height)}</h1>
        {!isActive && (
          <Notice tone="warning">
            This block has left the active chain.{' '}
            {typeof place === 'string' ? (
              <>
                Another block replaced it. <a href={blockLink(place)}>Show the block in its place</a>
              </>
            ) : (
              'The chain has no block at its height now.'
            )}
          </Notice>
        )}
        <Neighbours {...header} />
        <BlockFigures {...shown} />
        <Section title="Names" id="names">
          <Events {...shown} />
        </Section>
        <Section title="Transactions" id="transactions">
          <Transactions {...shown} />
        </Section>
        <Section title="Header">
          <Header {...shown} />
        </Section>
      </>
    ),
  };
};
