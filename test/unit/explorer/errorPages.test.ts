/** Error pages that many visitors get are rendered once for each tip, colour scheme and minute. */
import { expect, it } from 'vitest';
import { ErrorPages } from '../../../src/explorer/errorPages.js';
import { PageError } from '../../../src/explorer/pageContext.js';
import { packed } from '../../../src/explorer/rendered.js';

const TIP = { height: 5, hash: 'ab'.repeat(32), timeSec: 1_000_000 };
const error = (waitSec: number): PageError =>
  new PageError(429, 'Too many requests', `Wait ${waitSec} seconds.`);

it('keeps the page of an error, with its compressed bytes, until the tip or the minute changes', () => {
  let nowSec = 1_000_180;
  const pages = new ErrorPages('regtest', { style: '/style.css', script: null }, () => nowSec);
  const look = { scheme: null };
  const first = pages.shared(error(1), { tip: TIP, look });
  expect(first.status).toBe(429);
  expect(first.body.toString()).toContain('Wait 1 seconds.');
  expect(first.body.toString()).toContain('3 minutes ago');
  nowSec += 10;
  const again = pages.shared(error(1), { tip: { ...TIP }, look: { scheme: null } });
  expect(again).toBe(first);
  expect(packed(again, 'br')).toBe(packed(first, 'br'));
  const others = [
    pages.shared(error(2), { tip: TIP, look }),
    pages.shared(error(1), { tip: TIP, look: { scheme: 'dark' } }),
    pages.shared(error(1), { tip: { ...TIP, hash: 'cd'.repeat(32) }, look }),
    pages.shared(error(1), { tip: null, look }),
    pages.shared(error(1), { tip: TIP, look, againSec: 3 }),
  ];
  expect(new Set([first, ...others]).size).toBe(6);
  const syncing = (headers: number) =>
    pages.shared(error(1), { tip: TIP, sync: { headers, etaSec: null }, look });
  expect(syncing(8).body.toString()).toContain('Block 5 of 8');
  expect(syncing(9).body.toString()).toContain('Block 5 of 9');
  nowSec += 60;
  const later = pages.shared(error(1), { tip: TIP, look });
  expect(later.body.toString()).toContain('4 minutes ago');
  expect(pages.of(error(1), { path: '/x', tip: TIP, look })).not.toBe(later);
});
