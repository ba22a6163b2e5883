/** `/blocks`: pages of blocks, sorted from the latest. */
import { Hash, Pager, Section, Table, Time, type TableColumn } from '../../page/components.js';
import { integerText, sizeText } from '../../page/format.js';
import { blockLink, withQuery } from '../../page/links.js';
import { integerOf, type Page } from '../pageContext.js';
import { blocksFrom, type BlockRow } from './blockRow.js';
import { isMissing, noBlockYet, orNull } from './parts.js';

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

/** Table of the latest branches outside the active chain. */
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

const columnsOf = (nowSec: number): readonly TableColumn<BlockRow>[] => [
  {
    title: 'Height',
    isHead: true,
    cell: ({ hash, height }) => <a href={blockLink(hash)}>{integerText(height)}</a>,
  },
  { title: 'Age', cell: ({ timeSec }) => <Time sec={timeSec} now={nowSec} /> },
  { title: 'Hash', cell: ({ hash }) => <Hash hash={hash} href={blockLink(hash)} /> },
  { title: 'Transactions', isNumber: true, cell: ({ txCount }) => integerText(txCount) },
  { title: 'Size', isNumber: true, cell: ({ data, absent }) => (data ? sizeText(data.size) : absent) },
  { title: 'Weight', isNumber: true, cell: ({ data }) => (data ? integerText(data.weight) : '–') },
];

export const blocks: Page = async (context) => {
  const { ask, tip, query, nowSec } = context;
  const from = integerOf(query, 'from') ?? tip.height;
  if (from > tip.height) throw noBlockYet(context, from);
  const hash = from === tip.height ? tip.hash : await ask<string>('getblockhash', from);
  const [rows, tips] = await Promise.all([
    blocksFrom(context, hash, A_PAGE),
    from === tip.height ? orNull(ask<readonly ChainTip[]>('getchaintips')) : null,
  ]);
  const next = from - A_PAGE;
  return {
    title: `Blocks up to ${integerText(from)}`,
    description: `Blocks ${Math.max(0, next + 1)} to ${from} of the LBRY chain.`,
    topics: ['tip'],
    body: (
      <>
        <h1>Blocks</h1>
        <Section title={`From ${integerText(from)} down`}>
          <Table
            caption="Blocks, the latest first"
            empty="There is no block."
            rows={rows}
            columns={columnsOf(nowSec)}
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
