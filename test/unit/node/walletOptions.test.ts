import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../src/node/options/options.js';
import { WALLET_DEBUG_OPTIONS, WALLET_OPTIONS } from '../../../src/node/options/optionsTableWallet.js';
import { walletNamesAtStart, walletSettings } from '../../../src/node/services/walletSettings.js';

/** A value of each option that is not its default. */
const OTHER: Readonly<Record<string, string>> = {
  addresstype: 'bech32',
  avoidpartialspends: '1',
  changetype: 'legacy',
  discardfee: '0.1',
  fallbackfee: '0.1',
  keypool: '7',
  mintxfee: '0.001',
  paytxfee: '0.1',
  rescan: '1',
  salvagewallet: '1',
  spendzeroconfchange: '0',
  txconfirmtarget: '9',
  upgradewallet: '169900',
  wallet: 'another',
  walletbroadcast: '0',
  walletdir: tmpdir(),
  walletrbf: '1',
  walletrejectlongchains: '0',
  zapwallettxes: '2',
};
/** Options that do not change wallet settings: the file that reads them, and the test of their effect in `test/functional`. */
const ELSEWHERE: Readonly<Record<string, { file: string; test: string }>> = {
  disablewallet: { file: 'src/node/node.ts', test: 'walletFiles.test.ts' },
  walletnotify: { file: 'src/node/services/services.ts', test: 'walletMigrate.long.test.ts' },
  walletrpccert: { file: 'src/node/options/options.ts', test: 'tls.test.ts' },
  walletrpckey: { file: 'src/node/options/options.ts', test: 'tls.test.ts' },
  walletrpclisten: { file: 'src/node/services/rpcServers.ts', test: 'tls.test.ts' },
  walletrpcnotls: { file: 'src/node/services/rpcServers.ts', test: 'tls.test.ts' },
  walletrpcport: { file: 'src/node/services/rpcServers.ts', test: 'lbcwallet.test.ts' },
};
/** Options without effect. The node warns of them. */
const NOTHING = ['dblogsize', 'flushwallet', 'privdb'];
const ROWS = [...WALLET_OPTIONS, ...WALLET_DEBUG_OPTIONS].map(({ name }) => name as string);

function load(...words: string[]): LoadedOptions {
  const data = mkdtempSync(join(tmpdir(), 'wallet-options-'));
  try {
    const command = parseCommandLine([`-datadir=${data}`, '-regtest', ...words]);
    if (command.action !== 'run') throw new Error('the words ask for help');
    return loadOptions(command.args, data);
  } finally {
    rmSync(data, { recursive: true });
  }
}

/** Settings for the wallets, except for the folder, which is different each time. */
function reportedTo(loaded: LoadedOptions): unknown {
  const { walletDir, ...settings } = walletSettings(loaded);
  return {
    ...settings,
    names: walletNamesAtStart(loaded),
    walletDir: walletDir === tmpdir() ? walletDir : '',
  };
}

const repository = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the options of wallets', () => {
  it('are all tested', () => {
    expect([...Object.keys(OTHER), ...Object.keys(ELSEWHERE), ...NOTHING].sort()).toEqual([...ROWS].sort());
  });

  it.each(Object.entries(OTHER))('-%s=%s changes the behaviour of wallets', (name, value) => {
    const loaded = load(`-${name}=${value}`);
    expect(reportedTo(loaded)).not.toEqual(reportedTo(load()));
    expect(loaded.warnings.filter((warning) => warning.includes('has no effect'))).toEqual([]);
  });

  it.each(Object.entries(ELSEWHERE))('-%s is used elsewhere', (name, { file, test }) => {
    expect(repository(file)).toContain(`options.${name}`);
    expect(repository(`test/functional/${test}`)).toContain(`-${name}`);
  });

  it.each(NOTHING)('-%s has no effect, and a warning reports it', (name) => {
    const { warnings } = load(`-${name}=1`);
    expect(warnings.some((warning) => warning.startsWith(`-${name} has no effect`))).toBe(true);
  });

  it.each(ROWS.filter((name) => name !== 'disablewallet'))(
    '-%s with -disablewallet causes a warning',
    (name) => {
      const { warnings } = load('-disablewallet', `-${name}=${OTHER[name] ?? '1'}`);
      expect(warnings).toContain(`-${name} has no effect with -disablewallet.`);
    },
  );

  it.each(['false', 'true', 'no'])('the word %s disables it, with a warning', (word) => {
    const { options, warnings } = load(`-walletbroadcast=${word}`, `-walletrbf=${word}`);
    expect([options.walletbroadcast, options.walletrbf]).toEqual([false, false]);
    expect(warnings).toContain(
      `-walletbroadcast=${word} turns the option off, as in lbrycrd. Write 1 (on) or 0 (off).`,
    );
  });

  it('-walletrejectlongchains is on by default, unless -compat names a reference', () => {
    expect(walletSettings(load()).wallet.rejectsLongChains).toBe(true);
    expect(walletSettings(load('-compat=lbrycrd')).wallet.rejectsLongChains).toBe(false);
    expect(walletSettings(load('-compat=lbcd')).wallet.rejectsLongChains).toBe(false);
    expect(walletSettings(load('-compat=lbrycrd', '-walletrejectlongchains')).wallet.rejectsLongChains).toBe(
      true,
    );
  });

  it('-usehd=0 is refused', () => {
    expect(() => load('-usehd=0')).toThrow("You can't create non-HD wallets with this version.");
    expect(() => load('-nousehd')).toThrow("You can't create non-HD wallets with this version.");
    expect(load('-usehd=1').warnings).toEqual(load().warnings);
    expect(load('-usehd=0', '-disablewallet').warnings).toBeDefined();
  });

  it('-walletrpclisten without -server causes a warning', () => {
    expect(load('-server=0', '-walletrpclisten=127.0.0.1').warnings).toContain(
      '-walletrpclisten has no effect without -server.',
    );
  });

  it('-walletrpcport without -server is reported', () => {
    const reported = '-walletrpcport has no effect without -server.';
    expect(load('-server=0', '-walletrpcport=9999').warnings).toContain(reported);
    expect(load('-walletrpcport=9999').warnings).not.toContain(reported);
    expect(load('-server=0').warnings).not.toContain(reported);
  });
});
