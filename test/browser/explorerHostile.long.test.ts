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
import {
  ADDRESSES,
  answers,
  CLAIM_STATES,
  HASH,
  insteadOn,
  PAYLOADS,
  REFUSED,
  type Address,
} from '../support/hostileAnswers.js';
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
  /** Answers that replace those of `answers` for a text. */
  let instead: (text: string) => Readonly<Record<string, unknown>>;
  let nowMs = 0;
  const state = { tip: TIP, sync: null, taken: [], status: null };

  beforeAll(async () => {
    const ask = ((method: string) => {
      const known = { ...answers(text), ...instead(text) };
      const answer = Object.hasOwn(known, method) ? known[method] : new AskError(-5, `${method}: ${text}`);
      return answer instanceof AskError ? Promise.reject(answer) : Promise.resolve(answer);
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

  let blocks = 0;
  async function showAll(
    [name, parts, query]: Address,
    answered: (text: string) => Readonly<Record<string, unknown>>,
  ): Promise<void> {
    instead = answered;
    for (const payload of PAYLOADS) {
      text = payload;
      nowMs += 1000;
      // Each payload is in a block of its own, so that no page of another payload is in the cache.
      state.tip = { ...TIP, hash: (blocks++).toString(16).padStart(64, '0') };
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
  }

  const pages = [...ADDRESSES, ...REFUSED].map((address, number) => ({ number, name: address[0], address }));
  it.each(pages)('shows hostile texts on page $number, /$name, as text', ({ name, address }) =>
    showAll(address, (payload) => insteadOn(name, payload)),
  );

  const claim = ADDRESSES.find(([name]) => name === 'claim')!;
  it.each(CLAIM_STATES)('shows hostile texts of a claim that %s as text', (_, answered) =>
    showAll(claim, answered),
  );
});
