/** The source of SQLite, and the message if there is none. */
import { describe, expect, it } from 'vitest';
import { findSqlite } from '../../../src/sqlite/sqliteProvider.js';
import { EnvironmentError } from '../../../src/util/text/environmentError.js';

const absent = (name: string, code: string) => ({
  name,
  load: () => Promise.reject(Object.assign(new Error(`no ${name}`), { code })),
});
const builtIn = absent('node:sqlite', 'ERR_UNKNOWN_BUILTIN_MODULE');
const ADVICE =
  `-hub needs SQLite, which neither Node ${process.versions.node} nor lbcnode contains for this machine: use Node ` +
  '22.13 or later';

describe('SQLite', () => {
  it('is reported as missing in one short line that begins with the option of the user', async () => {
    const none = findSqlite('-hub', [builtIn, absent('@photostructure/sqlite', 'ERR_MODULE_NOT_FOUND')]);
    await expect(none).rejects.toThrow(EnvironmentError);
    await expect(none).rejects.toThrow(new EnvironmentError(ADVICE));
    expect(ADVICE.length).toBeLessThan(160);
  });

  it('is reported with the reason if it fails', async () => {
    const failing = {
      name: '@photostructure/sqlite',
      load: () => Promise.reject(new Error('wrong ELF class\n  at dlopen')),
    };
    await expect(findSqlite('-hub', [builtIn, failing])).rejects.toThrow(
      new EnvironmentError(`${ADVICE} (@photostructure/sqlite: wrong ELF class)`),
    );
  });

  it('is taken from the first source that works', async () => {
    const provider = await findSqlite('-hub');
    expect(provider.version).toMatch(/^3\./);
  });
});
