/** Errors in the options of a hub are reported before anything is opened. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkHubOptions } from '../../../src/node/services/hubService.js';
import { OptionError } from '../../../src/node/options/optionArgs.js';
import { loadOptions, parseCommandLine } from '../../../src/node/options/options.js';

let home: string;

beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'lbcnode-hub-options-'))));
afterEach(() => rmSync(home, { recursive: true }));

function warningsOf(...words: string[]): string[] {
  const command = parseCommandLine([`-datadir=${home}`, '-regtest', '-hub', ...words]);
  if (command.action !== 'run') throw new Error('the words ask for help');
  const warnings: string[] = [];
  checkHubOptions(loadOptions(command.args, home), (text) => warnings.push(text));
  return warnings;
}

describe('options of a hub', () => {
  it('accept an existing country', () => {
    expect(warningsOf('-hubcountry=fr')).toEqual([]);
    expect(() => warningsOf('-hubcountry=XX')).toThrow(OptionError);
    expect(() => warningsOf('-hubcountry=999')).toThrow('Unknown country in -hubcountry: 999');
  });

  it('accept a readable banner, and warn of another', () => {
    writeFileSync(join(home, 'banner.txt'), 'welcome');
    expect(warningsOf('-hubbanner=banner.txt')).toEqual([]);
    expect(warningsOf('-hubbanner=none.txt')).toEqual([
      expect.stringMatching(/^The hub's banner cannot be read: ENOENT.*none\.txt/),
    ]);
  });
});
