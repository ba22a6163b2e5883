/** The page of an address with thousands of transactions: its pages list each transaction and each unspent output once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPEN_ADDRESS } from './support/network.js';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';

const BLOCKS = 3000;
const A_PAGE = 50;
let node: RegtestNode;
let base: string;

beforeAll(async () => {
  const port = await freePort();
  node = await startRegtest({ args: ['-explorer', `-explorerport=${port}`, '-explorerproxy=127.0.0.1'] });
  base = `http://127.0.0.1:${port}`;
  for (let left = BLOCKS; left > 0; left -= 500) await node.rpc('generatetoaddress', [500, OPEN_ADDRESS]);
  const isBehind = async (): Promise<boolean> =>
    Object.values(await node.rpc<Record<string, { synced: boolean }>>('getindexinfo')).some(
      ({ synced }) => !synced,
    );
  while (await isBehind()) await new Promise((resolve) => setTimeout(resolve, 50));
});
afterAll(() => node?.stop());

let visitors = 0;

/** Follows the links to the next page, whose query has this parameter. Returns the links of each page that match the pattern. */
async function pagesOf(parameter: string, caption: string, pattern: RegExp): Promise<string[][]> {
  const pages: string[][] = [];
  for (let path: string | undefined = `/address/${OPEN_ADDRESS}`; path !== undefined;) {
    const from = `10.1.${visitors >> 8}.${visitors++ & 255}`;
    const answer: Response = await fetch(base + path, { headers: { 'X-Forwarded-For': from } });
    expect([path, answer.status]).toEqual([path, 200]);
    const html: string = await answer.text();
    const [, table = ''] = html.split(`<caption class="unseen">${caption}</caption>`);
    const [rows = ''] = table.split('</table>');
    pages.push([...rows.matchAll(pattern)].map(([, link]) => link!));
    path = new RegExp(`rel="next" href="(/address/[^"]*[?;]${parameter}=[^"]*)"`)
      .exec(html)?.[1]
      ?.replaceAll('&amp;', '&');
  }
  return pages;
}

it('lists each transaction once, the latest first', async () => {
  const pages = await pagesOf('after', 'Transactions of the address', /href="\/tx\/([0-9a-f]{64})"/g);
  expect(pages).toHaveLength(BLOCKS / A_PAGE);
  for (const page of pages) expect(page).toHaveLength(A_PAGE);
  const query = { addresses: [OPEN_ADDRESS], descending: true, limit: BLOCKS };
  const { txids, next } = await node.rpc<{ txids: string[]; next?: string }>('getaddresstxids', [query]);
  expect([pages.flat(), next]).toEqual([txids, undefined]);
});

it('lists each unspent output once', async () => {
  const pages = await pagesOf('coins', 'Unspent outputs', /href="\/tx\/([0-9a-f]{64})#out-0"/g);
  expect(pages).toHaveLength(BLOCKS / A_PAGE);
  const query = { addresses: [OPEN_ADDRESS], limit: BLOCKS };
  const { utxos } = await node.rpc<{ utxos: { txid: string }[] }>('getaddressutxos', [query]);
  expect(pages.flat()).toEqual(utxos.map(({ txid }) => txid));
});

it('refuses a cursor that is not one of a page', async () => {
  for (const query of ['after=zz', 'after=00', 'coins=ff'])
    expect((await fetch(`${base}/address/${OPEN_ADDRESS}?${query}`)).status).toBe(400);
});
