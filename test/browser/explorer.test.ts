/**
 * The explorer of a real node in a real browser: pages without scripts, open pages that follow the chain, a reorganisation while
 * a page is open, and keyboard operation. Skipped without Chromium (support.ts).
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startRegtest, type RegtestNode } from '../functional/support/node.js';
import { findingsOf, hasChromium, launch, watched } from './support.js';

describe.skipIf(!hasChromium)('the explorer in a browser', () => {
  let node: RegtestNode;
  let browser: Browser;
  let base: string;
  let address: string;
  let claimId: string;
  let txid: string;

  const idOf = async (claimTx: string): Promise<string> =>
    (await node.rpc<{ claimId: string }[]>('getclaimsfortx', [claimTx]))[0]!.claimId;
  const mine = (count = 1): Promise<string[]> => node.rpc('generatetoaddress', [count, address]);
  const isLive = (page: Page): Promise<void> => page.locator('#live[data-live="yes"]').waitFor();

  beforeAll(async () => {
    const port = await freePort();
    const started = [
      startRegtest({ args: ['-explorer', `-explorerport=${port}`, '-fallbackfee=0.0002'] }),
      launch(),
    ] as const;
    [node, browser] = await Promise.all(started);
    base = `http://127.0.0.1:${port}`;
    address = await node.rpc<string>('getnewaddress');
    await mine(110);
    // A name for proofs of the old form, below the all-claims fork.
    await node.rpc('claimname', ['имя', '00', 1]);
    await mine(250);
    txid = await node.rpc<string>('claimname', ['mindblown', '00', 1]);
    await mine();
    claimId = await idOf(txid);
  });
  afterAll(async () => {
    await browser?.close();
    await node?.stop();
  });

  // The long test checks all pages in all color schemes and widths.
  it('has accessible pages', async () => {
    for (const [colorScheme, width, paths] of [
      ['light', 320, ['/name/mindblown', '/console']],
      ['dark', 1280, ['/', `/claim/${claimId}`]],
    ] as const) {
      const viewport = { width, height: 900 };
      const context = await browser.newContext({ colorScheme, viewport, bypassCSP: true });
      const { page, faults } = await watched(context, base);
      for (const path of paths) {
        await page.goto(base + path);
        expect([path, await findingsOf(page)]).toEqual([path, []]);
      }
      expect(faults).toEqual([]);
      await context.close();
    }
  });

  it('shows all of its core pages without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    for (const [path, text] of [
      ['/', 'Latest blocks'],
      ['/name/mindblown', 'To take the name over'],
      ['/names', 'mindblown'],
      [`/claim/${claimId}`, 'Its bid for the name'],
      ['/find?q=mind', 'mindblown'],
      ['/blocks', '361'],
      ['/block/tip', 'Claims: 1'],
      [`/tx/${txid}`, 'unspent'],
      [`/address/${address}`, 'Balance'],
    ] as const) {
      await page.goto(base + path);
      expect([path, await page.locator('h1').count()]).toEqual([path, 1]);
      expect(await page.locator('main').innerText()).toContain(text);
    }
    await context.close();
  });

  it('follows blocks, mempool bids and takeovers on an open page, and keeps typed input', async () => {
    const context = await browser.newContext();
    const { page, faults } = await watched(context, base);
    await page.goto(`${base}/name/mindblown`);
    await isLive(page);
    await page.locator('#q').fill('half a wor');
    const rival = await node.rpc<string>('claimname', ['mindblown', '01', 5]);
    await page.getByText('1 operation for this name').waitFor();
    await mine();
    const rivalId = await idOf(rival);
    await page.locator('main .lead', { hasText: rivalId }).waitFor();
    expect(await page.locator('#q').inputValue()).toBe('half a wor');
    expect(await page.evaluate('document.activeElement.id')).toBe('q');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('keeps what was entered in fields of the page while it is updated', async () => {
    const context = await browser.newContext();
    const { page, faults } = await watched(context, base);
    const updated = async (): Promise<void> => {
      const [tip] = await mine();
      await page.locator(`body[data-tip="${tip}"]`).waitFor();
    };
    await page.goto(`${base}/claims`);
    await isLive(page);
    await page.locator('main [name=text]').fill('half a wor');
    await page.locator('main [name=kind]').selectOption('channel');
    await page.locator('main [name=tag]').focus();
    await updated();
    expect(await page.locator('main [name=text]').inputValue()).toBe('half a wor');
    expect(await page.locator('main [name=kind]').inputValue()).toBe('channel');
    await page.goto(`${base}/name/mindblown`);
    await isLive(page);
    await page.locator('#as-of').fill('36');
    await page.locator('#q').focus();
    await updated();
    expect(await page.locator('#as-of').inputValue()).toBe('36');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('marks the blocks of a reorganisation on an open page, and removes the mark when the blocks return', async () => {
    const context = await browser.newContext();
    const made = await node.rpc<string>('claimname', ['fleeting', '00', 1]);
    const [block] = await mine();
    const madeId = await idOf(made);
    const pages: Record<string, Page> = {};
    for (const [what, path] of Object.entries({
      block: `/block/${block}`,
      tx: `/tx/${made}`,
      name: '/name/fleeting',
      claim: `/claim/${madeId}`,
    })) {
      pages[what] = await context.newPage();
      await pages[what].goto(base + path);
      await isLive(pages[what]);
    }
    const shown = async (texts: Record<string, string>): Promise<void> => {
      for (const [what, text] of Object.entries(texts)) {
        // A page in the background does nothing until it is seen.
        await pages[what]!.bringToFront();
        await pages[what]!.getByText(text).first().waitFor();
      }
    };
    await node.rpc('invalidateblock', [block]);
    await shown({
      block: 'This block has left the active chain',
      tx: 'It waits in the mempool for a block.',
      name: 'Taken back: claimed',
      claim: 'waits in the mempool',
    });
    await node.rpc('reconsiderblock', [block]);
    await shown({ block: 'Confirmations1', tx: 'Confirmations1', claim: 'holds the name' });
    expect(await pages['block']!.getByText('no longer in the chain').count()).toBe(0);
    await pages['name']!.bringToFront();
    await pages['name']!.getByText('Taken back').waitFor({ state: 'detached' });
    await context.close();
  });

  it('verifies proofs in the browser, under the content security policy of the pages', async () => {
    const context = await browser.newContext();
    const { page, faults } = await watched(context, base);
    // The last name has no claim.
    for (const path of ['mindblown', 'имя?block=200', 'я?block=200']) {
      await page.goto(`${base}/proof/${path}`);
      await page.getByText('✓ Checked in this browser: the steps lead to the root').waitFor();
    }
    expect(faults).toEqual([]);
    await context.close();
  });

  it('can be used with the keyboard only', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const focused = (): Promise<string> => page.evaluate('document.activeElement.id');
    await page.goto(base);
    await isLive(page);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    // The browser follows the link after the key is processed.
    await expect.poll(focused).toBe('main');
    await page.keyboard.press('/');
    expect(await focused()).toBe('q');
    await page.keyboard.type('mindblown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${base}/name/mindblown`);
    // Tab reaches every link, field and button in document order, and each shows the focus.
    const targets = await page.evaluate<number>(
      `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')].filter((e) => e.checkVisibility()).length`,
    );
    await page.evaluate('document.activeElement.blur()');
    const reached = new Set<number>();
    for (let n = 0; n < targets; n++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate<[number, string]>(
        `[[...document.querySelectorAll('*')].indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle]`,
      );
      expect(at[1]).not.toBe('none');
      if (reached.size > 0) expect(at[0]).toBeGreaterThan([...reached].at(-1)!);
      reached.add(at[0]);
    }
    expect(reached.size).toBe(targets);
    await page.goBack();
    await page.waitForURL(/\/(#main)?$/);
    await context.close();
  });

  it('updates nothing in a hidden tab until it is visible', async () => {
    const context = await browser.newContext();
    const { page } = await watched(context, base);
    await page.addInitScript(
      "window.isHidden = false; Object.defineProperty(document, 'hidden', { get: () => window.isHidden });",
    );
    await page.goto(base);
    await isLive(page);
    const show = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(`window.isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange'))`);
    await show(true);
    const before = await page.locator('body').getAttribute('data-tip');
    const other = await context.newPage();
    await other.goto(base);
    await isLive(other);
    const [last] = await mine();
    await other.locator(`body[data-tip="${last}"]`).waitFor();
    expect(await page.locator('body').getAttribute('data-tip')).toBe(before);
    await show(false);
    await page.locator(`body[data-tip="${last}"]`).waitFor();
    await context.close();
  });

  it('pauses, and continues at the request of the visitor', async () => {
    const context = await browser.newContext();
    const { page } = await watched(context, base);
    await page.goto(base);
    await isLive(page);
    await page.getByRole('button', { name: 'Pause' }).click();
    const before = await page.locator('body').getAttribute('data-tip');
    const [next] = await mine();
    const other = await context.newPage();
    await other.goto(base);
    expect(await other.locator('body').getAttribute('data-tip')).toBe(next);
    await page.bringToFront();
    expect(await page.locator('body').getAttribute('data-tip')).toBe(before);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.locator(`body[data-tip="${next}"]`).waitFor();
    await context.close();
  });
});
