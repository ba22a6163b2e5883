/** Command lines that were written for lbcd and for lbrycrd. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../../../../src/node/options/options.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'foreign-words-'));
});
afterEach(() => rmSync(home, { recursive: true }));

function load(...words: string[]): LoadedOptions {
  const command = parseCommandLine(words);
  if (command.action !== 'run') throw new Error('the words ask for help');
  return loadOptions(command.args, home, command.warnings);
}

describe('a command line of lbcd', () => {
  it('is accepted as in compose files', () => {
    const { options, network, warnings } = load(
      ...['--notls', '--rpcuser=lbry', '--rpcpass=lbry', '--rpclisten=127.0.0.1:9999', '--regtest'],
      ...['--txindex', '--addrindex', `--datadir=${home}`, '--nodnsseed', '--nolisten'],
    );
    expect(network).toBe('regtest');
    expect(options).toMatchObject({
      rpcuser: 'lbry',
      rpcpassword: 'lbry',
      rpcport: 9999,
      txindex: true,
      addressindex: true,
      datadir: home,
      dnsseed: false,
      listen: false,
      tls: false,
    });
    expect(warnings).toEqual([]);
  });

  it('is accepted as in the harness of dcrdex', () => {
    const { options, paths, warnings } = load(
      ...[
        '--regtest',
        '--notls',
        '--txindex',
        '--addrindex',
        `--datadir=${home}/data`,
        `--logdir=${home}/logs`,
      ],
      ...['--listen=127.0.0.1:39246', '--rpclisten=127.0.0.1:39245', '--rpcuser=user', '--rpcpass=pass'],
      ...['-compat=lbcd', '-walletrpcport=39244', '-walletrpcnotls'],
    );
    expect(options).toMatchObject({
      bind: ['127.0.0.1:39246'],
      rpcport: 39245,
      tls: false,
      txindex: true,
      addressindex: true,
      compat: 'lbcd',
      walletrpcport: 39244,
      walletrpcnotls: true,
    });
    expect(paths.dataDir).toBe(join(home, 'data'));
    expect(warnings).toEqual(['Command line: logdir is ignored: use -debuglogfile.']);
  });

  it('may have --relaynonstd, which is ignored with a warning', () => {
    for (const words of [[], ['--regtest']]) {
      const { options, warnings } = load('--notls', '--relaynonstd', ...words);
      expect(options.acceptnonstdtxn).toBeUndefined();
      expect(warnings).toEqual([
        expect.stringMatching(/^Command line: relaynonstd is ignored: testnet and regtest /),
      ]);
    }
  });

  it('may have values in separate words, and short names', () => {
    const { options, warnings } = load(
      ...['-u', 'me', '-P', 'pa ss', '-b', home, '-a', 'one:1', '--addpeer', 'two:2', '-d', 'info'],
      ...['--maxpeers', '9', '--logdir', '/logs', '--rpcquirks', '--blocksonly'],
    );
    expect(options).toMatchObject({
      rpcuser: 'me',
      rpcpassword: 'pa ss',
      datadir: home,
      addnode: ['one:1', 'two:2'],
      maxconnections: 9,
      blocksonly: true,
    });
    expect(warnings.map((text) => text.split(':')[1]!.trim())).toEqual([
      'debuglevel is ignored',
      'logdir is ignored',
      'rpcquirks is ignored',
    ]);
  });

  it('has listening addresses where ours has a switch', () => {
    expect(load('--listen=:7777').options).toMatchObject({ port: 7777, listen: true });
    expect(load('--listen=127.0.0.1:8').options).toMatchObject({ bind: ['127.0.0.1:8'], listen: true });
    expect(load('--listen', '127.0.0.1:8').options).toMatchObject({ bind: ['127.0.0.1:8'], listen: true });
    expect(load('-listen=0').options.listen).toBe(false);
    expect(load('-listen', '0').options.listen).toBe(false);
    expect(load('--rpclisten=0.0.0.0:99').options).toMatchObject({ rpcbind: ['0.0.0.0:99'], rpcport: 99 });
    expect(load('--norpc').options.server).toBe(false);
    expect(load('--noonion').options.onion).toBe('0');
  });

  it('is accepted as in the script of lbcd for a server, with a warning about its clients', () => {
    const words = ['--txindex', '--notls', '--rpcuser=lbry', '--rpcpass=lbry', '--rpclisten='];
    const { options, notes, warnings } = load(...words);
    expect(options).toMatchObject({ rpcbind: [], rpcallowip: ['0.0.0.0/0', '::/0'], tls: false });
    expect(notes.filter((line) => line.includes('rpclisten of lbcd'))).toHaveLength(1);
    const warning =
      'RPC accepts clients from all addresses, as lbcd does with this rpclisten. -rpcallowip limits them.';
    expect(warnings).toEqual([
      `${warning} Clients with the password can use the wallet too; -disablewallet turns it off.`,
    ]);
    expect(load(...words, '-disablewallet').warnings).toEqual([warning]);
    expect(load(...words, '-rpcallowip=10.0.0.0/8').warnings).toEqual([]);
  });

  it('turns on the indexes that lbcd has by default with -compat=lbcd', () => {
    const indexes = (...words: string[]): readonly unknown[] => {
      const { txindex, blockfilterindex } = load(...words).options;
      return [txindex, blockfilterindex];
    };
    expect(indexes('-compat=lbcd')).toEqual([true, '1']);
    expect(indexes('-compat=lbcd', '--nocfilters', '-notxindex')).toEqual([false, '0']);
    expect(indexes('-compat=lbcd', '-prune=1')).toEqual([false, '0']);
    expect(indexes('--notls')).toEqual([false, '0']);
  });

  it('may have quoted values or values joined to a letter, and a folder in the home folder', () => {
    const quoted = load('--rpcuser="lbry"', '--rpcpass', '"a b"', '-a1.2.3.4', '--datadir=~/data', '--');
    expect(quoted.options).toMatchObject({ rpcuser: 'lbry', rpcpassword: 'a b', addnode: ['1.2.3.4'] });
    expect(quoted.paths.dataDir).toBe(join(home, 'data'));
    expect(load('-ulbry', '-Psecret').options).toMatchObject({ rpcuser: 'lbry', rpcpassword: 'secret' });
    expect(load('-rpcuser="lbry"', '-rpcpassword="a b"').options.rpcpassword).toBe('"a b"');
  });

  it.each([
    [['--notls=yes'], 'Invalid value -notls=yes, it must be 1 (on) or 0 (off)'],
    [['--nodnsseed=true'], 'Invalid value -nodnsseed=true, it must be 1 (on) or 0 (off)'],
    [['--nobanning=yes'], "--nobanning=yes: 'yes' is not a switch"],
    [['--rpcuser=x', '--rpcpass'], 'The option --rpcpass of lbcd needs a value.'],
    [['--addpeer', '--notls'], 'The option --addpeer of lbcd needs a value.'],
    [['--configfile'], 'The option --configfile of lbcd needs a value.'],
    [['-uacoment=x'], 'Invalid parameter -uacoment. Did you mean -uacomment?'],
  ])('is refused as by lbcd: %j', (words, message) => {
    expect(() => load(...words)).toThrow(message);
  });

  it('specifies a configuration file', () => {
    const file = join(home, 'lbcd.conf');
    writeFileSync(file, '[Application Options]\nrpcuser=filed\n');
    expect(load(`--configfile=${file}`).options.rpcuser).toBe('filed');
    expect(load('-C', file).options.rpcuser).toBe('filed');
  });

  it('is refused for an unknown network, and for options that none of the programs has', () => {
    expect(() => load('--simnet')).toThrow('The network simnet of lbcd does not exist here');
    expect(() => load('--nosuchthing')).toThrow('Invalid parameter -nosuchthing');
    expect(() => load('--rpcpas=x')).toThrow('Invalid parameter -rpcpas');
  });
});

describe('a command line of lbrycrd', () => {
  it('has the message of the reference for a retired option with a value', () => {
    expect(() => load('-tor=127.0.0.1:9050')).toThrow('Unsupported argument -tor found, use -onion.');
    expect(load('-notor').network).toBe('main');
  });

  it('ignores options of older versions', () => {
    const { options, warnings } = load(
      '-gen=0',
      '-limitfreerelay=15',
      '-rpcuser=u',
      '-server',
      '-rpckeepalive=1',
    );
    expect([options.rpcuser, options.server]).toEqual(['u', true]);
    expect(warnings.filter((text) => text.startsWith('Command line:'))).toHaveLength(3);
  });
});
