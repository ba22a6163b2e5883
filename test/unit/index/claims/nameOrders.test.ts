import { expect, it } from 'vitest';
import { NameOrders } from '../../../../src/index/claims/nameOrders.js';
import type { RowReader } from '../../../../src/store/rows/rows.js';

it('names without claims are kept no longer than others', async () => {
  let reads = 0;
  const rows = {
    getRange: async () => {
      reads++;
      return [];
    },
  } as unknown as RowReader;
  const orders = new NameOrders();
  // Names of about the maximum length in a URL; 2,000 of them take 72 MB. The lengths differ, because V8 gives long strings of
  // the same length the same hash.
  const name = (n: number): string => String(n).padStart(35_000 + n, 'x');
  for (let n = 0; n < 2000; n++) await orders.of(rows, name(n));
  expect(reads).toBe(2000);
  await orders.of(rows, name(1999));
  expect(reads).toBe(2000);
  await orders.of(rows, name(0));
  expect(reads).toBe(2001);
});
