import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { firstSteps, type RpcPlace } from '../../../../src/node/display/firstSteps.js';
import { loadOptions, parseCommandLine } from '../../../../src/node/options/options.js';

const home = mkdtempSync(join(tmpdir(), 'first steps-'));
afterAll(() => rmSync(home, { recursive: true }));

const LOOPBACK: readonly RpcPlace[] = [
  { host: '::1', port: 29245 },
  { host: '127.0.0.1', port: 29245 },
];

function steps(
  words: string[],
  places = LOOPBACK,
  program = '/usr/bin/lbcnode',
  launcher?: string,
): string[] {
  const command = parseCommandLine(words);
  if (command.action !== 'run') throw new Error('not a run');
  return firstSteps(loadOptions(command.args, home), places, program, '/srv/lbcnode', launcher);
}

describe('the first steps', () => {
  it('name paths, credentials and commands', () => {
    expect(steps(['-regtest'])).toEqual([
      `RPC listens on [::1]:29245 and 127.0.0.1:29245, cookie in ${home}/.lbcnode/regtest/.cookie`,
      'Call a method: lbcnode-cli -regtest getblockchaininfo',
      'Stop it: Ctrl-C, or type: lbcnode-cli -regtest stop',
    ]);
    expect(steps([])[1]).toBe('Call a method: lbcnode-cli getblockchaininfo');
    expect(steps(['-testnet', '-rpcuser=u', '-rpcpassword=secret'])).toEqual([
      'RPC listens on [::1]:29245 and 127.0.0.1:29245, with the user and password of -rpcuser and -rpcpassword',
      'Call a method: lbcnode-cli -testnet -rpcuser=u -stdinrpcpass getblockchaininfo',
      'Stop it: Ctrl-C, or type: lbcnode-cli -testnet -rpcuser=u -stdinrpcpass stop',
    ]);
  });

  it('omit a password that the command finds in the file of the node', () => {
    const file = join(home, 'with password.conf');
    writeFileSync(file, 'rpcuser=u\nrpcpassword=secret\n');
    expect(steps(['-regtest', `-conf=${file}`])[1]).toBe(
      `Call a method: lbcnode-cli -regtest '-conf=${file}' getblockchaininfo`,
    );
  });

  it('repeat the options that the command needs to find this node, quoted for a shell', () => {
    const words = ['-regtest', `-datadir=${home}`, '-rpcport=0', '-rpccookiefile=/tmp/cookie'];
    expect(steps(words, [{ host: '127.0.0.1', port: 4567 }])[1]).toBe(
      `Call a method: lbcnode-cli -regtest '-datadir=${home}' -rpcport=4567 -rpccookiefile=/tmp/cookie getblockchaininfo`,
    );
    expect(steps([], [{ host: '10.1.2.3', port: 9245 }])[1]).toBe(
      'Call a method: lbcnode-cli -rpcconnect=10.1.2.3 getblockchaininfo',
    );
  });

  it('show the command of a bundle by its path', () => {
    const of = (launcher: string): string =>
      steps([], LOOPBACK, '/cache/app/dist/bin/lbcnode.js', launcher)[1]!;
    expect(of('/opt/lbc/lbcnode')).toBe('Call a method: /opt/lbc/lbcnode-cli getblockchaininfo');
    expect(of('./lbcnode')).toBe('Call a method: ./lbcnode-cli getblockchaininfo');
    expect(of('/srv/lbcnode/my bundle/lbcnode')).toBe(
      "Call a method: './my bundle/lbcnode-cli' getblockchaininfo",
    );
  });

  it('show the command by its path if it is not installed', () => {
    expect(steps(['-regtest'], LOOPBACK, '/srv/lbcnode/dist/bin/lbcnode.js')[1]).toBe(
      'Call a method: node dist/bin/lbcnode-cli.js -regtest getblockchaininfo',
    );
  });

  it('show how to stop a node without RPC', () => {
    expect(steps(['-server=0'], [])).toEqual(['RPC is off (-server=0). Stop it: Ctrl-C or SIGTERM']);
  });
});
