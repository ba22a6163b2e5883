/** The whole table of options: each row declares the format of its values, and the test checks it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OptionError } from '../../../../src/node/options/optionArgs.js';
import { OPTION_FORMATS } from '../../../../src/node/options/optionFormats.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../../src/node/options/options.js';
import type { OptionFormat, OptionRow } from '../../../../src/node/options/optionRow.js';
import { OPTION_ROWS } from '../../../../src/node/options/optionsTable.js';
import { WALLET_DEBUG_OPTIONS, WALLET_OPTIONS } from '../../../../src/node/options/optionsTableWallet.js';

const WALLET_SWITCHES: readonly string[] = [...WALLET_OPTIONS, ...WALLET_DEBUG_OPTIONS].map(
  ({ name }) => name,
);
const isWalletSwitch = ({ kind, name }: { kind: string; name: string }): boolean =>
  kind === 'bool' && WALLET_SWITCHES.includes(name);

const ROWS: readonly OptionRow[] = OPTION_ROWS;
const folder = mkdtempSync(join(tmpdir(), 'option-formats-'));
afterAll(() => rmSync(folder, { recursive: true }));

function load(...words: string[]): LoadedOptions {
  const command = parseCommandLine([`-datadir=${folder}`, ...words]);
  if (command.action !== 'run') throw new Error('the words ask for help');
  return loadOptions(command.args, null);
}

interface Samples {
  readonly good: readonly string[];
  readonly bad: readonly string[];
}
const HASH64 = 'ab'.repeat(32);
const FREE: Samples = { good: ['', 'anything at all'], bad: [] };

/**
 * Values of each format. Free texts have no invalid ones. Values that other code checks are valid on regtest or only cause a
 * warning.
 */
const SAMPLES: Readonly<Record<OptionFormat, Samples>> = {
  address: { good: ['1.2.3.4', '1.2.3.4:5', '[::1]:5', '::1'], bad: ['', 'host', '1.2.3.4:99999', '1.2.3'] },
  bindHost: { good: ['127.0.0.1', '0.0.0.0', '::1', 'localhost'], bad: ['', 'host', '1.2.3.4:5', '[::1]'] },
  blockHash: { good: [HASH64, `0x${HASH64}`, '0', 'Ab'], bad: ['', 'zz', '0x', `${HASH64}0`, '-1'] },
  chainWork: { good: ['0', '0x65', 'FF'], bad: ['', 'xyz', '0x'] },
  claimIds: {
    good: ['ab'.repeat(20), `${'01'.repeat(20)},${'EF'.repeat(20)}`],
    bad: ['', 'ab', `${'ab'.repeat(20)},`, 'x'.repeat(40)],
  },
  command: FREE,
  country: { good: ['FR', 'us', '419', 'R419'], bad: ['', 'F', 'FRA', '12'] },
  decimal: { good: ['0', '1.1', '12.00000001'], bad: ['', '-1', '1.', '.5', '1e3', '1.000000001'] },
  externalHost: { good: ['8.8.8.8', 'me.example:7', '[2001::1]:7'], bad: ['', 'a b', '8.8.8.8:99999'] },
  hostName: { good: ['*', 'node.example', '1.2.3.4', '::1', '[::1]'], bad: ['', 'a b', 'node.example:80'] },
  hostPort: {
    good: ['localhost', 'node_1:7', '127.0.0.1', '[::1]:9'],
    bad: ['', 'a b', 'h:x', '1.2.3.4:99999'],
  },
  hubPeer: {
    good: ['hub.example', 'hub_1:7', '127.0.0.1', '1.2.3.4:50001'],
    bad: ['', 'a b', 'h:x', '::1', '[::1]:9', '1.2.3.4:99999'],
  },
  logCategory: { good: ['', 'net', '1'], bad: ['nosuch'] },
  network: { good: ['ipv4', 'IPv6', 'onion', 'tor'], bad: ['', 'foo'] },
  override: { good: [], bad: ['garbage'] },
  path: { good: ['x', '/a/b'], bad: ['', 'a\0b'] },
  pattern: { good: ['LBRY SDK 0\\.[0-9]+', '^x$'], bad: ['(', '[a', '*'] },
  payoutAddress: { good: ['mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8'], bad: ['', 'garbage'] },
  peer: {
    good: ['foo', 'lbry_node:9', '1.2.3.4', '[::1]:5', 'expyuzz4wqqyqhjn.onion', '0'],
    bad: ['', 'a b', '1.2.3.4:99999', ':80'],
  },
  postgresUrl: {
    good: [
      '',
      'postgres://localhost',
      'postgresql://me:pass%23word@db.example.org:5432/claims?sslmode=verify-full',
      'postgres://me@/claims?host=/run/postgresql',
    ],
    bad: [
      'localhost',
      'mysql://localhost/claims',
      'postgres:localhost',
      'postgres://me:p#ss@host:x/claims',
      '1',
    ],
  },
  proofWindow: { good: ['all', '0', '5000'], bad: ['', '-5', 'some', '1.5'] },
  proxy: { good: ['', '0', '127.0.0.1', 'tor_1:9050'], bad: ['1.2.3.4:99999', 'a b', 'socks5://h:1'] },
  replacement: { good: ['', '0', '1', 'fee', 'fee,optin', 'never'], bad: ['fees', 'true'] },
  rpcAllowIp: {
    good: ['1.2.3.4', '10.0.0.0/8', '1.2.3.4/255.255.0.0', '::1', '[::1]', '[::1]/128', '2001:db8::/32'],
    bad: ['', 'foo', '1.2.3.4/33', '[::1]/129', '[1.2.3.4'],
  },
  rpcAuth: {
    good: [`rt:93648e835a54c573682c2eb19f882535$${HASH64}`, `ü:s$${HASH64}`],
    bad: [
      '',
      'garbage',
      'user:password',
      `u:s$${HASH64.toUpperCase()}`,
      `u:s$${HASH64}0`,
      `u:$${HASH64}`,
      `:s$${HASH64}`,
    ],
  },
  schemaName: { good: ['', 'lbry', 'Claims_2'], bad: ['2claims', 'pg_claims', 'a-b', 'a.b', 'x'.repeat(64)] },
  sha256: {
    good: ['ab'.repeat(32), 'AB'.repeat(32)],
    bad: ['', 'ab', '0x' + 'ab'.repeat(31), 'xy'.repeat(32)],
  },
  subnet: { good: ['1.2.3.4', '[::1]/64', '10.0.0.0/8'], bad: ['', 'host', '1.2.3.4/33'] },
  text: FREE,
  userAgentComment: { good: ['', 'my node; 1'], bad: ['(', 'a/b', 'é'] },
  zmqAddress: {
    good: ['tcp://127.0.0.1:28332', 'tcp://[::1]:1', 'tcp://*:*', 'ipc:///tmp/x'],
    bad: ['', '127.0.0.1:28332', 'tcp://127.0.0.1', 'tcp://127.0.0.1:99999', 'tcp://'],
  },
};

/** Formats that accept every text. Errors are only found when the value is used. */
const FREE_FORMATS: readonly OptionFormat[] = ['command', 'text'];

function samplesOf(row: OptionRow): Samples {
  // For these options, a word switches wallets off with a warning (`walletOptions.test.ts`).
  if (isWalletSwitch(row)) return { good: ['', '0', '1', '2', 'false', 'true'], bad: [] };
  if (row.kind === 'bool') return { good: ['', '0', '1', '2'], bad: ['true', 'off', '1x', '0.5'] };
  if (row.kind === 'amount') return { good: ['', '0', '0.00001'], bad: ['x', '-1', '0.000000001'] };
  if (row.choices) return { good: row.choices, bad: ['nosuch', 'no such'] };
  if (row.kind !== 'int') return SAMPLES[row.format!];
  const [min, max] = row.range ?? row.clamp!;
  const outside = row.range ? [min - 1, max + 1].filter(Number.isSafeInteger).map(String) : [];
  const bare = row.bare === undefined ? [''] : [];
  return {
    good: [String(min), String(max)],
    bad: ['abc', '1.5', '12ab', '1e3', '0x10', ...bare, ...outside],
  };
}

/** Options that end the program, or that only a file can have. */
const APART: readonly string[] = ['?', 'h', 'help', 'version', 'includeconf', 'conf', 'datadir'];

describe('the table', () => {
  it('describes the format of every option', () => {
    for (const row of ROWS) {
      if (row.kind === 'int') expect(row.range ?? row.clamp, row.name).toBeDefined();
      if (row.kind === 'string' || row.kind === 'list')
        expect(row.format ?? row.choices, row.name).toBeDefined();
    }
  });

  it('has defaults of their type', () => {
    for (const { name, kind, default: value, range, clamp, format, choices } of ROWS) {
      if (kind === 'int' && value !== undefined) {
        const [min, max] = range ?? clamp!;
        expect(value, name).toBeGreaterThanOrEqual(min);
        expect(value, name).toBeLessThanOrEqual(max);
      }
      if (kind !== 'string' || value === undefined) continue;
      expect(choices?.includes(String(value)) ?? OPTION_FORMATS[format!].accepts(String(value)), name).toBe(
        true,
      );
    }
  });

  it.each(ROWS.filter((row) => !APART.includes(row.name)).map((row) => [row.name, row] as const))(
    'checks the format of -%s',
    (name, row) => {
      const { good, bad } = samplesOf(row);
      if (!row.format || !FREE_FORMATS.includes(row.format))
        if (!isWalletSwitch(row)) expect(bad.length).toBeGreaterThan(0);
      for (const text of bad) {
        const word = `-${name}=${text}`;
        if (row.format === 'logCategory') {
          expect(load(word).warnings, word).toEqual([`Unsupported logging category ${word}.`]);
        } else {
          expect(() => load('-regtest', word), word).toThrow(OptionError);
          const said = thrown(() => load('-regtest', word));
          expect(said, word).not.toMatch(/^(undefined|)$/);
        }
      }
      for (const text of good) {
        // Errors of other options, of the network or of the disk are not checked here.
        const said = thrown(() => load('-regtest', `-${name}=${text}`));
        expect(said, `-${name}=${text}`).not.toMatch(
          /^Invalid( value)? -|Cannot resolve|netmask|unsafe|subnet/,
        );
      }
    },
  );

  it('reports the value used instead of one outside the limits', () => {
    for (const { name, clamp } of ROWS) {
      if (!clamp) continue;
      for (const [given, used, side] of [
        [clamp[0] - 1, clamp[0], 'below the minimum'],
        [clamp[1] + 1, clamp[1], 'above the maximum'],
      ] as const) {
        const { options, warnings } = load(`-${name}=${given}`);
        expect((options as unknown as Record<string, unknown>)[name]).toBe(used);
        expect(warnings).toEqual([`-${name}=${given} is ${side}: ${used} is used.`]);
      }
    }
  });

  it('reports the place in the file, of a repeatable option too', () => {
    const file = join(folder, 'lbcnode.conf');
    for (const row of ROWS) {
      if (APART.includes(row.name) || row.name === 'regtest' || row.name === 'testnet') continue;
      const bad = samplesOf(row).bad.find((text) => /^[^#]+$/.test(text) && text.trim() === text);
      if (bad === undefined || row.format === 'logCategory') continue;
      writeFileSync(file, `regtest=1\n[regtest]\n\n${row.name}=${bad}\n`);
      expect(
        thrown(() => load()),
        row.name,
      ).toContain(` (${file}, line 4)`);
    }
    rmSync(file);
  });
});

describe('one of several values', () => {
  it('is reported with its line', () => {
    const file = join(folder, 'lbcnode.conf');
    const lines = (...given: string[]): void => writeFileSync(file, ['regtest=1', ...given].join('\n'));
    lines('forkheight=segwit@1', 'forkheight=nosuch@1');
    expect(thrown(() => load())).toContain(` (${file}, line 3)`);
    lines('miningaddress=mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8', '', 'miningaddress=garbage');
    expect(thrown(() => load())).toBe(`Invalid address for -miningaddress: 'garbage' (${file}, line 4)`);
    lines('claimexpiration=x');
    expect(thrown(() => load())).toContain(` (${file}, line 2)`);
    rmSync(file);
  });
});

describe('a secret', () => {
  it('is not repeated in messages', () => {
    expect(thrown(() => load('-rpcauth=user:password'))).not.toContain('password:');
    expect(thrown(() => load('-rpcauth=user:hunter2'))).not.toContain('hunter2');
  });
});

describe('-rpcuser', () => {
  it('without a password causes a warning', () => {
    const warning =
      '-rpcuser has no effect without -rpcpassword: clients need the cookie, or a password of -rpcauth.';
    expect(load('-rpcuser=x').warnings).toEqual([warning]);
    expect(load('-rpcuser=x', '-rpcpassword=y').warnings).toEqual([]);
  });
});

function thrown(task: () => unknown): string {
  try {
    task();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
