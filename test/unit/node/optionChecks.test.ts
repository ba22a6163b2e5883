import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { assumedBlock, leastChainWork } from '../../../src/node/optionChecks.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../src/node/options.js';
import { mainParams } from '../../../src/params/main.js';
import { hashFromHex } from '../../../src/util/bytes.js';

function load(...words: string[]): LoadedOptions {
  const data = mkdtempSync(`${tmpdir()}/lbcnode-checks-`);
  try {
    const command = parseCommandLine([`-datadir=${data}`, ...words]);
    if (command.action !== 'run') throw new Error('the words ask for help');
    return loadOptions(command.args, data);
  } finally {
    rmSync(data, { recursive: true });
  }
}

describe('-assumevalid', () => {
  it('is a hash, which zeros in front may be missing from, or nothing', () => {
    expect(assumedBlock('0')).toBeNull();
    expect(assumedBlock('0x0000')).toBeNull();
    expect(assumedBlock('0xAb')).toEqual(hashFromHex('ab'.padStart(64, '0')));
    expect(load().derived.assumeValid).toEqual(mainParams.assumeValid);
    expect(load('-noassumevalid').derived.assumeValid).toBeNull();
  });

  it.each(['zz', '', '0x', 'ab '.repeat(3), 'a'.repeat(65)])('refuses %j, naming the option', (text) => {
    expect(() => load(`-assumevalid=${text}`)).toThrow(
      `Invalid value -assumevalid=${text}, it must be a block hash in hex, or 0 to verify everything`,
    );
  });
});

describe('-minimumchainwork', () => {
  it('is a hexadecimal number', () => {
    expect(leastChainWork('0x1F')).toBe(31n);
    expect(load('-minimumchainwork=10').derived.minimumChainWork).toBe(16n);
    expect(load().derived.minimumChainWork).toBe(mainParams.minimumChainWork);
    for (const text of ['zz', '0x', '']) {
      expect(() => load(`-minimumchainwork=${text}`)).toThrow(
        `Invalid non-hex (${text}) minimum chain work value specified`,
      );
    }
  });
});

describe('-rpcport', () => {
  it('is a port', () => {
    expect(load('-rpcport=65535').options.rpcport).toBe(65_535);
    expect(() => load('-rpcport=99999')).toThrow("Invalid port specified in -rpcport: '99999'");
    expect(() => load('-port=-1')).toThrow("Invalid port specified in -port: '-1'");
    expect(() => load('-miningaddress=nowhere')).toThrow("Invalid address for -miningaddress: 'nowhere'");
  });
});

describe('-uacomment', () => {
  it('becomes part of the user agent', () => {
    expect(load('-uacomment=one', '-uacomment=two').derived.userAgent).toMatch(
      /^\/lbcnode:[0-9.]+\(one; two\)\/$/,
    );
    expect(() => load('-uacomment=a/b')).toThrow('User Agent comment (a/b) contains unsafe characters.');
  });
});
