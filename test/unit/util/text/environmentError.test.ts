import { describe, expect, it } from 'vitest';
import {
  callErrorText,
  environmentError,
  EnvironmentError,
} from '../../../../src/util/text/environmentError.js';

/** Error text of a call that failed with the system error. */
function textOf(code: string): string {
  const error = environmentError(Object.assign(new Error(code), { code }), '/films/film.mp4');
  expect(error).toBeInstanceOf(EnvironmentError);
  return callErrorText(error as EnvironmentError);
}

describe('the error text of a call', () => {
  it.each([
    ['ENOSPC', 'no space is left on its disk (ENOSPC). Free disk space and repeat the call.'],
    [
      'EIO',
      'the disk failed to read or write it (EIO). Check the disk and the system’s log, then repeat the call.',
    ],
    ['EROFS', 'its disk is read-only (EROFS). Make the disk writable and repeat the call.'],
    [
      'ENOTDIR',
      'a part of its path is not a folder (ENOTDIR). Move the file in its path away and repeat the call.',
    ],
    ['ENOENT', 'it is missing (ENOENT). Restore it and repeat the call.'],
    ['ENAMETOOLONG', 'its path is too long (ENAMETOOLONG). Use a shorter path.'],
  ])('advises to repeat the call: %s', (code, text) => {
    expect(textOf(code)).toBe(`/films/film.mp4: ${text}`);
  });

  it('is unchanged for an error that only another start can correct', () => {
    const message = 'The database is corrupt. Move it away and start again.';
    expect(callErrorText(new EnvironmentError(message))).toBe(message);
  });
});
