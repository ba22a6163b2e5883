import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigFileError, parseConfigText } from '../../../../src/node/options/configFile.js';
import {
  interpretBool,
  leadingInteger,
  OptionArgs,
  OptionError,
} from '../../../../src/node/options/optionArgs.js';
import { proofWindow, pruneMode, scriptThreads } from '../../../../src/node/options/optionChecks.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../../src/node/options/options.js';
import { helpText, versionText } from '../../../../src/node/options/optionsHelp.js';
import { programVersion } from '../../../../src/util/project.js';
import { OPTION_ROWS } from '../../../../src/node/options/optionsTable.js';
import { formatMoney, parseMoney } from '../../../../src/node/options/optionValues.js';

let home: string;
let data: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'lbcnode-options-'));
  data = join(home, 'data');
  mkdirSync(data);
});

afterEach(() => rmSync(home, { recursive: true }));

function load(...words: string[]): LoadedOptions {
  const command = parseCommandLine([`-datadir=${data}`, ...words]);
  if (command.action !== 'run') throw new Error('the words ask for help');
  return loadOptions(command.args, home);
}

function config(text: string, name = 'lbcnode.conf'): void {
  writeFileSync(join(data, name), text);
}

describe('the table', () => {
  it('names no option twice and describes all except the hidden ones', () => {
    const names = OPTION_ROWS.map((row) => row.name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(150);
    for (const name of names) expect(name).toMatch(/^[a-z0-9?-]+$/);
  });

  it('has every option of the reference', ({ skip }) => {
    const file = new URL('../../../../../shared/reference/options.tsv', import.meta.url);
    if (!existsSync(file)) skip('the list of the reference is not here');
    const rows = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t'));
    const wanted = rows
      .filter(([program]) => program === 'node')
      .map(([, , option]) => /^-([a-z0-9?-]+)/.exec(option!)![1]!);
    expect(wanted.length).toBe(147);
    const known = new Map(OPTION_ROWS.map((row) => [row.name as string, row]));
    expect(wanted.filter((name) => !known.has(name))).toEqual([]);
    const debugOnly = rows.filter(([program, , , mark]) => program === 'node' && mark === 'yes');
    for (const [, , option] of debugOnly) {
      const row = known.get(/^-([a-z0-9?-]+)/.exec(option!)![1]!);
      // -regtest is in the normal help, because users try the node with it.
      if (row?.name !== 'regtest') expect(row, option).toMatchObject({ debugOnly: true });
    }
  });
});

describe('values', () => {
  it('parses switches as the reference does', () => {
    expect(load().options.txindex).toBe(false);
    for (const word of ['-txindex', '--txindex', '-txindex=1', '-txindex=2', '-notxindex=0']) {
      expect(load(word).options.txindex, word).toBe(true);
    }
    for (const word of ['-txindex=0', '-notxindex', '-notxindex=1', '--notxindex']) {
      expect(load(word).options.txindex, word).toBe(false);
    }
    // The reference accepts these values without a message, the first two as 0 and the last one as 2.
    for (const word of ['-txindex=true', '-txindex=yes', '-txindex=2x'])
      expect(() => load(word), word).toThrow(`Invalid value ${word}, it must be 1 (on) or 0 (off)`);
    expect(interpretBool('')).toBe(true);
    expect([leadingInteger('12ab'), leadingInteger(' -7'), leadingInteger('x'), leadingInteger('')]).toEqual([
      12, -7, 0, 0,
    ]);
  });

  it('accepts a value in a word of its own', () => {
    const { options } = load(
      '--dbcache',
      '100',
      '-connect',
      '1.2.3.4',
      '-txindex',
      '1',
      '-rest',
      '0',
      '-debug',
      'net',
    );
    expect(options).toMatchObject({
      dbcache: 100,
      connect: ['1.2.3.4'],
      txindex: true,
      rest: false,
      debug: ['net'],
    });
    expect(load('-debug', '-txindex').options).toMatchObject({ debug: [''], txindex: true });
    expect(load('--datadir', data).paths.dataDir).toBe(data);
    expect(load('--par', '-2', '-txindex').options).toMatchObject({ par: -2, txindex: true });
    expect(() => load('-debug', '-2')).toThrow('Invalid parameter -2');
    expect(() => load('-dbcache', '-txindex')).toThrow(
      'Invalid -dbcache without a value, it must be a whole number',
    );
  });

  it('uses the last value of the command line', () => {
    expect(load('-dbcache=100', '-dbcache=200').options.dbcache).toBe(200);
    expect(load('-txindex', '-notxindex').options.txindex).toBe(false);
    expect(load('-notxindex', '-txindex').options.txindex).toBe(true);
  });

  it('has the defaults of the reference', () => {
    const { options, network, paths, derived } = load();
    expect(network).toBe('main');
    expect(options).toMatchObject({
      dbcache: 560,
      par: 0,
      maxmempool: 300,
      server: true,
      listen: true,
      rpcthreads: 4,
      rpcworkqueue: 16,
      rpcservertimeout: 30,
      rpcport: undefined,
      minrelaytxfee: 1000n,
      checklevel: 3,
      compat: 'documented',
      claimproofwindow: '5000',
      debug: [],
      rpcserialversion: 1,
    });
    expect(paths).toEqual({
      dataDir: data,
      networkDir: data,
      blocksDir: join(data, 'blocks'),
      configFile: join(data, 'lbcnode.conf'),
      cookieFile: join(data, '.cookie'),
      rpcCert: join(data, 'rpc.cert'),
      rpcKey: join(data, 'rpc.key'),
      walletRpcCert: join(data, 'rpc.cert'),
      walletRpcKey: join(data, 'rpc.key'),
      logFile: join(data, 'debug.log'),
      pidFile: join(data, 'lbcnode.pid'),
    });
    expect(derived).toMatchObject({
      dbCacheBytes: 560 * 1024 * 1024,
      claimProofWindowBlocks: 5000,
      prune: { kind: 'off' },
    });
  });

  it('limits the caches, threads and check level', () => {
    expect(load('-dbcache=1').options.dbcache).toBe(4);
    expect(load('-dbcache=-5').warnings).toEqual(['-dbcache=-5 is below the minimum: 4 is used.']);
    expect(load('-dbcache=99999').options.dbcache).toBe(16384);
    expect(load('-par=999')).toMatchObject({
      options: { par: 16 },
      warnings: ['-par=999 is above the maximum: 16 is used.'],
    });
    expect(load('-zapwallettxes').options.zapwallettxes).toBe(1);
    expect(load('-checklevel=9').options.checklevel).toBe(4);
    expect([
      scriptThreads(0, 2),
      scriptThreads(-1, 2),
      scriptThreads(-9, 4),
      scriptThreads(1, 8),
      scriptThreads(99, 8),
    ]).toEqual([2, 1, 1, 1, 16]);
  });

  it('collects repeatable options, the command line first', () => {
    config('debug=net\ndebug=rpc\n[regtest]\ndebug=db\n');
    expect(load('-regtest', '-debug', '-debug=http').options.debug).toEqual(['', 'http', 'db', 'net', 'rpc']);
    expect(load('-regtest', '-nodebug').options.debug).toEqual([]);
  });

  it('parses amounts exactly, and refuses others by name', () => {
    expect(load('-minrelaytxfee=0.00000001').options.minrelaytxfee).toBe(1n);
    expect(load('-maxtxfee=21').options).toMatchObject({ maxtxfee: 2_100_000_000n });
    expect(() => load('-minrelaytxfee=x')).toThrow("Invalid amount for -minrelaytxfee=<amount>: 'x'");
    // The reference's util_tests.cpp, util_ParseMoney.
    expect(parseMoney('12345.6789')).toBe(1234567890000n);
    expect(parseMoney('100000000.00')).toBe(10n ** 16n);
    expect(parseMoney(' 0.00000001 ')).toBe(1n);
    expect(parseMoney('')).toBe(0n);
    expect(parseMoney('1.')).toBe(100_000_000n);
    for (const bad of ['0.000000001', '-1', '1x', '1 2', '12345678901', '1e3'])
      expect(parseMoney(bad), bad).toBeNull();
    expect([formatMoney(0n), formatMoney(1000n), formatMoney(150_000_000n), formatMoney(1n)]).toEqual([
      '0.00',
      '0.00001',
      '1.50',
      '0.00000001',
    ]);
  });

  it('refuses values that are not among the choices', () => {
    expect(load('-compat=lbcd').options.compat).toBe('lbcd');
    expect(() => load('-compat=bitcoin')).toThrow(
      'Invalid value -compat=bitcoin, it must be one of documented, lbrycrd, lbcd',
    );
    expect(() => load('-nocompat')).toThrow('Invalid value -nocompat');
  });
});

describe('refusals', () => {
  it('refuses unknown options and stray words', () => {
    expect(() => load('-foo')).toThrow(
      new OptionError('Error parsing command line arguments: Invalid parameter -foo'),
    );
    expect(() => load('--foo=1')).toThrow('Invalid parameter -foo');
    expect(() => load('-nofoo')).toThrow('Invalid parameter -nofoo');
    expect(() => load('-rpcprot=1')).toThrow('Invalid parameter -rpcprot. Did you mean -rpcport?');
    expect(() => load('--notxidnex')).toThrow('Invalid parameter -notxidnex. Did you mean -notxindex?');
    expect(() => load('-txindex', 'true')).toThrow(
      "Command line contains unexpected token 'true', see lbcnode -h for a list of options. A switch must be 1 or 0.",
    );
    expect(() => load('getinfo')).toThrow(
      "Command line contains unexpected token 'getinfo', see lbcnode -h for a list of options.",
    );
    expect(() => load('-rpcport=abc')).toThrow(
      new OptionError('Invalid value -rpcport=abc, it must be a whole number'),
    );
    expect(() => load('regtest')).toThrow('An option begins with a dash: -regtest');
    expect(() => load('dbcache=5')).toThrow('An option begins with a dash: -dbcache=5');
    expect(() => load('-includeconf=x')).toThrow(
      'Error parsing command line arguments: -includeconf cannot be used from commandline; -includeconf=x',
    );
  });

  it.each([
    [['-regtest', '-testnet'], 'Invalid combination of -regtest and -testnet.'],
    [['-prune=1', '-txindex'], 'Prune mode is incompatible with -txindex.'],
    [['-peerblockfilters'], 'Cannot set -peerblockfilters without -blockfilterindex.'],
    [['-blockfilterindex=other'], 'Unknown -blockfilterindex value other.'],
    [['-prune=-1'], 'Prune cannot be configured with a negative value.'],
    [['-prune=549'], 'Prune configured below the minimum of 550 MiB.  Please use a higher number.'],
    [['-bind=127.0.0.1', '-listen=0'], 'Cannot set -bind or -whitebind together with -listen=0'],
    [['-minimumchainwork=xyz'], 'Invalid non-hex (xyz) minimum chain work value specified'],
    [['-minimumchainwork='], 'Invalid non-hex () minimum chain work value specified'],
    [['-maxmempool=4'], '-maxmempool must be at least 5 MB'],
    [['-rpcserialversion=-1'], 'rpcserialversion must be non-negative.'],
    [['-rpcserialversion=2'], 'unknown rpcserialversion requested.'],
    [['-acceptnonstdtxn'], 'acceptnonstdtxn is not currently supported for lbrycrd chain'],
    [['-rpcssl'], 'SSL mode for RPC (-rpcssl) is no longer supported.'],
    [['-tor'], 'Unsupported argument -tor found, use -onion.'],
    [['-socks=5'], 'Unsupported argument -socks found.'],
    [['-vbparams=segwit:0:1'], 'Version bits parameters may only be overridden on regtest.'],
    [['-regtest', '-vbparams=nosuch:0:1'], 'Invalid deployment (nosuch)'],
    [['-regtest', '-vbparams=1'], 'Version bits parameters malformed, expecting deployment:start:end'],
    [['-supportdelay=100'], '-supportdelay may only be given on regtest: main follows the deployed network.'],
    [
      ['-testnet', '-forkheight=segwit@1'],
      '-forkheight may only be given on regtest: test follows the deployed network.',
    ],
    [
      ['-claimexpiration=1,2'],
      '-claimexpiration may only be given on regtest: main follows the deployed network.',
    ],
    [
      ['-testnet', '-assumevaliddepth=1'],
      '-assumevaliddepth may only be given on regtest: test follows the deployed network.',
    ],
    [['-regtest', '-supportdelay=7'], 'Invalid value -supportdelay=7, it must be one of 100, proportional'],
    [['-claimproofwindow=-5'], 'Invalid value -claimproofwindow=-5, it must be a number of blocks, or all'],
    [['-blocksdir=/nonexistent/x'], 'Specified blocks directory "/nonexistent/x" does not exist.'],
  ])('refuses %j', (words, message) => {
    expect(() => load(...words)).toThrow(message);
    expect(() => load(...words)).toThrow(OptionError);
  });

  it('warns of options that have no effect any more', () => {
    expect(load('-debugnet', '-benchmark', '-blockminsize=1').warnings).toEqual([
      'Unsupported argument -debugnet ignored, use -debug=net.',
      'Unsupported argument -benchmark ignored, use -debug=bench.',
      'Unsupported argument -blockminsize ignored.',
    ]);
    expect(load('-fastsignatures').warnings).toEqual([
      'Unsupported argument -fastsignatures ignored. libsecp256k1 verifies every signature, or @noble/secp256k1 without the native addon.',
    ]);
    expect(load('-fastsignatures=0').warnings).toEqual([]);
  });
});

describe('networks and folders', () => {
  it('finds the network and its folder', () => {
    expect(load('-regtest').paths).toMatchObject({
      networkDir: join(data, 'regtest'),
      blocksDir: join(data, 'regtest', 'blocks'),
      cookieFile: join(data, 'regtest', '.cookie'),
      pidFile: join(data, 'regtest', 'lbcnode.pid'),
    });
    expect(load('-testnet').paths.networkDir).toBe(join(data, 'testnet3'));
    expect(load('-testnet').network).toBe('test');
    expect(load('-regtest').params.rpcPort).toBe(29245);
  });

  it('accepts other paths for blocks, log, cookie', () => {
    const other = join(home, 'other');
    mkdirSync(other);
    const { paths } = load(
      '-regtest',
      `-blocksdir=${other}`,
      '-debuglogfile=x/y.log',
      `-rpccookiefile=${other}/c`,
    );
    expect(paths.blocksDir).toBe(join(other, 'regtest', 'blocks'));
    expect(paths.logFile).toBe(join(data, 'regtest', 'x', 'y.log'));
    expect(paths.cookieFile).toBe(join(other, 'c'));
    expect(load('-nodebuglogfile').paths.logFile).toBeNull();
  });

  it('uses ~/.lbcnode by default, and a folder that does not exist yet', () => {
    const command = parseCommandLine([]);
    if (command.action !== 'run') throw new Error('not a run');
    expect(loadOptions(command.args, home).paths.dataDir).toBe(join(home, '.lbcnode'));
    rmSync(data, { recursive: true });
    expect(load().paths.dataDir).toBe(data);
    writeFileSync(data, '');
    expect(() => load()).toThrow(`Specified data directory "${data}" is not a folder.`);
    expect(() => load('-datadir=')).toThrow('Invalid value -datadir=, it must be a path');
    rmSync(data);
    mkdirSync(data);
  });

  it('finds paths that begin with ~ in the home folder', () => {
    mkdirSync(join(home, 'films'));
    writeFileSync(join(home, 'own.conf'), 'includeconf=~/more.conf\nregtest=1\n');
    writeFileSync(join(home, 'more.conf'), 'rpccert=~/rpc.cert\nrpckey=~other/key\n');
    const words = ['-datadir=~/films', '-conf=~/own.conf', '-loadblock=~/a.dat', '-walletdir=~', '-pid=~/p'];
    const command = parseCommandLine(words);
    if (command.action !== 'run') throw new Error('not a run');
    const { options, paths } = loadOptions(command.args, home);
    expect(paths).toMatchObject({
      dataDir: join(home, 'films'),
      rpcCert: join(home, 'rpc.cert'),
      rpcKey: join(home, 'films', 'regtest', '~other', 'key'),
      pidFile: join(home, 'p'),
    });
    expect(options).toMatchObject({ loadblock: [join(home, 'a.dat')], walletdir: home });
    rmSync(join(home, 'films'), { recursive: true });
  });

  it('needs no home folder if the data folder is given', () => {
    const words = (...given: string[]): OptionArgs => {
      const command = parseCommandLine(given);
      if (command.action !== 'run') throw new Error('not a run');
      return command.args;
    };
    expect(loadOptions(words(`-datadir=${data}`), null).paths.dataDir).toBe(data);
    expect(() => loadOptions(words(), null)).toThrow(
      'The home folder is unknown: HOME is not set, and the user has no entry in the password file. ' +
        'Specify the data folder with -datadir=<dir>.',
    );
  });

  it('moves forks on regtest', () => {
    const { params, options } = load(
      '-regtest',
      '-forkheight=normalization@600',
      '-forkheight=segwit@800',
      '-claimexpiration=260,900',
      '-assumevaliddepth=0',
    );
    expect(params.assumeValidDepthSec).toBe(0);
    expect(params.claimForks.normalizationForkHeight).toBe(600);
    expect(params.segwitHeight).toBe(800);
    expect(params.claimForks.originalExpiration).toBe(260);
    expect(options.supportdelay).toBeUndefined();
    expect(() => load('-regtest', '-forkheight=nosuch@1')).toThrow(OptionError);
  });

  it('accepts the window of proofs', () => {
    expect([proofWindow('all'), proofWindow('0'), proofWindow('123')]).toEqual([Infinity, 0, 123]);
    expect(load('-claimproofwindow=all').derived.claimProofWindowBlocks).toBe(Infinity);
  });

  it('accepts the prune modes', () => {
    expect(pruneMode(0)).toEqual({ kind: 'off' });
    expect(pruneMode(1)).toEqual({ kind: 'manual' });
    expect(pruneMode(550)).toEqual({ kind: 'automatic', targetBytes: 550 * 1024 * 1024 });
  });
});

describe('interactions', () => {
  it.each<[string[], Record<string, boolean>]>([
    [
      ['-connect=1.2.3.4'],
      { listen: false, dnsseed: false, upnp: false, discover: false, listenonion: false },
    ],
    [['-connect=1.2.3.4', '-bind=127.0.0.1'], { listen: true, dnsseed: false }],
    [['-connect=1.2.3.4', '-listen'], { listen: true, dnsseed: false }],
    [['-noconnect'], { listen: false, dnsseed: false }],
    [['-proxy=127.0.0.1:9050'], { listen: false, upnp: false, discover: false }],
    [['-externalip=1.2.3.4'], { discover: false, listen: true }],
    [['-blocksonly'], { whitelistrelay: false }],
    [['-whitelistforcerelay=0', '-whitelistrelay=0'], { whitelistrelay: false }],
    [['-nolisten'], { listen: false, discover: false, listenonion: false }],
  ])('%j', (words, expected) => {
    expect(load(...words).options).toMatchObject(expected);
  });

  it('reports the options that it set', () => {
    expect(load('-nolisten').notes).toEqual([
      'parameter interaction: -listen=0 -> setting -upnp=0',
      'parameter interaction: -listen=0 -> setting -discover=0',
      'parameter interaction: -listen=0 -> setting -listenonion=0',
      'parameter interaction: -whitelistforcerelay=1 -> setting -whitelistrelay=1',
    ]);
  });

  it('raises the minimum relay fee with its step', () => {
    expect(load('-incrementalrelayfee=0.0005').options.minrelaytxfee).toBe(50_000n);
    expect(load('-incrementalrelayfee=0.000001').options.minrelaytxfee).toBe(1000n);
    expect(load('-incrementalrelayfee=0.0005', '-minrelaytxfee=0.0001').options.minrelaytxfee).toBe(10_000n);
  });
});

describe('configuration files', () => {
  it('parses settings, sections, comments', () => {
    expect(parseConfigText(' a = 1 # one\r\n\n# all\n[test]\nb=2=3\nc=\n[ x ]\nregtest.d=4\n')).toEqual([
      { section: '', name: 'a', value: '1', line: 1 },
      { section: 'test', name: 'b', value: '2=3', line: 5 },
      { section: 'test', name: 'c', value: '', line: 6 },
      { section: ' x ', name: 'regtest.d', value: '4', line: 8 },
    ]);
    expect(parseConfigText('regtest.d=4\nlbrycrdreg.e=5\n[lbrycrd]\nf=6')).toEqual([
      { section: 'regtest', name: 'd', value: '4', line: 1 },
      { section: 'regtest', name: 'e', value: '5', line: 2 },
      { section: 'main', name: 'f', value: '6', line: 4 },
    ]);
  });

  it.each([
    ['server', 'parse error on line 1: server'],
    [
      '\n\nnolisten',
      'parse error on line 3: nolisten, if you intended to specify a negated option, use nolisten=1 instead',
    ],
    [
      '-server=1',
      'parse error on line 1: -server=1, options in configuration file must be specified without leading -',
    ],
    [
      'rpcpassword=a#b',
      'parse error on line 1, using # in rpcpassword can be ambiguous and should be avoided',
    ],
  ])('refuses %j', (text, message) => {
    expect(() => parseConfigText(text)).toThrow(new ConfigFileError(message));
    config(text);
    expect(() => load()).toThrow(
      `Error reading configuration file: ${message} (${join(data, 'lbcnode.conf')})`,
    );
  });

  it('refuses unknown settings, with the place and the nearest name', () => {
    const file = join(data, 'lbcnode.conf');
    config('[regtest]\nnosuch=1\n');
    expect(() => load()).toThrow(
      `Error reading configuration file: Invalid configuration value regtest.nosuch (${file}, line 2)`,
    );
    config('# one\n\nrpcpasword=1\n');
    expect(() => load()).toThrow(
      `Error reading configuration file: Invalid configuration value rpcpasword (${file}, line 3). Did you mean rpcpassword?`,
    );
    config('notxindx=1\n');
    expect(() => load()).toThrow(`notxindx (${file}, line 1). Did you mean notxindex?`);
  });

  it('may begin with a byte order mark and have line ends of Windows', () => {
    config('\ufefftxindex=1\r\ndbcache=77\r\n');
    expect(load().options).toMatchObject({ txindex: true, dbcache: 77 });
    expect(load().warnings).toEqual([]);
  });

  it('cannot specify another file in place of themselves', () => {
    config('txindex=1\nconf=other.conf\n');
    expect(load().options.txindex).toBe(true);
    expect(load().warnings).toEqual([
      `conf is ignored: the configuration file is given on the command line; use includeconf for a further file (${join(data, 'lbcnode.conf')}, line 2).`,
    ]);
  });

  it('report the line of a refused or moved value', () => {
    const file = join(data, 'lbcnode.conf');
    config('txindex=1\ndbcache=1\n[regtest]\nmaxmempool=x\nport=99999\naddnode=1.2.3.4\naddnode=a b\n');
    expect(load().warnings).toEqual([`-dbcache=1 is below the minimum: 4 is used (${file}, line 2).`]);
    expect(() => load('-regtest')).toThrow(
      `Invalid value -maxmempool=x, it must be a whole number from 0 to 2147483647 (${file}, line 4)`,
    );
    expect(() => load('-regtest', '-maxmempool=300')).toThrow(
      `Invalid value -addnode=a b, it must be a host as <name>, <ip>, <host>:<port> or [<ipv6>]:<port>, or 0 for none (${file}, line 7)`,
    );
    expect(() => load('-regtest', '-maxmempool=300', '-noaddnode')).toThrow(
      `Invalid port specified in -port: '99999' (${file}, line 5)`,
    );
    const at = (line: number): string => ` (${file}, line ${line})`;
    for (const [text, line, words = []] of [
      ['txindex=1\nblockfilterindex=foo\n', 2],
      ['listen=0\nbind=127.0.0.1\n', 1],
      ['\nwhitebind=127.0.0.1:1\n', 2, ['-listen=0']],
      ['\npeerblockfilters=1\n', 2],
      ['\nregtest=1\ntestnet=1\n', 2],
      ['\ntestnet=1\n', 2, ['-regtest']],
    ] as const) {
      config(text);
      expect(() => load(...words)).toThrow(at(line));
    }
    config('includeconf=more.conf\n');
    config('\ntestnet=maybe\n', 'more.conf');
    expect(() => load()).toThrow(`it must be 1 (on) or 0 (off) (${join(data, 'more.conf')}, line 2)`);
  });

  it('must exist if they are specified', () => {
    expect(() => load('-conf=absent.conf')).toThrow(
      `Error reading configuration file: there is no file ${join(data, 'absent.conf')} (-conf=absent.conf; a relative path starts at the data folder)`,
    );
    mkdirSync(join(data, 'folder.conf'));
    expect(() => load('-conf=folder.conf')).toThrow(
      `Error reading configuration file: ${join(data, 'folder.conf')} is a folder.`,
    );
    config('garbage\n');
    expect(load('-noconf').options.txindex).toBe(false);
  });

  it('takes the first occurrence, the section before the default, the command line before both', () => {
    config('dbcache=100\ndbcache=200\n[regtest]\ndbcache=300\n');
    expect(load().options.dbcache).toBe(100);
    expect(load('-regtest').options.dbcache).toBe(300);
    expect(load('-regtest', '-dbcache=400').options.dbcache).toBe(400);
  });

  it('accepts sections by the names of the reference too, and warns of others', () => {
    config('[main]\ndbcache=50\n[lbrycrdreg]\ndbcache=60\n[typo]\ndbcache=70\n');
    expect(load().options.dbcache).toBe(50);
    expect(load('-regtest').options.dbcache).toBe(60);
    expect(load('-testnet').options.dbcache).toBe(560);
    expect(load().warnings).toEqual([
      `Section [typo] is not recognized (${join(data, 'lbcnode.conf')}, line 6).`,
    ]);
    config('[regtst]\ndbcache=70\n');
    expect(load().warnings).toEqual([
      `Section [regtst] is not recognized (${join(data, 'lbcnode.conf')}, line 2). Did you mean [regtest]?`,
    ]);
  });

  it('warns of a choice of the network below a heading, if invalid', () => {
    config('dbcache=50\n[regtest]\nregtest=1\n');
    expect(load().network).toBe('main');
    expect(load().warnings).toEqual([
      `regtest=1 has no effect below a section heading (${join(data, 'lbcnode.conf')}, line 3). Move it above the first heading.`,
    ]);
    expect(load('-regtest').warnings).toEqual([]);
    config('testnet=1\n[test]\ntestnet=1\nregtest=0\n');
    expect(load().warnings).toEqual([]);
  });

  it('negates', () => {
    config('nolisten=1\n[regtest]\nlisten=1\n');
    expect(load().options.listen).toBe(false);
    expect(load('-regtest').options.listen).toBe(true);
    config('nodebug=1\ndebug=net\n');
    expect(load().options.debug).toEqual(['net']);
  });

  it('accepts no negated path, nor the 0 of a negated text as a value', () => {
    for (const name of ['pid', 'blocksdir', 'rpccookiefile', 'walletdir', 'hubbanner'])
      expect(() => load(`-no${name}`)).toThrow(`Invalid value -no${name}, it must be a path`);
    const command = parseCommandLine(['-nodatadir']);
    if (command.action !== 'run') throw new Error('the words ask for help');
    expect(() => loadOptions(command.args, data)).toThrow('Invalid value -nodatadir, it must be a path');
    config('nopid=1\n');
    expect(() => load()).toThrow(`it must be a path (${join(data, 'lbcnode.conf')}, line 1)`);
    config('rpcuser=me\nrpcpassword=secret\nblocknotify=touch x\n');
    expect(load('-norpcuser', '-norpcpassword', '-noblocknotify', '-notorpassword').options).toMatchObject({
      rpcuser: '',
      rpcpassword: '',
      blocknotify: '',
      torpassword: '',
    });
    expect(load('-nodebuglogfile').paths.logFile).toBeNull();
    expect(load('-noconf').options.rpcuser).toBe('');
  });

  it('ignores options for one network on others, with a warning', () => {
    config('rpcport=1111\nport=2222\ntxindex=1\n[test]\nrpcport=3333\n');
    expect(load().options).toMatchObject({ rpcport: 1111, port: 2222 });
    expect(load().warnings).toEqual([]);
    const regtest = load('-regtest');
    expect(regtest.options).toMatchObject({ rpcport: undefined, port: undefined, txindex: true });
    expect(regtest.warnings).toEqual([
      'Config setting for -port only applied on regtest network when in [regtest] section.',
      'Config setting for -rpcport only applied on regtest network when in [regtest] section.',
    ]);
    const test = load('-testnet');
    expect(test.options).toMatchObject({ rpcport: 3333, port: undefined });
    expect(test.warnings.length).toBe(1);
  });

  it('selects the network, but not from within a section', () => {
    config('regtest=1\n');
    expect(load().network).toBe('regtest');
    expect(load('-noregtest').network).toBe('main');
    config('[test]\nregtest=1\n');
    expect(load().network).toBe('main');
  });

  it('includes further files once', () => {
    config('includeconf=more.conf\nregtest=1\n[regtest]\nincludeconf=reg.conf\n');
    config('txindex=1\nincludeconf=deeper.conf\n', 'more.conf');
    config('dbcache=77\n', 'reg.conf');
    config('maxmempool=1000\n', 'deeper.conf');
    const loaded = load();
    // An included file is in its own default section, in whichever section it was named.
    expect(loaded.options).toMatchObject({ txindex: true, dbcache: 77, maxmempool: 300 });
    expect(loaded.warnings).toEqual([
      'warning: -includeconf cannot be used from included files; ignoring -includeconf=deeper.conf',
    ]);
    expect(load('-noincludeconf').options).toMatchObject({ txindex: false });
    config('includeconf=missing.conf\n');
    expect(() => load()).toThrow(
      `Error reading configuration file: Failed to include configuration file missing.conf (${join(data, 'lbcnode.conf')}, line 1). There is no file ${join(data, 'missing.conf')}`,
    );
  });

  it('are not read through a link without a target', () => {
    const link = join(home, 'link');
    symlinkSync(join(home, 'unmounted'), link);
    expect(() => load(`-datadir=${link}`)).toThrow(
      new OptionError(
        `The data directory "${link}" is a symbolic link to ${join(home, 'unmounted')}, which does not exist. Mount its disk, or create the folder.`,
      ),
    );
    mkdirSync(join(home, 'unmounted'));
    expect(load(`-datadir=${link}`).paths.dataDir).toBe(link);
  });

  it('reads another file by -conf, and the data folder from the file', () => {
    const moved = join(home, 'moved');
    mkdirSync(moved);
    config(`datadir=${moved}\ntxindex=1\n`, 'other.conf');
    const loaded = load('-conf=other.conf');
    expect(loaded.options.txindex).toBe(true);
    // The command line also sets the folder, and has precedence.
    expect(loaded.paths.dataDir).toBe(data);
    mkdirSync(join(home, '.lbcnode'));
    writeFileSync(join(home, '.lbcnode', 'lbcnode.conf'), `datadir=${moved}\n`);
    const command = parseCommandLine([]);
    if (command.action !== 'run') throw new Error('not a run');
    expect(loadOptions(command.args, home).paths.dataDir).toBe(moved);
    writeFileSync(join(home, '.lbcnode', 'lbcnode.conf'), 'datadir=/nonexistent/x\n');
    const again = parseCommandLine([]);
    if (again.action !== 'run') throw new Error('not a run');
    expect(loadOptions(again.args, home).paths.dataDir).toBe('/nonexistent/x');
    writeFileSync(join(home, '.lbcnode', 'lbcnode.conf'), '\ndatadir=\n');
    const third = parseCommandLine([]);
    if (third.action !== 'run') throw new Error('not a run');
    expect(() => loadOptions(third.args, home)).toThrow(
      `Invalid value -datadir=, it must be a path (${join(home, '.lbcnode', 'lbcnode.conf')}, line 2)`,
    );
  });
});

describe('OptionArgs', () => {
  it('distinguishes given options from defaults', () => {
    const args = new OptionArgs([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    expect(args.parseCommandLine(['-a=1', '-nob', '-', 'word', '-c'])).toEqual(['word', '-c']);
    expect([args.isSet('a'), args.isSet('b'), args.isSet('c')]).toEqual([true, true, false]);
    expect([args.isNegated('a'), args.isNegated('b')]).toEqual([false, true]);
    expect([args.value('a'), args.value('b'), args.value('c')]).toEqual(['1', '0', undefined]);
    expect(args.set('a', '2', true)).toBe(false);
    expect(args.set('b', '2', true)).toBe(false);
    expect(args.set('c', '3', true)).toBe(true);
    expect(args.set('a', '4', false)).toBe(true);
    expect([args.value('a'), args.value('c')]).toEqual(['4', '3']);
  });
});

describe('help and version', () => {
  it('are recognized in every spelling', () => {
    for (const word of ['-?', '-h', '-help', '--help']) expect(parseCommandLine([word]).action).toBe('help');
    expect(parseCommandLine(['-help', '-help-debug'])).toEqual({ action: 'help', debug: true });
    expect(parseCommandLine(['-version', '-help']).action).toBe('version');
  });

  it('print the table', () => {
    const text = helpText(false);
    expect(text).toContain(
      '  -dbcache=<n>\n       Size of the database cache in MiB (4 to 16384; default: 560)\n\n',
    );
    expect(text).toContain('RPC server options:\n\n');
    expect(text).not.toContain('-checkblocks');
    expect(text).not.toContain('Wallet debugging/testing options:');
    expect(helpText(true)).toContain('-checkblocks=<n>');
    expect(
      Math.max(
        ...helpText(true)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(79);
    expect(versionText()).toContain(`lbcnode version v${programVersion()}`);
  });
});
