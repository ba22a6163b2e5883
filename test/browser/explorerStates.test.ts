/**
 * Pages of the explorer in states of a node that are hard to produce: starting, stopping, syncing, without an index, pruned,
 * busy, broken; and malformed or too frequent requests. The site uses answers of the test, and Chromium shows it.
 */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, type WebSocketServer } from 'ws';
import { AskError, BusyError } from '../../src/explorer/explorerRpcClient.js';
import type { SiteState } from '../../src/explorer/pageRenderer.js';
import { Site } from '../../src/explorer/site.js';
import { EXPLORER_START } from '../support/explorerStart.js';
import { answers, HASH, ID } from '../support/hostileAnswers.js';
import { findingsOf, hasChromium, launch } from './support.js';

const TIP = { height: 10, hash: HASH, timeSec: 1_500_000_000 };
// With the header X-Forwarded-For the requests appear to come from other machines.
const start = { ...EXPLORER_START, proxies: ['127.0.0.1'], showsPeers: false, methods: [] };

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
    const ask = (async (method: string) => {
      const answer = instead[method] ?? known[method];
      if (answer instanceof Error) throw answer;
      return answer;
    }) as never;
    site = new Site(start, {
      node: { ask, askExactly: ask },
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

  /** Titles of the pages that axe checks here. Not all pages, because axe takes most of the time. */
  const FOR_AXE = ['The node is starting', 'The node is syncing', 'Search for “xyz”', 'Too many requests'];

  /** Returns the status of the answer, its headers, and the text of the loaded page. */
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

  it('are accessible with a list of claims that have titles and channels', async () => {
    const claim = answers('harmless')['getclaim'] as object;
    const OTHER = 'ef'.repeat(20);
    const titled = { claimId: OTHER, amount: 1, kind: 'stream', createdHeight: 9, time: 1 };
    const listed = [
      { ...titled, name: 'oldsigned', title: 'Signed by the first key', channelId: ID },
      { ...titled, name: 'newsigned', title: 'Signed by the second key', claimId: ID, channelId: ID },
      { ...titled, name: 'waitingclaim', title: 'It waits', createdHeight: undefined },
    ];
    instead = { listnewclaims: { claims: listed }, searchclaims: { claims: [claim], total: 1 } };
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(base);
    expect(await page.locator('.row .under a').count()).toBe(4);
    expect(await findingsOf(page)).toEqual([]);
  });

  it('show the progress of the first block', async () => {
    state.tip = { ...TIP, height: 0 };
    expect((await look('/')).text).toContain('The node searches for peers');
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
      ['/', 'harmless', 'Latest blocks'],
      ['/address/mx', 'This needs -addressindex', 'Balance'],
      [`/block/${HASH}`, 'This needs undo data', 'Merkle root'],
    ] as const) {
      const { status, text } = await look(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain(missing);
      expect(text).toContain(rest);
    }
    const claims = await look('/claims');
    expect([claims.status, claims.text.includes('This needs -claimsearch')]).toEqual([501, true]);
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
      [`/claim/${ID}`, 503, 'The claim index is not complete: block 3 of 10'],
      ['/address/mx', 200, 'The address index is not complete: block 3 of 10'],
      [`/tx/${HASH}`, 503, 'An index is still being filled'],
      ['/node', 200, 'is being filled'],
    ] as const;
    for (const [path, status, text] of pages) {
      const found = await look(path);
      expect([path, found.status]).toEqual([path, status]);
      expect(found.text).toContain(text);
      expect([path, found.headers['retry-after']]).toEqual([path, status === 503 ? '10' : undefined]);
    }
    // The page loads itself again until the index is complete.
    await page.clock.install();
    await look(`/claim/${ID}`);
    instead = {};
    state.tip = { ...TIP, height: 11, hash: '11'.repeat(32) };
    await page.clock.fastForward(10_000);
    await page.getByText('Its bid for the name').waitFor();
    for (const [path, , text] of pages) {
      const found = await look(path);
      expect([path, found.status]).toEqual([path, 200]);
      expect(found.text).not.toContain(text);
    }
  });

  it('name a stopped index, with the cause only for visitors on the machine of the node', async () => {
    const message =
      'The claim index stopped at block 3 of 10 because of an error: /home/me/claims: disk full';
    instead = { getclaim: new AskError(-1, message), getclaimstatus: new AskError(-1, message) };
    const near = await look(`/claim/${ID}`);
    expect([near.status, near.text.includes(message)]).toEqual([501, true]);
    const known = answers('harmless');
    const warnings = { warnings: 'The folder /home/me is nearly full' };
    instead['getblockchaininfo'] = { ...(known['getblockchaininfo'] as object), ...warnings };
    for (const path of ['/', '/node']) expect((await look(path)).text).toContain(warnings.warnings);
    await page.setExtraHTTPHeaders({ 'X-Forwarded-For': '203.0.113.5' });
    const far = await look(`/claim/${ID}`);
    expect(far.text).toContain('because of an error. The log of the node has the reason.');
    expect((await look('/node')).text).toContain('The node has warnings');
    for (const path of [`/claim/${ID}`, '/', '/node'])
      expect((await look(path)).text).not.toContain('/home/me');
    await page.setExtraHTTPHeaders({});
  });

  it('link from a disconnected block to the block in its place', async () => {
    const known = answers('harmless');
    instead = { getblockheader: { ...(known['getblockheader'] as object), confirmations: -1 } };
    const { text } = await look(`/block/${HASH}`);
    expect(text).toContain('This block has left the active chain.');
    await page.getByRole('link', { name: 'Show the block in its place' }).waitFor();
    state.tip = { ...TIP, height: 9, hash: '99'.repeat(32) };
    expect((await look(`/block/${HASH}`)).text).toContain('The chain has no block at its height now.');
  });

  it('load again after a lost connection, because changes were missed', async () => {
    await page.goto(`${base}/mempool`);
    const isLive = page.locator('#live[data-live="yes"]');
    await isLive.waitFor();
    const again = page.waitForRequest(`${base}/mempool`);
    const sockets = Reflect.get(site.live, 'server') as WebSocketServer;
    for (const socket of sockets.clients) socket.terminate();
    await page.getByText('not live').waitFor();
    await again;
    await isLive.waitFor();
  });

  it('say that the connection is lost, and connect at once when the visitor returns to the page', async () => {
    const own = await context.newPage();
    // The page would wait for five seconds or more by itself.
    await own.addInitScript('Math.random = () => 1');
    await own.clock.install();
    await own.goto(`${base}/blocks`);
    await own.clock.runFor(1000);
    const isLive = own.locator('#live[data-live="yes"]');
    await isLive.waitFor();
    const banner = own.getByText('The connection to the node is lost.');
    expect(await banner.count()).toBe(0);
    const { port } = new URL(base);
    const stop = async (): Promise<void> => {
      const sockets = Reflect.get(site.live, 'server') as WebSocketServer;
      for (const socket of sockets.clients) socket.terminate();
      site.server.closeAllConnections();
      await new Promise((resolve) => site.server.close(resolve));
    };
    await stop();
    await banner.waitFor();
    expect(await findingsOf(own)).toEqual([]);
    // After several failed attempts the pause is the longest one.
    for (let n = 0; n < 5; n++) {
      const failed = own.waitForEvent('console', (message) => message.text().includes('/live'));
      await own.clock.runFor(10_000);
      await failed;
    }
    await banner.waitFor();
    await new Promise<void>((resolve) => site.server.listen(Number(port), '127.0.0.1', resolve));
    for (const [target, event] of [
      ['window', 'focus'],
      ['window', 'online'],
      ['document', 'visibilitychange'],
    ] as const) {
      await own.evaluate(`${target}.dispatchEvent(new Event('${event}'))`);
      await isLive.waitFor();
      await banner.waitFor({ state: 'detached' });
      for (const socket of (Reflect.get(site.live, 'server') as WebSocketServer).clients) socket.terminate();
      await banner.waitFor();
    }
    await own.close();
  });

  it('say why they are not live if the visitor has too many open pages, and become live when one is closed', async () => {
    const headers = { Origin: base };
    const others = Array.from(
      { length: 8 },
      () => new WebSocket(`${base.replace('http', 'ws')}/live`, { headers }),
    );
    await Promise.all(others.map((socket) => new Promise((resolve) => socket.once('open', resolve))));
    await page.goto(`${base}/blocks`);
    await page.getByText('not live: too many open pages').waitFor();
    others[0]!.close();
    await page.locator('#live[data-live="yes"]').waitFor();
    expect(await page.locator('#live-words').innerText()).toBe('live');
    for (const socket of others) socket.terminate();
  });

  it('load again after a change before they are connected, after it, and during a load that is stopped', async () => {
    const own = await context.newPage();
    // Loads start at once after a hint.
    await own.addInitScript('Math.random = () => 0');
    const change = (total: number): void => {
      instead['listmempoolclaims'] = { total, claims: [] };
      // Hints are sent at once.
      (Reflect.get(site.live, 'lastMs') as Map<string, number>).clear();
      site.live.changed('mempool');
    };
    const isShown = (total: number): Promise<void> =>
      own.getByRole('heading', { name: `Waiting in the mempool (${total})` }).waitFor();
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    await own.route(/\/assets\/[^/]*\.js$/, (route) => held.then(() => route.continue()));
    instead['listmempoolclaims'] = { total: 1, claims: [] };
    await own.goto(`${base}/name/one`, { waitUntil: 'commit' });
    await isShown(1);
    change(2);
    goOn();
    await isShown(2);
    change(3);
    await isShown(3);
    await own.route('**/name/one', async (route) => {
      await own.unroute('**/name/one');
      await own.evaluate('window.stop()');
      await route.abort();
    });
    change(4);
    await isShown(4);
    await own.close();
  });

  it('become the page of an object that was unknown, also if it was opened before', async () => {
    const own = await context.newPage();
    await own.addInitScript('Math.random = () => 0');
    const next = (error: AskError | undefined, height: number): void => {
      instead = error === undefined ? {} : { gettxinfo: error };
      state.tip = { height, hash: String(height).repeat(32), timeSec: TIP.timeSec };
      (Reflect.get(site.live, 'lastMs') as Map<string, number>).clear();
      site.live.changed('tip');
    };
    const unknown = new AskError(-5, 'No such transaction');
    instead = { gettxinfo: unknown };
    await own.goto(`${base}/tx/${HASH}`);
    await own.locator('#live[data-live="yes"]').waitFor();
    await own.getByRole('heading', { name: 'There is no such transaction' }).waitFor();
    next(undefined, 10);
    await own.getByRole('heading', { name: 'Outputs' }).waitFor();
    next(unknown, 11);
    await own.getByRole('heading', { name: 'There is no such transaction' }).waitFor();
    const sockets = Reflect.get(site.live, 'server') as WebSocketServer;
    for (const socket of sockets.clients) socket.terminate();
    await own.getByText('not live').waitFor();
    await own.locator('#live[data-live="yes"]').waitFor();
    next(undefined, 12);
    await own.getByRole('heading', { name: 'Outputs' }).waitFor();
    await own.close();
  });

  it('show a claim with its waiting operations, its whole description, and its picture on request', async () => {
    const known = answers('harmless')['getclaim'] as { value: object };
    const value = {
      ...known.value,
      description: `${'long '.repeat(2000)}end`,
      website_url: 'lbry://@chan#1/song',
      thumbnail: { url: 'https://pictures.invalid/a.png' },
    };
    instead = { getclaim: { ...known, value } };
    expect((await look(`/claim/${ID}`)).text).toContain('Waiting in the mempool (1)');
    expect(await page.locator('a', { hasText: 'lbry://@chan#1/song' }).getAttribute('href')).toBe(
      '/lbry/%40chan%231/song',
    );
    const description = page.locator('p.long');
    expect(await description.innerText()).not.toContain('end');
    await page.getByRole('link', { name: 'Show the whole description' }).click();
    await description.getByText('end').waitFor();
    const stop = page.getByRole('link', { name: 'Stop loading pictures' });
    expect(await stop.count()).toBe(0);
    await page.route('https://pictures.invalid/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Show pictures from their hosts' }).click();
    await page.locator('img.thumbnail').waitFor({ state: 'attached' });
    await stop.click();
    await page.getByRole('link', { name: 'Show pictures from their hosts' }).waitFor();
    expect(await page.locator('img.thumbnail').count()).toBe(0);
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
    ['/nothing', 404, 'Search for “nothing”'],
    ['/claim/xyz', 404, 'Search for “xyz”'],
    ['/block/99', 404, 'The latest block'],
    ['/tx/99', 404, 'Search for “99”'],
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
    instead = { getblock: new BusyError('too many calls are queued', false) };
    const { status, text, headers } = await look('/blocks');
    expect([status, headers['retry-after']]).toEqual([503, '2']);
    expect(text).toContain('The node is busy');
    expect(text).toContain('Too many pages were requested.');
    instead = { getblock: new BusyError('getblock took too long', true) };
    expect((await look('/blocks')).text).toContain('It did not answer in time.');
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
