/** Rows of the page of a name that are rendered once for several pages. */
import { Fragment, h } from 'preact';
import { render } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { KeptRows } from '../../../src/explorer/keptRows.js';
import { PAGES } from '../../../src/explorer/pages/pageTable.js';
import { markup } from '../../../src/page/markup.js';
import { answers, contextOf, ID } from '../../support/hostileAnswers.js';

const OTHER = 'ef'.repeat(20);
const listed = answers('harmless')['listclaims'] as { bids: object[]; holder: object };

async function bidsShown(rows: KeptRows, answer: object): Promise<string> {
  const context = contextOf('harmless', ['harmless'], {}, 'harmless', {
    listclaims: { ...listed, ...answer },
  });
  const result = await PAGES.get('name')!({ ...context, rows, taken: [] });
  if ('redirect' in result) throw new Error('the page redirects');
  return render(h(Fragment, null, result.body))
    .split('id="bids"')[1]!
    .split(/<\/?tbody>/)[1]!;
}

describe('kept rows', () => {
  it('are rendered once for a key', () => {
    const rows = new KeptRows();
    let made = 0;
    const row = () => rows.of('key', () => (made++, markup`<tr>${'<b>'}</tr>`));
    expect([render(row()), render(row()), made]).toEqual(['<tr>&lt;b></tr>', '<tr>&lt;b></tr>', 1]);
    expect(render(rows.of('other', () => markup`<tr></tr>`))).toBe('<tr></tr>');
  });

  it('are not kept if they have elements that are rendered later', () => {
    const rows = new KeptRows();
    let made = 0;
    const row = () => rows.of('key', () => (made++, markup`<tr>${h('b', null, 'x')}</tr>`));
    expect([render(row()), render(row()), made]).toEqual(['<tr><b>x</b></tr>', '<tr><b>x</b></tr>', 2]);
  });

  it('give the same page of a name as new rows', async () => {
    const rows = new KeptRows();
    const [bid] = listed.bids;
    for (const answer of [
      {},
      {},
      { holder: { ...listed.holder, claimId: OTHER } },
      {
        bids: [
          { ...bid, amount: 5 },
          { ...bid, claimId: OTHER },
        ],
      },
      { name: 'another spelling' },
      {},
    ])
      expect(await bidsShown(rows, answer)).toBe(await bidsShown(new KeptRows(), answer));
    expect(await bidsShown(rows, {})).toContain('holds the name');
    expect(await bidsShown(rows, { holder: { ...listed.holder, claimId: OTHER } })).not.toContain(
      'holds the name',
    );
    expect(await bidsShown(rows, {})).toContain(ID);
  });
});
