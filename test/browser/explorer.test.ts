/**
 * The explorer in a real browser: accessibility by axe-core, both colour schemes, a narrow and a wide window, no request to other
 * hosts, and pages that follow the chain while they are open. It needs Chromium at the path that CHROMIUM names, or
 * `/usr/bin/chromium`; without it nothing is tested.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startRegtest, type RegtestNode } from '../functional/support/node.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) console.log(`skipped: there is no Chromium at ${CHROMIUM}`);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CORE = [
  '/',
  '/names',
  '/name/mindblown',
  '/blocks',
  '/block/tip',
  '/upcoming',
  '/mempool',
  '/node',
  '/console',
];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[] }[];
}

describe.skipIf(!hasChromium)('the explorer in a browser', () => {
  let node: RegtestNode;
  let browser: Browser;
  let base: string;
  let address: string;
  let claimId: string;
  let txid: string;

  beforeAll(async () => {
    const port = await freePort();
    node = await startRegtest({ args: ['-explorer', `-explorerport=${port}`, '-fallbackfee=0.0002'] });
    base = `http://127.0.0.1:${port}`;
    address = await node.rpc<string>('getnewaddress');
    await node.rpc('generatetoaddress', [360, address]);
    txid = await node.rpc<string>('claimname', ['mindblown', '00', 1]);
    await node.rpc('generatetoaddress', [1, address]);
    claimId = (await node.rpc<{ claimId: string }[]>('getclaimsfortx', [txid]))[0]!.claimId;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await node?.stop();
  });

  /** A page that notes requests to other hosts and errors of the console. */
  async function watched(context: BrowserContext): Promise<{ page: Page; faults: string[] }> {
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !request.url().startsWith(base.replace('http', 'ws')))
        faults.push(`asks ${request.url()}`);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    return { page, faults };
  }

  it.each([
    ['light', 320],
    ['light', 1280],
    ['dark', 320],
    ['dark', 1280],
  ] as const)('has pages that everybody can use: %s, %i pixels wide', async (colorScheme, width) => {
    // The policy of the pages forbids foreign scripts, axe among them.
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: 900 },
      bypassCSP: true,
    });
    const { page, faults } = await watched(context);
    for (const path of [...CORE, `/claim/${claimId}`, `/tx/${txid}`, '/proof/mindblown', '/nothing']) {
      await page.goto(base + path);
      await page.evaluate(AXE);
      const violations = await page.evaluate<Violation[]>(
        'axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then((found) => found.violations)',
      );
      const shown = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
      );
      expect([path, shown]).toEqual([path, []]);
      const overflow = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([path, overflow]).toEqual([path, 0]);
    }
    // The page that does not exist is an error of the console in itself.
    expect(faults.filter((text) => !text.includes('404'))).toEqual([]);
    await context.close();
  });

  it('shows all of its core pages without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    for (const path of CORE) {
      await page.goto(base + path);
      expect([path, await page.locator('h1').count()]).toEqual([path, 1]);
    }
    await page.goto(`${base}/name/mindblown`);
    expect(await page.locator('main').innerText()).toContain('To take the name over');
    await context.close();
  });

  it('follows blocks and takeovers while it is open, and keeps what is typed', async () => {
    const context = await browser.newContext();
    const { page, faults } = await watched(context);
    await page.goto(`${base}/name/mindblown`);
    await page.locator('#live[data-live="yes"]').waitFor();
    await page.locator('#q').fill('half a wor');
    const rival = await node.rpc<string>('claimname', ['mindblown', '01', 5]);
    await node.rpc('generatetoaddress', [1, address]);
    const { claimId: rivalId } = (await node.rpc<{ claimId: string }[]>('getclaimsfortx', [rival]))[0]!;
    await page.locator('main .lead', { hasText: rivalId }).waitFor();
    expect(await page.locator('#q').inputValue()).toBe('half a wor');
    expect(await page.evaluate('document.activeElement.id')).toBe('q');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('checks proofs by itself, under the policy of the pages', async () => {
    const context = await browser.newContext();
    const { page, faults } = await watched(context);
    await page.goto(`${base}/proof/mindblown`);
    await page.getByText('Checked in this browser: the steps lead to the root').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it('is walked by the keyboard', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(base);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('q');
    await page.keyboard.type('mindblown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${base}/name/mindblown`);
    await context.close();
  });
});
