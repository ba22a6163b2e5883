import { expect, it } from 'vitest';
import { MemtableFallback } from '../../../src/store/cache/memtableFallback.js';
import { memoryOf } from '../../support/memory.js';

it('rows in memory use the memory that they report', async () => {
  const rows = new MemtableFallback();
  const { keptBytes } = await memoryOf(() => {
    for (let i = 0; i < 150_000; i++)
      rows.set(`v${i}\0\xff${i * 7}-and-some-more`, Buffer.alloc(20 + (i % 60), i));
    rows.slice({ gte: 'v1', lt: 'v2' });
  });
  expect(keptBytes).toBeLessThan(1.15 * rows.sizeBytes);
  expect(keptBytes).toBeGreaterThan(0.6 * rows.sizeBytes);
  expect(rows.count).toBe(150_000);
});
