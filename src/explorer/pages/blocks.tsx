/** `/blocks`: blocks, the latest first, page by page. */
import { Hash, Pager, Section, Table, Time } from '../../page/components.js';
import { integerText, sizeText } from '../../page/format.js';
import { blockLink, withQuery } from '../../page/links.js';
import { integerOf, type Page } from '../pageContext.js';
import { blockRow, type BlockRow } from './blockRow.js';
import { isMissing, orNull } from './parts.js';

const A_PAGE = 25;
const BRANCHES = 10;

interface ChainTip {
  readonly height: number;
  readonly hash: string;
  readonly branchlen: number;
  readonly status: string;
}

const STATUS: Readonly<Record<string, string>> = {
  'valid-fork': 'was valid, had less work',
  'valid-headers': 'was not checked',
  'headers-only': 'its blocks are not known',
  invalid: 'has an invalid block',
};

/** The latest branches outside the active chain. */
function Branches({ tips }: { readonly tips: readonly ChainTip[] }) {
  const branches = tips.filter(({ branchlen }) => branchlen > 0).sort((a, b) => b.height - a.height);
  if (branches.length === 0) return null;
  return (
    <Section title="Branches beside the chain">
      <Table
        caption="Branches beside the chain, the latest first"
        empty=""
        rows={branches.slice(0, BRANCHES)}
        columns={[
          {
            title: 'Last block',
            isHead: true,
            cell: ({ hash }) => <Hash hash={hash} href={blockLink(hash)} />,
          },
          { title: 'Height', isNumber: true, cell: ({ height }) => integerText(height) },
          { title: 'Blocks', isNumber: true, cell: ({ branchlen }) => integerText(branchlen) },
          { title: 'State', cell: ({ status }) => STATUS[status] ?? status },
        ]}
      />
    </Section>
  );
}

export const blocks: Page = async ({ ask, tip, query, nowSec }) => {
  const from = Math.min(integerOf(query, 'from') ?? tip.height, tip.height);
  const rows: BlockRow[] = [];
  let hash: string | undefined = from === tip.height ? tip.hash : await ask<string>('getblockhash', from);
  while (hash !== undefined && rows.length < A_PAGE) {
    const row: BlockRow = await blockRow(ask, hash);
    rows.push(row);
    hash = row.header.previousblockhash;
  }
  const tips = from === tip.height ? await orNull(ask<readonly ChainTip[]>('getchaintips')) : null;
  const next = from - A_PAGE;
  return {
    title: `Blocks up to ${integerText(from)}`,
    description: `Blocks ${Math.max(0, next + 1)} to ${from} of the LBRY chain.`,
    topics: from === tip.height ? ['tip'] : [],
    body: (
      <>
        <h1>Blocks</h1>
        <Section title={`From ${integerText(from)} down`}>
          <Table
            caption="Blocks, the latest first"
            empty="There is no block."
            rows={rows}
            columns={[
              {
                title: 'Height',
                isHead: true,
                cell: ({ header }) => <a href={blockLink(header.hash)}>{integerText(header.height)}</a>,
              },
              { title: 'Age', cell: ({ header }) => <Time sec={header.time} now={nowSec} /> },
              { title: 'Hash', cell: ({ header: { hash } }) => <Hash hash={hash} href={blockLink(hash)} /> },
              { title: 'Transactions', isNumber: true, cell: ({ header }) => integerText(header.nTx) },
              {
                title: 'Size',
                isNumber: true,
                cell: ({ block }) => (block ? sizeText(block.size) : 'pruned'),
              },
              {
                title: 'Weight',
                isNumber: true,
                cell: ({ block }) => (block ? integerText(block.weight) : '–'),
              },
            ]}
          />
          <Pager
            next={next >= 0 ? withQuery('/blocks', { from: next }) : undefined}
            first={from === tip.height ? undefined : '/blocks'}
          />
        </Section>
        {tips !== null && !isMissing(tips) && <Branches tips={tips} />}
      </>
    ),
  };
};
