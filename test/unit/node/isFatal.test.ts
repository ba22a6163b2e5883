import { expect, it } from 'vitest';
import { isFatal } from '../../../src/node/start/answering.js';
import { databaseError } from '../../../src/store/leveldb/databaseError.js';
import { DatabaseCorruptionError } from '../../../src/store/leveldb/levelDb.js';
import { BlockFileError } from '../../../src/store/files/blockFiles.js';
import { AssertionError } from '../../../src/util/assert.js';

it('only broken invariants and the database are fatal', () => {
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  expect(isFatal(new AssertionError('x'))).toBe(true);
  for (const code of ['LEVEL_IO_ERROR', 'LEVEL_CORRUPTION', 'LEVEL_DATABASE_NOT_OPEN'])
    expect(isFatal(databaseError(coded(code))), code).toBe(true);
  expect(isFatal(new DatabaseCorruptionError('/data', 'x'))).toBe(true);
  for (const error of [
    new BlockFileError('x'),
    coded('EIO'),
    coded('EMFILE'),
    new TypeError('x'),
    'text',
    null,
  ])
    expect(isFatal(error)).toBe(false);
});
