/** `/block/<hash, height or tip>`: a block's effects on names, and its transactions. */
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
} from '../../page/components.js';
import { integerText, prefixedText, sizeText, timeText } from '../../page/format.js';
import { blockLink, withQuery } from '../../page/links.js';
import type { BlockAnswer, BlockEventsAnswer, BlockHeaderAnswer, ClaimEvent } from '../answers.js';
import { AskError } from '../explorerRpcStub.js';
import { integerOf, notFound, type Page, type PageContext } from '../pageContext.js';
import { EventSubject, EventTag, isMissing, Missing, NameOf, OptionalCoins, orNull } from './parts.js';

const A_PAGE = 100;
const SATOSHIS = 1e8;

interface BlockStats {
  /** Both in satoshis. */
  readonly totalfee: number;
  readonly total_out: number;
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

/** The block hash for a path; heights and `tip` redirect to the page of the hash. */
async function hashOf({ ask, tip }: PageContext, wanted: string): Promise<{ hash: string; isHash: boolean }> {
  if (wanted === 'tip') return { hash: tip.hash, isHash: false };
  if (/^[0-9]{1,10}$/.test(wanted)) {
    const height = Number(wanted);
    if (height > tip.height)
      throw notFound('There is no such block yet', `The latest block is ${integerText(tip.height)}.`, [
        [blockLink('tip'), 'The latest block'],
      ]);
    return { hash: await ask<string>('getblockhash', height), isHash: false };
  }
  if (!/^[0-9a-f]{64}$/i.test(wanted))
    throw notFound(
      'This is not a block',
      'A block is named by its hash of 64 hexadecimal digits, or by its height.',
    );
  return { hash: wanted.toLowerCase(), isHash: true };
}

function EventTable({ events }: { readonly events: readonly ClaimEvent[] }): VNode {
  return (
    <Table
      caption="What the block did to names"
      empty="This block did nothing to any name."
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
        { title: 'Transaction', cell: ({ txid }) => (txid === undefined ? '' : <Tx txid={txid} />) },
      ]}
    />
  );
}

export const block: Page = async (context) => {
  const { ask, parts, query, tip } = context;
  const [wanted = ''] = parts;
  const { hash, isHash } = await hashOf(context, wanted);
  if (!isHash && wanted !== 'tip') return { redirect: blockLink(hash) };
  let answer: BlockHeaderAnswer;
  try {
    answer = await ask<BlockHeaderAnswer>('getblockheader', hash);
  } catch (error) {
    if (!(error instanceof AskError) || error.code !== -5) throw error;
    throw notFound('There is no such block', 'This node knows no block with this hash.');
  }
  const after = integerOf(query, 'after');
  const from = integerOf(query, 'tx') ?? 0;
  const isActive = answer.confirmations >= 0;
  // The data of a block may be pruned or missing; its header always exists.
  const [whole, stats] = await Promise.all([
    orNull(ask<BlockAnswer>('getblock', hash, 1)),
    isActive ? orNull(ask<BlockStats>('getblockstats', hash, ['totalfee', 'total_out'])) : null,
  ]);
  const txids = isMissing(whole) ? [] : whole.tx;
  const events = isActive
    ? await orNull(
        after === undefined
          ? ask<BlockEventsAnswer>('getblockevents', hash, A_PAGE)
          : ask<BlockEventsAnswer>('getblockevents', hash, A_PAGE, after),
      )
    : null;
  const place = isActive
    ? null
    : await orNull(ask<string>('getblockhash', Math.min(answer.height, tip.height)));
  const path = blockLink(hash);
  const transactions = txids.slice(from, from + A_PAGE);
  return {
    title: `Block ${integerText(answer.height)}`,
    description: `Block ${answer.height} of ${timeText(answer.time)} with ${answer.nTx} transactions.`,
    topics: ['tip'],
    body: (
      <>
        <h1>Block {integerText(answer.height)}</h1>
        {!isActive && (
          <Notice tone="warning">
            This block is no longer in the chain: a branch with more work took its place.{' '}
            {typeof place === 'string' && <a href={blockLink(place)}>Show the block in its place</a>}
          </Notice>
        )}
        <nav class="pager" aria-label="Neighbours">
          {answer.previousblockhash && (
            <a rel="prev" href={blockLink(answer.previousblockhash)}>
              ← {integerText(answer.height - 1)}
            </a>
          )}
          {answer.nextblockhash && (
            <a rel="next" href={blockLink(answer.nextblockhash)}>
              {integerText(answer.height + 1)} →
            </a>
          )}
        </nav>
        <Figures
          items={[
            ['Time', timeText(answer.time)],
            ['Transactions', integerText(answer.nTx)],
            ...(isMissing(whole) ? [] : [['Size', sizeText(whole.size)] as const]),
            ...(stats === null || isMissing(stats)
              ? []
              : [
                  ['Moved', <Amount lbc={stats.total_out / SATOSHIS} />] as const,
                  ['Fees', <Amount lbc={stats.totalfee / SATOSHIS} />] as const,
                ]),
            ['Confirmations', isActive ? integerText(answer.confirmations) : 'none'],
          ]}
        />
        <Section title="Names" id="names">
          {events === null ? (
            <Notice>What it did to names was taken back with it.</Notice>
          ) : isMissing(events) ? (
            <Missing error={events} />
          ) : (
            <>
              <ul class="counts">
                {KINDS.filter(([kind]) => (events.counts[kind] ?? 0) > 0).map(([kind, title]) => (
                  <li>
                    <Tag tone={kind === 'takeover' ? 'warning' : 'info'}>
                      {title}: {integerText(events.counts[kind] ?? 0)}
                    </Tag>
                  </li>
                ))}
              </ul>
              <EventTable events={events.events} />
              <Pager
                next={events.next === undefined ? undefined : withQuery(path, { after: events.next })}
                first={after === undefined ? undefined : path}
              />
            </>
          )}
        </Section>
        <Section title="Transactions" id="transactions">
          {isMissing(whole) ? (
            <Missing error={whole} />
          ) : (
            <>
              <Table
                caption="Transactions of the block"
                empty="There is no transaction."
                rows={transactions}
                columns={[
                  { title: '#', cell: (_, index) => integerText(from + index) },
                  {
                    title: 'Transaction',
                    isHead: true,
                    cell: (txid, index) => (
                      <>
                        <Tx txid={txid} /> {from + index === 0 && <Tag>coinbase</Tag>}
                      </>
                    ),
                  },
                ]}
              />
              <Pager
                next={from + A_PAGE < txids.length ? withQuery(path, { tx: from + A_PAGE }) : undefined}
                first={from === 0 ? undefined : path}
              />
            </>
          )}
        </Section>
        <Section title="Header">
          <Facts
            rows={[
              ['Hash', <Hash hash={answer.hash} isWhole />],
              ['Claim trie', <Hash hash={answer.nameclaimroot} isWhole />],
              ['Merkle root', <Hash hash={answer.merkleroot} isWhole />],
              ['Difficulty', prefixedText(answer.difficulty)],
              ['Bits', <code>{answer.bits}</code>],
              ['Nonce', integerText(answer.nonce)],
              ['Version', <code>{answer.versionHex}</code>],
              ['Median time', timeText(answer.mediantime)],
              ['Chain work', <code class="hash">{answer.chainwork.replace(/^0+(?=.)/, '')}</code>],
              ['Weight', !isMissing(whole) && integerText(whole.weight)],
            ]}
          />
        </Section>
      </>
    ),
  };
};
