import { expect, it } from 'vitest';
import { ClaimRecords } from '../../../../src/index/claims/claimRecords.js';
import { NameOrders } from '../../../../src/index/claims/nameOrders.js';
import { NameStates } from '../../../../src/store/claims/query/nameStates.js';
import { resolveUrls, type ResolveScope } from '../../../../src/index/claims/resolveUrl.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import type { RowReader } from '../../../../src/store/rows/rows.js';

/** An empty index that records the length of the longest requested key. */
function emptyScope() {
  let longest = 0;
  const ask = (key: string) => {
    longest = Math.max(longest, key.length);
  };
  const rows = {
    getMany: async (keys: readonly string[]) => keys.map((key) => void ask(key)),
    getRange: async ({ gte }: { gte: string }) => {
      ask(gte);
      return [];
    },
  } as unknown as RowReader;
  const orders = new NameOrders();
  const states = new NameStates();
  const rules = { ...regtestParams.claimForks, supportDelay: 'proportional' } as const;
  const height = 1000;
  const scope: ResolveScope = {
    rows,
    rules,
    height,
    orders,
    states,
    records: new ClaimRecords(rows, rules, height, orders, states),
  };
  return { scope, longest: () => longest };
}

it('names longer than any claim name are not looked up, in any spelling', async () => {
  const { scope, longest } = emptyScope();
  // Each of these letters folds to three bytes more than it has.
  const urls = ['\u0390', '\ufb03', '\u1fb7'].flatMap((letter) =>
    [100, 4000].flatMap((count) => {
      const name = letter.repeat(count);
      return [name, `${name}#ab`, `${name}$2`, `@${name}`, `@${name}/${name}#1`];
    }),
  );
  const found = await resolveUrls(scope, urls);
  expect(found.map(({ failure }) => failure!.kind.slice(0, 9))).toEqual(urls.map(() => 'not-found'));
  // The quoted text in an error has a maximum length.
  expect(Math.max(...found.map(({ failure }) => failure!.text.length))).toBe(1000);
  expect(longest()).toBeGreaterThan(100);
  expect(longest()).toBeLessThan(2400);
});
