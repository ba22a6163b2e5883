/**
 * Less common pages and uses in a real browser: paper, the keyboard, lists whose pages are turned while blocks arrive and leave,
 * claims that no wallet makes, several tabs, the history of the browser, and other time zones.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildClaimPrefix, buildSupportPrefix } from '../../src/script/claimScript.js';
import { freePort, startRegtest, type RegtestNode } from '../functional/support/node.js';
import {
  blockHex,
  makeBlock,
  makeCoinbase,
  mine,
  type Template,
} from '../functional/support/templateMiner.js';
import { CornerChain, made, open, OPEN_ADDRESS, type Made } from './cornerChain.js';
import { hasChromium, launch, watched } from './support.js';

/** 255 bytes. */
const LONG_NAME = `${'ä'.repeat(127)}z`;
const HEX_NAME = 'ff00fe';
/** Width in CSS pixels of A4 paper with the margins of Chromium. */
const PAPER_WIDTH = 718;
const CROWD = 240;

describe.skipIf(!hasChromium)('the explorer in a browser', () => {
  let node: RegtestNode;
  let browser: Browser;
  let base: string;
  let chain: CornerChain;
  let channel: Made;
  let stream: Made;

  beforeAll(async () => {
    const port = await freePort();
    const args = ['-explorer', `-explorerport=${port}`, '-blockmintxfee=0'];
    [node, browser] = await Promise.all([startRegtest({ args }), launch()] as const);
    base = `http://127.0.0.1:${port}`;
    chain = await CornerChain.start(node, 300);
    channel = await chain.channel('@me', 'My channel');
    await chain.mine();
    const names = (group: number): string[] => Array.from({ length: 200 }, (_, n) => `s${group}-${n}`);
    for (let group = 0; group < 6; group++) await chain.signed(channel.id, names(group));
    stream = made(await chain.signed(channel.id, ['stream'], () => 'A stream'), 0);
    for (const name of [LONG_NAME, Buffer.from(HEX_NAME, 'hex'), ' lead', 'trail ', 'trail', '  '])
      await chain.claim(name, Buffer.from('no metadata'));
    const bid = (_: unknown, n: number): Buffer =>
      open(buildClaimPrefix(Buffer.from('crowd'), Buffer.from(String(n))));
    await chain.send(() => Array.from({ length: CROWD }, bid));
    await chain.mine();
    await chain.support('stream', stream.id, channel.id);
    const support = open(buildSupportPrefix(Buffer.from('stream'), stream.id));
    await chain.send(() => Array<Buffer>(CROWD).fill(support));
    await chain.mine();
  });
  afterAll(async () => {
    await browser?.close();
    await node?.stop();
  });

  async function withPage(
    options: Parameters<Browser['newContext']>[0],
    use: (page: Page, context: BrowserContext) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options);
    const { page, faults } = await watched(context, base);
    await use(page, context);
    // The browser reports the status of an error page as a console error.
    expect(faults.filter((fault) => !/status of 4\d\d/.test(fault))).toEqual([]);
    await context.close();
  }
  const isLive = (page: Page): Promise<void> => page.locator('#live[data-live="yes"]').waitFor();
  /** Requests a page. Waits and repeats the request if the rate limit is reached. */
  async function textOf(path: string): Promise<string> {
    for (;;) {
      const page = await fetch(base + path);
      if (page.status !== 429) return page.text();
      await new Promise((resolve) => setTimeout(resolve, Number(page.headers.get('retry-after')) * 1000));
    }
  }

  it('prints pages in light colours, without controls, and with whole tables', async () => {
    await withPage({ viewport: { width: PAPER_WIDTH, height: 1000 }, colorScheme: 'dark' }, async (page) => {
      await page.goto(`${base}/look?scheme=dark`);
      for (const path of [
        '/',
        '/name/crowd',
        `/name/${encodeURIComponent(LONG_NAME)}`,
        `/claim/${stream.claimId}`,
        '/block/tip',
        `/tx/${stream.txid}`,
        `/address/${OPEN_ADDRESS}`,
        '/console?method=getblock',
      ]) {
        await page.goto(base + path);
        await page.emulateMedia({ media: 'print' });
        const found = await page.evaluate<unknown[]>(
          `[getComputedStyle(document.body).color, document.documentElement.scrollWidth,
            [...document.querySelectorAll('nav, button, input')].filter((e) => e.checkVisibility()).length,
            [...document.querySelectorAll('.scroller, pre')].filter((e) => e.scrollWidth > e.clientWidth).length]`,
        );
        expect([path, ...found]).toEqual([path, 'rgb(22, 32, 46)', PAPER_WIDTH, 0, 0]);
        await page.emulateMedia({ media: 'screen' });
      }
    });
  });

  it('can be used with the keyboard only on less common pages', async () => {
    await withPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
      for (const path of [
        '/find?q=s1',
        '/mempool',
        `/claim/${channel.claimId}`,
        '/console?method=getblockhash&p0=1&run=1',
        '/charts/claims',
        '/proof/stream',
        '/nothing',
        '/name/%zz',
      ]) {
        await page.goto(base + path);
        const targets = await page.evaluate<number>(
          `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')].filter((e) => e.checkVisibility()).length`,
        );
        await page.evaluate('document.activeElement.blur()');
        let last = -1;
        for (let n = 0; n < targets; n++) {
          await page.keyboard.press('Tab');
          const [at, outline] = await page.evaluate<[number, string]>(
            `[[...document.querySelectorAll('*')].indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle]`,
          );
          expect([path, n, outline === 'none', at > last]).toEqual([path, n, false, true]);
          last = at;
        }
      }
    });
  });

  /**
   * Follows the links to the next pages of a list, and calls `between` before each. `rowOf` finds the key of each row. Returns the
   * keys, and the link of the second page.
   */
  async function walk(path: string, rowOf: RegExp, between: () => Promise<unknown>) {
    const rows: string[] = [];
    let second = '';
    for (let next: string | undefined = path; next !== undefined;) {
      const text = await textOf(next);
      rows.push(...[...text.matchAll(rowOf)].map(([, key]) => key!));
      next = /rel="next" href="(\/[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      second ||= next ?? '';
      if (next !== undefined) await between();
    }
    return { rows, second };
  }

  it('has each row of a list once while blocks arrive, and says when a reorganisation ended a list', async () => {
    let made = 0;
    const grow = async (): Promise<void> => {
      await chain.claim('crowd', Buffer.from(`later ${made++}`));
      await chain.send(() => [open(buildSupportPrefix(Buffer.from('stream'), stream.id))]);
      await chain.mine();
    };
    const [pinned] = await chain.mine();
    const bids = await walk(
      '/name/crowd',
      /<th scope="row"><svg[^>]*>.*?<\/svg> <a href="\/claim\/([0-9a-f]{40})"/g,
      grow,
    );
    expect(new Set(bids.rows).size).toBe(bids.rows.length);
    expect(bids.rows).toHaveLength(CROWD);
    const supports = await walk(
      `/claim/${stream.claimId}`,
      /href="(\/tx\/[0-9a-f]{64}#out-\d+)"[^>]*><code[^>]*>[^<]*<\/code><\/a><\/th><td class="number">/g,
      grow,
    );
    expect(new Set(supports.rows).size).toBe(supports.rows.length);
    expect(supports.rows.length).toBeGreaterThan(CROWD);
    const names = await walk(
      '/names?prefix=s',
      /<th scope="row"><a class="name" href="(\/name\/[^"]+)"/g,
      grow,
    );
    expect([new Set(names.rows).size, names.rows.length]).toEqual([1201, 1201]);
    const found = await walk(
      `/claims?channel=${channel.claimId}`,
      /<a class="title" href="\/claim\/([0-9a-f]{40})"/g,
      grow,
    );
    expect([new Set(found.rows).size, found.rows.length]).toEqual([1000, 1000]);
    // The search ends at 1,000 claims, and links to the list of all claims of the channel.
    const text = await textOf(`/claims?channel=${channel.claimId}`);
    const whole = /href="([^"]*)">All claims of the channel by name/.exec(text)![1]!.replaceAll('&amp;', '&');
    const all = await walk(whole, /<a class="title" href="\/claim\/([0-9a-f]{40})"/g, grow);
    expect([new Set(all.rows).size, all.rows.length]).toEqual([1201, 1201]);
    const coins = await walk(
      `/address/${OPEN_ADDRESS}`,
      /<tr><th scope="row"><a href="\/tx\/([0-9a-f]{64})" title/g,
      grow,
    );
    expect(new Set(coins.rows).size).toBe(coins.rows.length);
    expect(coins.rows.length).toBeGreaterThan(400);

    await node.rpc('invalidateblock', [pinned]);
    for (const [second, first] of [
      [bids.second, '/name/crowd'],
      [names.second, '/names?prefix=s'],
    ] as const) {
      const gone = await fetch(base + second);
      expect([second, gone.status]).toEqual([second, 404]);
      expect(await gone.text()).toMatch(
        new RegExp(`(has changed|has left the active chain)[^]*href="${first.replace('?', '\\?')}"`),
      );
      expect((await fetch(base + first)).status).toBe(200);
    }
    await node.rpc('reconsiderblock', [pinned]);
  });

  it('finds and shows names with blanks, with 255 bytes, and names that are not text', async () => {
    await withPage({}, async (page) => {
      for (const [typed, path, heading] of [
        [' lead', '/name/%20lead', '⟨0020⟩lead'],
        ['  ', '/name/%20%20', '⟨0020⟩⟨0020⟩'],
        [HEX_NAME.toUpperCase(), `/name-hex/${HEX_NAME}`, null],
        [LONG_NAME, `/name/${encodeURIComponent(LONG_NAME)}`, null],
      ] as const) {
        await page.goto(base);
        await page.locator('#q').fill(typed);
        await page.keyboard.press('Enter');
        await page.waitForURL(base + path);
        if (heading !== null) expect(await page.locator('h1').innerText()).toBe(heading);
        await page.getByText('To take the name over').waitFor();
      }
      await page.goto(`${base}/find?q=${encodeURIComponent('trail ')}`);
      await page.getByRole('link', { name: 'The name trail', exact: true }).waitFor();
      await page.getByRole('link', { name: 'The name trail⟨0020⟩' }).waitFor();
    });
  });

  it('shows supports of a channel, and that a coinbase makes no claim', async () => {
    const supported = await textOf(`/claim/${stream.claimId}`);
    expect(supported).toContain(`names the channel <a href="/claim/${channel.claimId}"`);
    // A claim in a coinbase would become active in a later block, so it does not change the claim root of its block.
    await chain.mine(70);
    const template = await node.rpc<Template>('getblocktemplate', [{ rules: ['segwit'] }]);
    const script = open(buildClaimPrefix(Buffer.from('stream'), Buffer.from('from a coinbase')));
    const coinbase = makeCoinbase(template, script);
    const block = mine(makeBlock(template, coinbase), template.target);
    expect(await node.rpc('submitblock', [blockHex(block)])).toBeNull();
    const { claimId, txid } = made(coinbase.id, 0);
    const page = await textOf(`/tx/${txid}`);
    expect(page).toContain('refused');
    expect(page).not.toContain(`href="/claim/${claimId}"`);
    expect((await fetch(`${base}/claim/${claimId}`)).status).toBe(404);
  });

  it('follows the chain in each of two tabs, and after a step back', async () => {
    await withPage({}, async (page, context) => {
      const other = await context.newPage();
      await page.goto(`${base}/name/stream`);
      await isLive(page);
      await other.goto(`${base}/claim/${stream.claimId}`);
      await isLive(other);
      const shows = async (tab: Page, tip: string): Promise<void> => {
        await tab.bringToFront();
        await tab.locator(`body[data-tip="${tip}"]`).waitFor();
      };
      const [first] = await chain.mine();
      await shows(page, first!);
      await shows(other, first!);
      await page.bringToFront();
      await page.locator('main .lead a').first().click();
      await page.waitForURL(`${base}/claim/${stream.claimId}`);
      const [second] = await chain.mine();
      await page.goBack();
      await page.waitForURL(`${base}/name/stream`);
      await shows(page, second!);
      await isLive(page);
      const [third] = await chain.mine();
      await shows(page, third!);
      await page.goForward();
      await page.waitForURL(`${base}/claim/${stream.claimId}`);
      await shows(page, third!);
    });
  });

  it('shows times in UTC, and in the time zone of the visitor as tooltips', async () => {
    await withPage({ timezoneId: 'Pacific/Kiritimati', locale: 'ar-EG' }, async (page) => {
      await page.goto(`${base}/block/1`);
      const time = page.locator('time').last();
      await expect.poll(() => time.getAttribute('title')).toContain('\n');
      const [utc, local] = (await time.getAttribute('title'))!.split('\n');
      expect(await time.innerText()).toBe(utc);
      expect(utc).toMatch(/UTC$/);
      expect(local).toMatch(/[٠-٩]/);
    });
  });
});
