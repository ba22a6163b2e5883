/** Messages to the operator when the environment fails, and when there is a bug. */
import { describe, expect, it } from 'vitest';
import { FolderError } from '../../../../src/chain/open/folderIdentity.js';
import { HubStartError } from '../../../../src/hub/thread/hubStartError.js';
import { describeFailure } from '../../../../src/node/log/failure.js';
import { StartError } from '../../../../src/node/start/startContext.js';
import { databaseError } from '../../../../src/store/leveldb/databaseError.js';
import { environmentError, EnvironmentError, onFile } from '../../../../src/util/text/environmentError.js';

const FOLDER = '/data/regtest';

function systemError(code: string, path?: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: something, write`), { code, ...(path ? { path } : {}) });
}

function levelError(code: string, message: string): unknown {
  return databaseError(
    Object.assign(new Error('Database is not open', { cause: new Error(message) }), { code }),
  );
}

describe('describeFailure', () => {
  it.each([
    ['ENOSPC', /no space is left on its disk \(ENOSPC\)\. Free disk space/],
    ['EDQUOT', /quota/],
    ['EFBIG', /ulimit -f/],
    ['EIO', /the disk failed to read or write it \(EIO\)\. Check the disk/],
    ['EROFS', /its disk is read-only \(EROFS\)\. Make the disk writable/],
    ['EACCES', /access is denied \(EACCES\)\. Give the user/],
    ['EPERM', /access is denied/],
    ['EMFILE', /too many files open \(EMFILE\)\. Raise the limit of open files \(ulimit -n\)/],
    ['ENFILE', /the system has too many files open/],
    ['ENOTDIR', /a part of its path is not a folder \(ENOTDIR\)\. Move the file/],
    ['EISDIR', /it is a folder where a file should be \(EISDIR\)\. Move it away/],
    ['ENOTEMPTY', /a folder that is not empty exists there/],
    ['ENOENT', /it is missing \(ENOENT\)\. Restore it/],
    ['ESTALE', /its disk was removed/],
  ])('describes %s in one line with the file and the remedy', (code, expected) => {
    for (const [error, named] of [
      [systemError(code), FOLDER],
      [systemError(code, '/data/regtest/x.dat'), '/data/regtest/x.dat'],
      [environmentError(systemError(code), '/data/regtest/y.dat'), '/data/regtest/y.dat'],
    ] as const) {
      const { text, isBug } = describeFailure(error, FOLDER);
      expect(isBug).toBe(false);
      expect(text).toMatch(expected);
      expect(text.startsWith(`${named}: `)).toBe(true);
      expect(text).not.toContain('\n');
    }
  });

  it("recognizes LevelDB's messages about system errors, and corruption", () => {
    const full = levelError(
      'LEVEL_IO_ERROR',
      'IO error: /data/regtest/chainstate/000005.log: No space left on device',
    );
    expect(describeFailure(full, FOLDER)).toMatchObject({
      isBug: false,
      text: expect.stringMatching(/^\/data\/regtest\/chainstate\/000005\.log: no space is left/),
    });
    const corrupt = levelError('LEVEL_CORRUPTION', 'Corruption: block checksum mismatch: 000007.ldb');
    const reported = describeFailure(corrupt, FOLDER);
    expect(reported.isBug).toBe(false);
    expect(reported.text).toMatch(/in \/data\/regtest is corrupt: .*000007\.ldb.* Restart with -reindex /);
    expect(describeFailure(levelError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open'), FOLDER).isBug).toBe(
      true,
    );
  });

  it('keeps messages for the operator, and recognizes a bug', () => {
    for (const error of [
      new FolderError('do this'),
      new EnvironmentError('do this'),
      new HubStartError('do this'),
      new StartError('do this'),
    ])
      expect(describeFailure(error, FOLDER)).toEqual({ text: 'do this', isBug: false });
    for (const error of [
      new TypeError('x is not a function'),
      new Error('why'),
      systemError('ERR_INVALID_STATE'),
      // The class decides, not the name.
      Object.assign(new Error('why'), { name: 'FolderError' }),
    ])
      expect(describeFailure(error, FOLDER)).toMatchObject({ isBug: true });
    expect(describeFailure('thrown', FOLDER)).toEqual({ text: 'thrown', isBug: true });
  });

  it('reports several errors once each', () => {
    const all = new AggregateError([systemError('EIO'), systemError('EIO'), new FolderError('and this')]);
    const { text, isBug } = describeFailure(all, FOLDER);
    expect(isBug).toBe(false);
    expect(text.split('\n')).toEqual([expect.stringContaining('EIO'), 'and this']);
  });
});

describe('onFile', () => {
  it('adds the file to errors of the system, and passes on all other errors', () => {
    const refuse = (error: Error) => () =>
      onFile('/data/blk00000.dat', () => {
        throw error;
      });
    expect(refuse(systemError('ENOSPC'))).toThrow(/^\/data\/blk00000\.dat: no space/);
    const bug = new TypeError('bug');
    expect(refuse(bug)).toThrow(bug);
    expect(onFile('/x', () => 7)).toBe(7);
  });
});
