import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { assumedBlock, leastChainWork } from '../../../../src/node/options/optionChecks.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../../src/node/options/options.js';
import { mainParams } from '../../../../src/params/main.js';
import { hashFromHex } from '../../../../src/util/bytes.js';

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
  it('is a hash, also without its leading zeros, or empty', () => {
    expect(assumedBlock('0')).toBeNull();
    expect(assumedBlock('0x0000')).toBeNull();
    expect(assumedBlock('0xAb')).toEqual(hashFromHex('ab'.padStart(64, '0')));
    expect(load().derived.assumeValid).toEqual(mainParams.assumeValid);
    expect(load('-noassumevalid').derived.assumeValid).toBeNull();
  });

  it('is refused if it is invalid', () => {
    for (const none of ['zz', '', '0x', ' 0xg1', `1${'0'.repeat(64)}`, '0xab ab'])
      expect(() => load(`-assumevalid=${none}`)).toThrow(
        `Invalid value -assumevalid=${none}, it must be the hash of a block in hex, or 0 for none`,
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

describe('-maxsigcachesize', () => {
  it('is accepted beyond 32 bits, up to 16 GiB', () => {
    const bytes = (size: string): number => load(`-maxsigcachesize=${size}`).derived.signatureCacheBytes;
    expect(['32', '2048', '4097', '99999999', '-1'].map(bytes)).toEqual(
      [32, 2048, 4097, 16_384, 0].map((mib) => mib * 2 ** 20),
    );
  });
});

describe('-lightwallets', () => {
  it('turns on the options that it needs, and logs them', () => {
    const { options, derived, notes } = load('-lightwallets');
    expect(options).toMatchObject({ peerblockfilters: true });
    expect(derived.keepsBlockFilters).toBe(true);
    expect(notes).toContain('parameter interaction: -lightwallets=1 -> setting -peerblockfilters=1');
    expect(load().derived.keepsBlockFilters).toBe(false);
  });

  it('is refused if filters are disabled', () => {
    expect(() => load('-lightwallets', '-blockfilterindex=0')).toThrow(
      'Cannot set -peerblockfilters without -blockfilterindex.',
    );
  });
});

describe('-esplora', () => {
  it('turns on the options that it needs, and logs them', () => {
    const { options, notes } = load('-esplora', '-esploraorigin=https://wallet.example', '-esploraorigin=*');
    expect(options).toMatchObject({ txindex: true, addressindex: true, spendindex: true });
    expect(options.esploraorigin).toEqual(['https://wallet.example', '*']);
    expect(notes).toContain('parameter interaction: -esplora=1 -> setting -spendindex=1');
  });

  it('is refused without options that it needs, and with invalid origins', () => {
    expect(() => load('-esplora', '-spendindex=0')).toThrow('-esplora requires -spendindex.');
    expect(() => load('-esplora', '-prune=600')).toThrow('Prune mode is incompatible with -esplora');
    expect(() => load('-esploraorigin=wallet.example')).toThrow(
      "-esploraorigin must be an origin such as https://wallet.example, or *, not 'wallet.example'",
    );
  });
});

describe('-hub', () => {
  it('turns on the options that it needs, and logs them', () => {
    const { options, notes } = load('-hub');
    expect(options).toMatchObject({
      txindex: true,
      addressindex: true,
      hubbind: '127.0.0.1',
      hubport: 50_001,
    });
    expect(notes).toContain('parameter interaction: -hub=1 -> setting -txindex=1');
    expect(load().options).toMatchObject({ hub: false, txindex: false, addressindex: false });
  });

  it('is refused without options that it needs', () => {
    expect(() => load('-hub', '-txindex=0')).toThrow('-hub requires -txindex.');
    expect(() => load('-hub', '-noaddressindex')).toThrow('-hub requires -addressindex.');
    expect(() => load('-hub', '-prune=600')).toThrow('Prune mode is incompatible with -hub');
  });

  it('refuses its search without the index of claims', () => {
    expect(load('-claimsearch').options).toMatchObject({ claimsearch: true, claimindex: true });
    expect(load('-explorer', '-claimindex=0').options).toMatchObject({
      claimsearch: false,
      claimindex: false,
    });
    expect(() => load('-claimsearch', '-claimindex=0')).toThrow('-claimsearch requires -claimindex.');
  });

  it('uses addresses of the network', () => {
    const address = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
    expect(load('-regtest', '-hub', `-hubpaymentaddress=${address}`).options.hubpaymentaddress).toBe(address);
    expect(() => load('-hub', `-hubpaymentaddress=${address}`)).toThrow(
      `Invalid address for -hubpaymentaddress: '${address}'`,
    );
  });
});

describe('fees', () => {
  it('cause a warning if they are implausible', () => {
    const high = 'is set very high!';
    const warnings = (...words: string[]): string[] =>
      load(...words).warnings.filter((warning) => warning.includes(high));
    expect(warnings('-maxtxfee=1', '-minrelaytxfee=0.01')).toEqual([]);
    expect(warnings('-maxtxfee=1.00000001')).toEqual([
      `-maxtxfee ${high} Fees this large could be paid on a single transaction.`,
    ]);
    expect(warnings('-minrelaytxfee=0.01000001')).toEqual([
      `-minrelaytxfee ${high} The wallet will avoid paying less than the minimum relay fee.`,
    ]);
  });

  it.each([
    ['mintxfee', 'This is the minimum transaction fee you pay on every transaction.'],
    ['fallbackfee', 'This is the transaction fee you may pay when fee estimates are not available.'],
    [
      'discardfee',
      'This is the transaction fee you may discard if change is smaller than dust at this level',
    ],
    ['paytxfee', 'This is the transaction fee you will pay if you send a transaction.'],
  ])('of wallets cause a warning if they are implausible and wallets are enabled (-%s)', (name, text) => {
    const reported = (...words: string[]): string[] =>
      load(...words).warnings.filter((warning) => warning.includes('very high'));
    expect(reported(`-${name}=0.01`)).toEqual([]);
    expect(reported(`-${name}=0.01000001`)).toEqual([`-${name} is set very high! ${text}`]);
    expect(reported(`-${name}=0.01000001`, '-disablewallet')).toEqual([]);
  });

  it('of wallets must be above zero, and at least the relay fee', () => {
    expect(load('-mintxfee=0.00000001', '-paytxfee=0.00001').options).toMatchObject({
      mintxfee: 1n,
      paytxfee: 1000n,
    });
    expect(() => load('-mintxfee=0')).toThrow("Invalid amount for -mintxfee=<amount>: '0'");
    for (const fee of ['0', '0.00000999'])
      expect(() => load(`-paytxfee=${fee}`)).toThrow(
        `Invalid amount for -paytxfee=<amount>: '${fee}' (must be at least 0.00001000 LBC/kB)`,
      );
    expect(load('-mintxfee=0', '-paytxfee=0', '-disablewallet').options.paytxfee).toBe(0n);
  });

  it('have a maximum that must cover the minimum relay fee', () => {
    expect(load('-maxtxfee=0.00001').options.maxtxfee).toBe(1000n);
    expect(() => load('-maxtxfee=0.00000999')).toThrow(
      "Invalid amount for -maxtxfee=<amount>: '0.00000999' (must be at least the minrelay fee of 0.00001000 LBC/kB to prevent stuck transactions)",
    );
    expect(() => load('-maxtxfee=0.1', '-minrelaytxfee=2')).toThrow('minrelay fee of 2.00000000 LBC/kB');
    // Its default is not compared with an unusual relay fee, as in the reference.
    expect(load('-minrelaytxfee=2').options.maxtxfee).toBe(50_000_000n);
  });
});

describe('options of the reference without effect', () => {
  it('are accepted, on the command line and in the file', () => {
    const names = [
      'allowselfsignedrootcertificates',
      'choosedatadir',
      'lang=de',
      'min',
      'resetguisettings',
      'rootcertificates=x',
      'splash',
      'uiplatform',
    ];
    expect(load(...names.map((name) => `-${name}`)).warnings).toEqual([]);
    const data = mkdtempSync(`${tmpdir()}/lbcnode-checks-`);
    writeFileSync(
      `${data}/lbcnode.conf`,
      names.map((name) => (name.includes('=') ? name : `${name}=1`)).join('\n'),
    );
    expect(load(`-datadir=${data}`).warnings).toEqual([]);
    rmSync(data, { recursive: true });
  });
});

describe('-rpcport', () => {
  it('is a port', () => {
    expect(load('-rpcport=65535').options.rpcport).toBe(65_535);
    expect(() => load('-rpcport=99999')).toThrow("Invalid port specified in -rpcport: '99999'");
    expect(() => load('-port=-1')).toThrow("Invalid port specified in -port: '-1'");
    expect(load().options.walletrpcport).toBeUndefined();
    expect(load('-walletrpcport=9244').options.walletrpcport).toBe(9244);
    expect(() => load('-walletrpcport=70000')).toThrow("Invalid port specified in -walletrpcport: '70000'");
    expect(() => load('-miningaddress=nowhere')).toThrow("Invalid address for -miningaddress: 'nowhere'");
  });
});

describe('is added to the user agent', () => {
  it('becomes part of the user agent', () => {
    expect(load('-uacomment=one', '-uacomment=two').derived.userAgent).toMatch(
      /^\/lbcnode:[0-9.]+\(one; two\)\/$/,
    );
    expect(() => load('-uacomment=a/b')).toThrow('User Agent comment (a/b) contains unsafe characters.');
  });
});
