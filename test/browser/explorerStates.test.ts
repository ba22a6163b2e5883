/**
 * Pages of the explorer in the states of a node that are hard to bring about: starting, stopping, syncing, without an index, pruned,
 * busy, broken; and what is malformed or asked too often. The site runs here over answers of tests, looked at in Chromium.
 */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AskError, BusyError } from '../../src/explorer/explorerRpcStub.js';
import { Site, type SiteState } from '../../src/explorer/site.js';
import { answers, HASH, ID } from '../support/hostileAnswers.js';
import { findingsOf, hasChromium, launch } from './support.js';

const TIP = { height: 10, hash: HASH, timeSec: 1_500_000_000 };
const start = {
  host: '127.0.0.1',
  port: 0,
  network: 'main',
  spacingSec: 150,
  hostNames: [],
  proxies: [],
  showsImages: true,
  isIndexable: false,
  showsPeers: false,
  lacking: [],
  command: 'lbcnode-cli',
  methods: [],
};

describe.skipIf(!hasChromium)('pages of the explorer', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let site: Site;
  let base: string;
  let state: SiteState;
  /** Results or errors by method that replace the answers of the node. */
  let instead: Record<string, unknown>;
  const logged: string[] = [];
  let nowMs = 0;

  beforeAll(async () => {
    browser = await launch();
    context = await browser.newContext({ bypassCSP: true });
    page = await context.newPage();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    state = { tip: TIP, sync: null, taken: [], status: null };
    instead = {};
    const known = answers('harmless');
    site = new Site(start, {
      node: {
        ask: (async (method: string) => {
          const answer = instead[method] ?? known[method];
          if (answer instanceof Error) throw answer;
          return answer;
        }) as never,
      },
      state,
      assetFolder: fileURLToPath(new URL('../../dist/explorer/assets', import.meta.url)),
      log: (text) => logged.push(text),
      nowMs: () => nowMs,
    });
    await new Promise<void>((resolve) => site.server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(site.server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await page.goto('about:blank');
    site.live.close();
    site.server.closeAllConnections();
    await new Promise((resolve) => site.server.close(resolve));
  });

  /** Kinds of pages that axe looks at here; it takes the longest. */
  const FOR_AXE = ['The node is starting', 'The node is syncing', 'Search for it', 'Too many requests'];

  /** The answer's status, and the text of the page once it is there. */
  async function look(
    path: string,
  ): Promise<{ status: number; text: string; headers: Record<string, string> }> {
    const answer = (await page.goto(base + path))!;
    const text = await page.locator('body').innerText();
    const kind = FOR_AXE.findIndex((words) => text.includes(words));
    if (kind >= 0) {
      FOR_AXE.splice(kind, 1);
      expect([path, await findingsOf(page)]).toEqual([path, []]);
    }
    return { status: answer.status(), text, headers: answer.headers() };
  }

  it('show the start phase of the node, and reload by themselves', async () => {
    state.status = 'Loading block index…';
    const { status, text, headers } = await look('/blocks');
    expect([status, headers['retry-after']]).toEqual([503, '3']);
    expect(text).toContain('The node is starting');
    expect(text).toContain('Loading block index…');
    state.status = null;
    await page.getByRole('heading', { name: 'Blocks' }).waitFor();
  });

  it('show that the node is stopping', async () => {
    state.status = 'The node is stopping.';
    const { status, text } = await look('/');
    expect(status).toBe(503);
    expect(text).toContain('The node is stopping');
  });

  it('show the progress of the first block', async () => {
    state.tip = { ...TIP, height: 0 };
    expect((await look('/')).text).toContain('The node looks for peers');
  });

  it('show the progress of a sync, and which data is not known yet', async () => {
    state.sync = { headers: 1000, etaSec: 7200 };
    for (const path of ['/', `/block/${HASH}`, '/name/one']) {
      const { text } = await look(path);
      expect(text).toContain(
        'The node is syncing. Block 10 of 1,000 (2017-07-14), 1.0 %, about 2 hours left.',
      );
    }
    for (const path of ['/', '/upcoming', '/mempool']) expect((await look(path)).text).toContain('Not yet');
    state.sync = null;
    state.tip = { ...TIP, height: 11, hash: '11'.repeat(32) };
    expect((await look('/upcoming')).text).not.toContain('Not yet');
  });

  it('name the option for an unavailable part, and show the rest', async () => {
    const off = (option: string): AskError => new AskError(-1, `This needs ${option}`);
    instead = {
      searchclaims: off('-claimsearch'),
      getaddresstxids: off('-addressindex'),
      getaddressutxos: off('-addressindex'),
      getblockevents: off('undo data'),
    };
    for (const [path, missing, rest] of [
      ['/', 'This needs -claimsearch', 'Latest blocks'],
      ['/claims', 'This needs -claimsearch', 'Find claims'],
      ['/address/mx', 'This needs -addressindex', 'Balance'],
      [`/block/${HASH}`, 'This needs undo data', 'Merkle root'],
    ] as const) {
      const { status, text } = await look(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain(missing);
      expect(text).toContain(rest);
    }
    instead = { getclaim: off('-claimindex'), getclaimstatus: off('-claimindex') };
    const claim = await look(`/claim/${ID}`);
    expect([claim.status, claim.text.includes('This needs -claimindex')]).toEqual([501, true]);
  });

  it('show the progress of an index that is being built, and its contents afterwards', async () => {
    const filling = (index: string): AskError =>
      new AskError(-1, `The ${index} index is not complete: block 3 of 10. Retry later.`);
    const unknownTx = new AskError(
      -5,
      'No such mempool transaction. Blockchain transactions are still in the process of being indexed.',
    );
    instead = {
      getclaim: filling('claim'),
      getclaimstatus: filling('claim'),
      getaddresstxids: filling('address'),
      gettxinfo: unknownTx,
      getindexinfo: { txindex: { synced: false, best_block_height: 3 } },
    };
    const pages = [
      [`/claim/${ID}`, 501, 'The claim index is not complete: block 3 of 10'],
      ['/address/mx', 200, 'The address index is not complete: block 3 of 10'],
      [`/tx/${HASH}`, 404, 'Transactions are still being indexed'],
      ['/node', 200, 'is being filled'],
    ] as const;
    for (const [path, status, text] of pages) {
      const found = await look(path);
      expect([path, found.status]).toEqual([path, status]);
      expect(found.text).toContain(text);
    }
    instead = {};
    state.tip = { ...TIP, height: 11, hash: '11'.repeat(32) };
    for (const [path, , text] of pages) {
      const found = await look(path);
      expect([path, found.status]).toEqual([path, 200]);
      expect(found.text).not.toContain(text);
    }
  });

  it('show the available data of a pruned block, and name the missing data', async () => {
    instead = { getblock: new AskError(-1, 'Block not available (pruned data)') };
    const { status, text } = await look(`/block/${HASH}`);
    expect(status).toBe(200);
    expect(text).toContain('Block not available (pruned data)');
    expect(text).toContain('Merkle root');
    expect((await look('/blocks')).text).toContain('pruned');
    instead['gettxinfo'] = new AskError(-1, 'Block not available (pruned data)');
    const tx = await look(`/tx/${HASH}`);
    expect([tx.status, tx.text.includes('pruned data')]).toEqual([501, true]);
  });

  it.each([
    ['/nothing', 404, 'There is no such page'],
    ['/claim/xyz', 404, 'Search for it'],
    ['/block/99', 404, 'The latest block'],
    ['/charts/x', 404, 'Hash rate'],
    ['/name/%zz', 400, 'This address is malformed'],
    ['/blocks?from=x', 400, 'must be a whole number'],
  ])('answer %s by %i', async (path, status, text) => {
    const found = await look(path);
    expect(found.status).toBe(status);
    expect(found.text).toContain(text);
  });

  it('refuse an address that is too long', async () => {
    const { status, text } = await look(`/find?q=${'a'.repeat(5000)}`);
    expect([status, text.includes('This address is too long')]).toEqual([414, true]);
  });

  it('refuse too many requests with a waiting time, and continue afterwards', async () => {
    nowMs += 60_000;
    for (let n = 0; n < 60; n++) await fetch(`${base}/robots.txt`);
    for (let n = 0; n < 60; n++) await fetch(`${base}/nothing`);
    const { status, text, headers } = await look('/blocks');
    expect([status, headers['retry-after']]).toEqual([429, '1']);
    expect(text).toContain('Too many requests');
    nowMs += 1000;
    expect((await look('/blocks')).status).toBe(200);
  });

  it('show that the node is busy', async () => {
    instead = { getblock: new BusyError('too many questions wait') };
    const { status, text, headers } = await look('/blocks');
    expect([status, headers['retry-after']]).toEqual([503, '2']);
    expect(text).toContain('The node is busy');
  });

  it('show only a number of an internal error, under which the log has the details', async () => {
    instead = { getblock: new Error('a secret place') };
    const { status, text } = await look('/blocks');
    expect(status).toBe(500);
    const number = /as error (\d+)/.exec(text)![1];
    expect(logged.at(-1)).toContain(`error ${number} at /blocks: Error: a secret place`);
    expect(text).not.toContain('secret');
  });
});
