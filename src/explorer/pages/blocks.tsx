/** `/blocks`: blocks, the latest first, page by page. */
import { Hash, Pager, Section, Table, Time } from '../../page/components.js';
import { integerText, sizeText } from '../../page/format.js';
import { blockLink, withQuery } from '../../page/links.js';
import type { BlockAnswer } from '../answers.js';
import { integerOf, type Page } from '../pageContext.js';

const A_PAGE = 25;

export const blocks: Page = async ({ ask, tip, query, nowSec }) => {
  const from = Math.min(integerOf(query, 'from') ?? tip.height, tip.height);
  const rows: BlockAnswer[] = [];
  let hash: string | undefined = from === tip.height ? tip.hash : await ask<string>('getblockhash', from);
  while (hash !== undefined && rows.length < A_PAGE) {
    const block: BlockAnswer = await ask<BlockAnswer>('getblock', hash, 1);
    rows.push(block);
    hash = block.previousblockhash;
  }
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
                cell: (block) => <a href={blockLink(block.hash)}>{integerText(block.height)}</a>,
              },
              { title: 'Age', cell: (block) => <Time sec={block.time} now={nowSec} /> },
              { title: 'Hash', cell: (block) => <Hash hash={block.hash} href={blockLink(block.hash)} /> },
              { title: 'Transactions', isNumber: true, cell: (block) => integerText(block.tx.length) },
              { title: 'Size', isNumber: true, cell: (block) => sizeText(block.size) },
              { title: 'Weight', isNumber: true, cell: (block) => integerText(block.weight) },
            ]}
          />
          <Pager
            next={next >= 0 ? withQuery('/blocks', { from: next }) : undefined}
            first={from === tip.height ? undefined : '/blocks'}
          />
        </Section>
      </>
    ),
  };
};
