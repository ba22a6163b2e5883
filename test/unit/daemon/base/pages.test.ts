import { describe, expect, it } from 'vitest';
import { paged, pageOf, pageOfList } from '../../../../src/daemon/base/pages.js';

describe('pages', () => {
  it.each([
    [{}, { page: 1, pageSize: 20, offset: 0 }],
    [
      { page: 0, page_size: 0 },
      { page: 1, pageSize: 20, offset: 0 },
    ],
    [
      { page: -3, page_size: -2 },
      { page: 1, pageSize: 1, offset: 0 },
    ],
    [
      { page: 3, page_size: 7 },
      { page: 3, pageSize: 7, offset: 14 },
    ],
    [
      { page: 1e15, page_size: 1e15 },
      { page: 1e15, pageSize: 1e15, offset: Number.MAX_SAFE_INTEGER },
    ],
  ])('of %j are %j', (args, page) => {
    expect(pageOf(args)).toEqual(page);
  });

  it('contain the totals', () => {
    const page = pageOf({ page: 2, page_size: 2 });
    expect(pageOfList([1, 2, 3], page)).toEqual({
      items: [3],
      page: 2,
      page_size: 2,
      total_items: 3,
      total_pages: 2,
    });
    expect(paged([], null, page)).toEqual({ items: [], page: 2, page_size: 2 });
    expect(pageOfList([], pageOf({ page: 1e15, page_size: 1e15 }))).toMatchObject({
      items: [],
      total_pages: 0,
    });
  });
});
