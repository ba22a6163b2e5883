import { describe, expect, it } from 'vitest';
import { documentLabels } from '../../../src/search/claimRow.js';

describe('labels of a document', () => {
  it('are each there once, also where tags differ in what an index has no room for', () => {
    expect(documentLabels({ tags: ['a\0', 'a\ufffd', 'en'], languages: ['en'] })).toEqual([
      'ta\ufffd',
      'ten',
      'len',
    ]);
  });
});
