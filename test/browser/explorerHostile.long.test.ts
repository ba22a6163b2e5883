/**
 * Pages of the explorer with hostile texts in all their fields, in a real browser: no text becomes an element, starts a script or
 * causes a request or a console error.
 */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AskError } from '../../src/explorer/explorerRpcClient.js';
import { Site } from '../../src/explorer/site.js';
import { EXPLORER_START } from '../support/explorerStart.js';
import { ADDRESSES, answers, HASH, insteadOn, PAYLOADS } from '../support/hostileAnswers.js';
import { hasChromium, launch, watched } from './support.js';

const TIP = { height: 10, hash: HASH, timeSec: 1_500_000_000 };

/** Counts scripts, elements and attributes that only a text could have made, and headings. */
const COUNTS = `[
  document.scripts.length,
  document.querySelectorAll('iframe, object, embed, base, style, [onclick], [onerror], [onload], [onfocus], [onmouseover]').length,
  document.querySelectorAll('h1').length,
]`;

describe.skipIf(!hasChromium)('the explorer in a browser', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];
  let site: Site;
  let base: string;
  let text = 'harmless';
  let shownPage = '';
  let nowMs = 0;
  const state = { tip: TIP, sync: null, taken: [], status: null };

  beforeAll(async () => {
    const ask = ((method: string) => {
      const known = { ...answers(text), ...insteadOn(shownPage, text) };
      return Object.hasOwn(known, method)
        ? Promise.resolve(known[method])
        : Promise.reject(new AskError(-5, `${method}: ${text}`));
    }) as never;
    const assetFolder = fileURLToPath(new URL('../../dist/explorer/assets', import.meta.url));
    const node = { ask, askExactly: ask };
    site = new Site(EXPLORER_START, { node, state, assetFolder, log: () => undefined, nowMs: () => nowMs });
    await new Promise<void>((resolve) => site.server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(site.server.address() as AddressInfo).port}`;
    browser = await launch();
    context = await browser.newContext();
    ({ page, faults } = await watched(context, base));
  });
  beforeEach(() => void faults.splice(0));
  afterAll(async () => {
    await browser?.close();
    site.live.close();
    site.server.closeAllConnections();
    site.server.close();
  });

  const pages = ADDRESSES.map((address) => ({ name: address[0], address }));
  it.each(pages)('shows hostile texts on /$name as text', async ({ name, address: [, parts, query] }) => {
    shownPage = name;
    for (const [n, payload] of PAYLOADS.entries()) {
      text = payload;
      nowMs += 1000;
      // Each payload is in a block of its own, so that no page of another payload is in the cache.
      state.tip = { ...TIP, hash: n.toString(16).padStart(64, '0') };
      const segments = parts(payload).map((part) => encodeURIComponent(part.toWellFormed()));
      const search = new URLSearchParams(query?.(payload) ?? {}).toString();
      const url = `${base}/${[name, ...segments].join('/')}${search ? `?${search}` : ''}`;
      const answer = await page.goto(url, { waitUntil: 'load' });
      const status = answer!.status();
      expect([payload, status < 500 || status === 501]).toEqual([payload, true]);
      expect([payload, await page.evaluate(COUNTS)]).toEqual([payload, [1, 0, 1]]);
    }
    // The browser reports the status of a page that does not exist as a console error.
    expect(faults.filter((fault) => !/status of (4\d\d|501)/.test(fault))).toEqual([]);
  });
});
