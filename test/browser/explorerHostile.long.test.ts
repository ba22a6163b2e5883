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
  JOINED_PAYLOADS,
  PAYLOADS,
  REFUSED,
  type Address,
} from '../support/hostileAnswers.js';
import { hasChromium, launch, watched } from './support.js';

const TIP = { height: 10, hash: HASH, timeSec: 1_500_000_000 };

/** Counts scripts, elements and attributes that only a text could have made, and headings. */
const COUNTS = `((page) => [
  page.scripts.length,
  page.querySelectorAll('iframe, object, embed, base, style, [http-equiv], img[src=x]').length,
  [...page.querySelectorAll('*')].filter(({ attributes }) =>
    [...attributes].some(({ name, value }) =>
      /^(on|style$|srcdoc$|autofocus$|formaction$)/.test(name) ||
      (/^(href|src|action)$/.test(name) && /^\\s*(javascript|vbscript|data):/i.test(value)))).length,
  page.querySelectorAll('h1').length,
])`;
const EXPECTED = [1, 0, 0, 1];

/** Loads a page in the browser, which parses it without showing it. Resolves to the status and the counts. */
const parsed = (url: string): string => `new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.open('GET', ${JSON.stringify(url)});
  request.responseType = 'document';
  request.onload = () => resolve([request.status, ${COUNTS}(request.response)]);
  request.onerror = reject;
  request.send();
})`;

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
    // A small window, because no test looks at the picture.
    context = await browser.newContext({ viewport: { width: 320, height: 200 } });
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
  /** Sets the text of the answers. Returns the URL of the page. */
  function urlWith(payload: string, [name, parts, query]: Address): string {
    text = payload;
    nowMs += 1000;
    // Each payload is in a block of its own, so that no page of another payload is in the cache.
    state.tip = { ...TIP, hash: (blocks++).toString(16).padStart(64, '0') };
    const segments = parts(payload).map((part) => encodeURIComponent(part.toWellFormed()));
    const search = new URLSearchParams(query?.(payload) ?? {}).toString();
    return `${base}/${[name, ...segments].join('/')}${search ? `?${search}` : ''}`;
  }

  /** Parses the page with each payload, and shows it with texts of several payloads. */
  async function showAll(
    address: Address,
    answered: (text: string) => Readonly<Record<string, unknown>>,
  ): Promise<void> {
    instead = answered;
    const expectPage = (payload: string, status: number, counts: unknown): void => {
      expect([payload, status < 500 || status === 501]).toEqual([payload, true]);
      expect([payload, counts]).toEqual([payload, EXPECTED]);
    };
    for (const payload of JOINED_PAYLOADS) {
      const answer = await page.goto(urlWith(payload, address), { waitUntil: 'load' });
      expectPage(payload, answer!.status(), await page.evaluate(`${COUNTS}(document)`));
    }
    for (const payload of PAYLOADS) {
      const [status, counts] = await page.evaluate<[number, unknown]>(parsed(urlWith(payload, address)));
      expectPage(payload, status, counts);
    }
    // The browser reports the status of a page that does not exist as a console error.
    expect(faults.filter((fault) => !/status of (4\d\d|501)/.test(fault))).toEqual([]);
  }

  it('finds elements, attributes and addresses that a text made', async () => {
    await page.setContent(
      '<h1 onclick="1"></h1><base href="/x"><p style="x"></p><a href=" JavaScript:1"></a><script></script>',
    );
    expect(await page.evaluate(`${COUNTS}(document)`)).toEqual([1, 1, 3, 1]);
  });

  const pages = [...ADDRESSES, ...REFUSED].map((address, number) => [number, address[0], address] as const);
  it.each(pages)('shows hostile texts on page %i, /%s, as text', (_, name, address) =>
    showAll(address, (payload) => insteadOn(name, payload)),
  );

  const claim = ADDRESSES.find(([name]) => name === 'claim')!;
  it.each(CLAIM_STATES)('shows hostile texts of a claim that %s as text', (_, answered) =>
    showAll(claim, answered),
  );
});
