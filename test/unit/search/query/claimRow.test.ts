import { describe, expect, it } from 'vitest';
import { documentLabels } from '../../../../src/search/query/claimRow.js';

describe('labels of a document', () => {
  it('are each there once, also where tags differ in what an index has no room for', () => {
    expect(documentLabels({ tags: ['a\0', 'a\ufffd', 'en'], languages: ['en'], locations: [] })).toEqual([
      'ta\ufffd',
      'ten',
      'len',
    ]);
  });

  it('name places with those within which they lie', () => {
    const locations = ['US:NH', 'US::Boston@1,-2', 'us:nh'];
    expect(documentLabels({ tags: [], languages: [], locations })).toEqual([
      'pus',
      'pus:nh',
      'pus::boston',
      'pus::boston@1,-2',
      'p@1,-2',
    ]);
  });
});
