#!/usr/bin/env node
// Makes screenshots of each page of the explorer in light and dark colors. It uses a node with the chain of demoChain.mjs, and
// Chromium at the path in CHROMIUM or at /usr/bin/chromium. With --part, a screenshot shows the part of the page that fits in a
// window of that height, as in README.md. Usage: npm run screenshots [-- --out build/screenshots] [--width 1280] [--part 800]
// [--pages home,name]
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startRegtest } from '../../dist/testing/index.js';
import { makeDemoChain } from './demoChain.mjs';

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const out = option('out', 'build/screenshots');
const width = Number(option('width', '1280'));
const part = Number(option('part', '0'));
const wanted = option('pages', '').split(',').filter(Boolean);
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(CHROMIUM)) {
  console.error(
    `There is no Chromium at ${CHROMIUM}. Install it (Debian: apt-get install chromium) or name it by CHROMIUM=<path>.`,
  );
  process.exit(1);
}

const node = await startRegtest({ args: ['-explorer', '-explorerport=0'] });
const [, port] = /open http:\/\/localhost:(\d+)\/ in a browser/.exec(node.output());
const base = `http://127.0.0.1:${port}`;
let browser;
try {
  const made = await makeDemoChain(node);
  const pages = Object.entries({
    home: '/',
    name: `/name/${made.name}`,
    'name-unclaimed': '/name/nothing-here',
    names: '/names',
    claim: `/claim/${made.claim}`,
    channel: `/claim/${made.channel}`,
    claims: '/claims',
    upcoming: '/upcoming',
    blocks: '/blocks',
    block: '/block/tip',
    'block-claims': '/block/372',
    tx: `/tx/${made.tx}`,
    address: `/address/${made.supporter}`,
    'address-busy': `/address/${made.address}`,
    mempool: '/mempool',
    charts: '/charts/claims',
    difficulty: '/charts/difficulty',
    proof: `/proof/${made.name}`,
    node: '/node',
    console: '/console',
    'console-method': '/console?method=getnameproof',
    find: '/find?q=fusi',
    help: '/help',
    missing: '/tx/0',
  }).filter(([name]) => wanted.length === 0 || wanted.includes(name));
  mkdirSync(out, { recursive: true });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: part || 900 } });
    const page = await context.newPage();
    for (const [name, path] of pages) {
      await page.goto(base + path);
      if (
        (await page.locator('#live').count()) > 0 &&
        (await page.locator('body').getAttribute('data-topics'))
      )
        await page.locator('#live[data-live="yes"]').waitFor();
      const file = join(out, `${name}-${colorScheme}.png`);
      await page.screenshot({ path: file, fullPage: part === 0 });
      console.log(file);
    }
    await context.close();
  }
} finally {
  await browser?.close();
  await node.stop();
}
