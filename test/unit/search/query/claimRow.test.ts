import { describe, expect, it } from 'vitest';
import { documentLabels } from '../../../../src/search/query/claimRow.js';

describe('labels of a document', () => {
  it('are stored once each, also if tags differ in a part that the index truncates', () => {
    expect(documentLabels({ tags: ['a\0', 'a\ufffd', 'en'], languages: ['en'], locations: [] })).toEqual([
      'ta\ufffd',
      'ten',
      'len',
    ]);
  });

  it('contain the locations that include them', () => {
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
