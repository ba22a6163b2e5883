/** Configuration files of other programs: a file that an option names is read, and a file in its default place is reported. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { foreignOption } from '../../../../src/node/options/foreignConfig.js';
import { isLbcdConfig, readLbcdConfig } from '../../../../src/node/options/lbcdConfig.js';
import { foreignHints } from '../../../../src/node/options/foreignFiles.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../../src/node/options/options.js';
import { OPTION_ROWS } from '../../../../src/node/options/optionsTable.js';

let home: string;
let data: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'foreign-config-'));
  data = join(home, 'data');
  mkdirSync(data);
});
afterEach(() => rmSync(home, { recursive: true }));

function load(...words: string[]): LoadedOptions {
  const command = parseCommandLine([`-datadir=${data}`, ...words]);
  if (command.action !== 'run') throw new Error('the words ask for help');
  return loadOptions(command.args, home);
}

function put(path: string, text: string): string {
  mkdirSync(join(home, path, '..'), { recursive: true });
  writeFileSync(join(home, path), text);
  return join(home, path);
}

describe('the configuration file of lbcd', () => {
  it('is recognized by its heading or its name', () => {
    expect(isLbcdConfig('/x/lbcd.conf', '')).toBe(true);
    expect(isLbcdConfig('/x/my.conf', '; text\n[Application Options]\n')).toBe(true);
    expect(isLbcdConfig('/x/lbcnode.conf', '[regtest]\nrpcport=1\n')).toBe(false);
  });

  it('is read with our names', () => {
    const file = put(
      'lbcd.conf',
      '[Application Options]\n; a comment\nrpcuser=u\nrpcpass="p;w #1"\nregtest=1\nrpclisten=127.0.0.1:1234\n' +
        'txindex=true\naddrindex=1\nnodnsseed=1\nmaxpeers=9\nbanduration=1h30m\nnocheckpoints=0\naddpeer=a\naddpeer=b\n' +
        'listen=:7777\nnoonion=0\nrejectreplacement=1\nminrelaytxfee=0.0001\nuacomment=x\n',
    );
    const { options, network, warnings } = load(`-conf=${file}`);
    expect(network).toBe('regtest');
    expect(warnings).toEqual([]);
    expect(options).toMatchObject({
      rpcuser: 'u',
      rpcpassword: 'p;w #1',
      rpcport: 1234,
      rpcbind: ['127.0.0.1:1234'],
      txindex: true,
      addressindex: true,
      dnsseed: false,
      maxconnections: 9,
      bantime: 5400,
      checkpoints: true,
      addnode: ['a', 'b'],
      port: 7777,
      onion: undefined,
      mempoolreplacement: '0',
      minrelaytxfee: 10_000n,
      uacomment: ['x'],
    });
  });

  it.each([
    ['localhost:5', { rpcport: 5, rpcbind: ['localhost:5'], rpcallowall: false }],
    ['[::1]:5', { rpcport: 5, rpcbind: ['[::1]:5'], rpcallowall: false }],
    ['127.0.0.1', { rpcport: undefined, rpcbind: ['127.0.0.1'], rpcallowall: false }],
    ['::1', { rpcport: undefined, rpcbind: ['::1'], rpcallowall: false }],
    ['', { rpcport: undefined, rpcbind: [], rpcallowall: true }],
    [':5', { rpcport: 5, rpcbind: [], rpcallowall: true }],
    ['::', { rpcport: undefined, rpcbind: ['::'], rpcallowall: true }],
    ['[::]:5', { rpcport: 5, rpcbind: ['[::]:5'], rpcallowall: true }],
    ['0.0.0.0', { rpcport: undefined, rpcbind: ['0.0.0.0'], rpcallowall: true }],
    ['10.1.2.3:5', { rpcport: 5, rpcbind: ['10.1.2.3:5'], rpcallowall: true }],
  ])('sets the RPC address: %s', (place, options) => {
    expect(load(`-conf=${put('lbcd.conf', `rpclisten=${place}\n`)}`).options).toMatchObject(options);
  });

  it.each([
    ['3600', "'3600' is not a duration with units"],
    ['1h30', "'1h30' is not a duration with units"],
    ['1.5.s', "'1.5.s' is not a duration with units"],
    ['', "'' is not a duration with units"],
    ['999ms', "'999ms' is less than one second"],
    ['-1h', "'-1h' is less than one second"],
  ])('may not have the duration %s', (duration, message) => {
    const file = put('lbcd.conf', `banduration=${duration}\n`);
    expect(() => load(`-conf=${file}`)).toThrow(`banduration: ${message}`);
  });

  it.each([
    ['+24h', 86_400],
    ['1.5h', 5_400],
    ['1m1000ms', 61],
    ['2000000µs', 2],
    ['1s1us1ns', 1],
  ])('may have the duration %s', (duration, bantime) => {
    expect(load(`-conf=${put('lbcd.conf', `banduration=${duration}\n`)}`).options).toMatchObject({ bantime });
  });

  it('accepts RPC clients from all addresses if the address is public and TLS is chosen', () => {
    const accepts = (text: string, ...words: string[]): readonly string[] => {
      const { options, warnings } = load(`-conf=${put('lbcd.conf', text)}`, ...words);
      expect(
        warnings.filter((line) => line.startsWith('RPC accepts only clients on this machine')),
      ).toHaveLength(text.includes('0.0.0.0') && options.rpcallowip.length === 0 ? 1 : 0);
      return options.rpcallowip;
    };
    const all = ['0.0.0.0/0', '::/0'];
    expect(accepts('rpclisten=0.0.0.0\nnotls=1\n')).toEqual(all);
    expect(accepts('rpclisten=0.0.0.0\nnotls=0\n')).toEqual(all);
    expect(accepts('rpclisten=0.0.0.0\n', '-compat=lbcd')).toEqual(all);
    expect(accepts('rpclisten=0.0.0.0\n')).toEqual([]);
    expect(accepts('rpclisten=127.0.0.1\nnotls=1\n')).toEqual([]);
    expect(accepts('rpclisten=0.0.0.0\nnotls=1\nrpcallowip=10.0.0.0/8\n')).toEqual(['10.0.0.0/8']);
    expect(accepts('rpclisten=0.0.0.0\nnotls=1\n', '-rpcallowip=10.0.0.0/8')).toEqual(['10.0.0.0/8']);
  });

  it('enables TLS, and names its files', () => {
    expect(load(`-conf=${put('lbcd.conf', 'notls=1\n')}`)).toMatchObject({
      options: { tls: false },
      warnings: [],
    });
    const named = load(`-conf=${put('lbcd.conf', 'rpccert=/tls/a.cert\nrpckey=/tls/a.key\n')}`);
    expect(named.options.tls).toBeUndefined();
    expect(named.paths).toMatchObject({
      rpcCert: '/tls/a.cert',
      rpcKey: '/tls/a.key',
      walletRpcCert: '/tls/a.cert',
      walletRpcKey: '/tls/a.key',
    });
  });

  it('explains options without an equivalent, with the place', () => {
    const file = put('lbcd.conf', 'debuglevel=info\nlogdir=/logs\nnosuch=1\nprofile=6060\n');
    expect(load(`-conf=${file}`).warnings).toEqual([
      `debuglevel is ignored: use -debug=<category> (${file}, line 1).`,
      `logdir is ignored: use -debuglogfile (${file}, line 2).`,
      `nosuch is ignored: neither lbcd nor lbcnode has this option (${file}, line 3).`,
      `profile is ignored: use node --inspect (${file}, line 4).`,
    ]);
  });

  it.each(['lbcd.conf', 'other.conf'])('is refused if it selects an unknown network (%s)', (name) => {
    for (const network of ['simnet', 'signet']) {
      const file = put(name, `txindex=1\n${network}=1\n`);
      expect(() => load(`-conf=${file}`)).toThrow(
        `The network ${network} of lbcd does not exist here: only the main network, -testnet and -regtest are supported (${file}, line 2).`,
      );
    }
    expect(load(`-conf=${put(name, 'txindex=1\nsimnet=0\n')}`).network).toBe('main');
  });

  it('has values refused with the place', () => {
    const file = put('lbcd.conf', '\nmaxpeers=many\n');
    expect(() => load(`-conf=${file}`)).toThrow(
      `Invalid value -maxconnections=many, it must be a whole number from 0 to 2147483647 (${file}, line 2)`,
    );
  });

  it('belongs to the network of the command line if it selects none', () => {
    const file = put('lbcd.conf', '[Application Options]\nrpclisten=127.0.0.1:1234\n');
    expect(load(`-conf=${file}`, '-regtest')).toMatchObject({ options: { rpcport: 1234 }, warnings: [] });
    expect(load(`-conf=${file}`)).toMatchObject({ options: { rpcport: 1234 }, warnings: [] });
    const chosen = put('lbcd.conf', 'testnet=1\nrpclisten=127.0.0.1:1234\n');
    expect(load(`-conf=${chosen}`)).toMatchObject({ options: { rpcport: 1234 }, warnings: [] });
  });

  it('uses the last value of an option, each value of a list, and our options', () => {
    const text =
      '[Application Options]\nu=first\nP="\\x41\\u00e9 \\"b\\""\nrpcuser=last\nnotls=t\nnotls=F\n' +
      'addpeer=a\naddpeer=b\nclaimindex=1\nconf=x\n';
    const { options, warnings } = load(`-conf=${put('lbcd.conf', text)}`);
    expect(options).toMatchObject({
      rpcuser: 'last',
      rpcpassword: 'Aé "b"',
      tls: true,
      addnode: ['a', 'b'],
      claimindex: true,
    });
    expect(warnings).toEqual([expect.stringMatching(/^conf is ignored: .*line 10\)\.$/)]);
  });

  it.each([
    ['txindex=yes', "txindex: 'yes' is not a switch"],
    ['nolisten=on', "nolisten: 'on' is not a switch"],
    ['txindex', "'txindex' has no value"],
    ['rpcpass="open', 'the value begins with a quote and does not end with one'],
    ['rpcpass="a\\q"', 'the value has the unknown escape \\q'],
    ['[regtest]', "the section [regtest] does not exist in lbcd's file"],
    ['[Application Options', "the section [Application Options does not exist in lbcd's file"],
    ['signet=maybe', 'The network signet of lbcd does not exist here'],
  ])('is refused at the line %s, as by lbcd', (line, message) => {
    const file = put('lbcd.conf', `[Application Options]\n${line}\n`);
    expect(() => load(`-conf=${file}`)).toThrow(message);
    expect(() => load(`-conf=${file}`)).toThrow(`(${file}, line 2).`);
  });

  it('maps to existing options', () => {
    const names = new Set<string>(OPTION_ROWS.map((row) => row.name));
    const all = 'addpeer addrindex banduration banthreshold blockmaxweight blocksonly connect externalip listen maxorphantx maxpeers miningaddr minrelaytxfee nobanning nocheckpoints nodnsseed nolisten noonion nopeerbloomfilters norpc onion proxy regtest rejectnonstd rejectreplacement rpclisten rpcmaxclients rpcmaxconcurrentreqs rpcmaxwebsockets rpcpass rpcuser testnet torisolation txindex uacomment upnp whitelist'.split(' '); // prettier-ignore
    const { entries, passedOver } = readLbcdConfig(all.map((name) => `${name}=1`).join('\n'), {
      knows: () => false,
      isList: () => true,
    });
    expect(passedOver).toEqual([]);
    expect(entries.length).toBe(all.length);
    expect(entries.filter(({ name }) => !names.has(name))).toEqual([]);
  });
});

describe('the configuration file of lbrycrd', () => {
  it('is read, and options of older versions are explained', () => {
    const file = put('lbrycrd.conf', 'txindex=1\n[lbrycrdreg]\nrpcport=1234\n[main]\ngen=1\nalerts=0\n');
    const { options, warnings } = load(`-conf=${file}`, '-regtest');
    expect(options).toMatchObject({ txindex: true, rpcport: 1234 });
    expect(warnings).toEqual([
      `gen is ignored: the node does not mine by itself; connect a miner to getblocktemplate, or use generatetoaddress on regtest (${file}, line 5).`,
      `alerts is ignored: the network has no alert messages any more (${file}, line 6).`,
    ]);
  });

  it('is refused with options of lbcd, and the message has ours', () => {
    const file = put('lbrycrd.conf', '\nrpcpass=x\n');
    expect(() => load(`-conf=${file}`)).toThrow(
      `Error reading configuration file: Invalid configuration value rpcpass (${file}, line 2). The option rpcpass of lbcd is rpcpassword here`,
    );
    expect(foreignOption('nosuch')).toBeNull();
    expect(foreignOption('constructor')).toBeNull();
  });
});

describe('other configuration files', () => {
  it('in our folder are reported, unless they are read', () => {
    const theirs = put('data/lbrycrd.conf', 'txindex=1\n');
    expect(load().hints).toEqual([
      `${theirs} is a configuration file of lbrycrd and is not read; to use it, start with -conf=${theirs}`,
    ]);
    expect(load().options.txindex).toBe(false);
    expect(load('-conf=lbrycrd.conf').hints).toEqual([]);
    expect(load('-conf=lbrycrd.conf').options.txindex).toBe(true);
  });

  it('in the home folder are reported if there is no file of ours', () => {
    const conf = put('.lbrycrd/lbrycrd.conf', '');
    const blocks = put('.lbrycrd/blocks/blk00000.dat', '');
    const lbcd = put('.lbcd/lbcd.conf', '');
    expect(load().hints).toEqual([
      `${join(home, '.lbrycrd')} is the data folder of lbrycrd and is not used; to use it, take its settings with -conf=${conf}, its blocks with -loadblock=${blocks} and so on`,
      `${join(home, '.lbcd')} is the data folder of lbcd and is not used; to use it, take its settings with -conf=${lbcd}`,
    ]);
    put('data/lbcnode.conf', '');
    expect(load().hints).toEqual([]);
    const own = { dataDir: data, home: null, configFile: join(data, 'lbcnode.conf'), configFound: false };
    expect(foreignHints(own)).toEqual([]);
  });
});
