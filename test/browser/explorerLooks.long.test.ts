/** All pages of the explorer in a real browser: in each color scheme, width and text size axe-core finds no violations. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startRegtest, type RegtestNode } from '../functional/support/node.js';
import { withClaim, type ClaimedChain } from './claimedChain.js';
import { findingsOf, hasChromium, launch, watched } from './support.js';

/** Settings of the browser. */
interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly textSize?: string;
  readonly forcedColors?: 'active';
}

const LOOKS: readonly Look[] = [
  { colorScheme: 'light', width: 320 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 320 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 1280, textSize: '200%' },
  { colorScheme: 'dark', width: 1280, forcedColors: 'active' },
];

const pathsOf = ({ address, claimId, txid }: ClaimedChain): string[] => [
  '/',
  '/names',
  '/name/mindblown',
  '/name/free',
  '/name/mindblown?block=361',
  '/blocks',
  '/block/tip',
  '/upcoming',
  '/mempool',
  '/node',
  '/console',
  '/console?method=getblockhash&p0=1&run=1',
  '/claims',
  '/find?q=mind',
  '/proof/mindblown',
  '/charts/claims',
  '/nothing',
  '/help',
  `/claim/${claimId}`,
  `/tx/${txid}`,
  `/address/${address}`,
];

describe.skipIf(!hasChromium)('the explorer in a browser', () => {
  let node: RegtestNode;
  let browser: Browser;
  let base: string;
  let paths: string[];

  beforeAll(async () => {
    const port = await freePort();
    const args = ['-explorer', `-explorerport=${port}`, '-fallbackfee=0.0002'];
    [node, browser] = await Promise.all([startRegtest({ args }), launch()] as const);
    base = `http://127.0.0.1:${port}`;
    paths = pathsOf(await withClaim(node));
  });
  afterAll(async () => {
    await browser?.close();
    await node?.stop();
  });

  it.each(LOOKS.map((look) => [JSON.stringify(look), look] as const))(
    'has accessible pages: %s',
    async (_, { width, textSize = '100%', ...look }) => {
      const viewport = { width, height: 900 };
      const context = await browser.newContext({ ...look, viewport, bypassCSP: true });
      const { page, faults } = await watched(context, base);
      for (const path of paths) {
        await page.goto(base + path);
        await page.addStyleTag({ content: `:root { font-size: ${textSize} }` });
        expect([path, await findingsOf(page)]).toEqual([path, []]);
      }
      expect(faults.filter((text) => !text.includes('404'))).toEqual([]);
      await context.close();
    },
  );
});
