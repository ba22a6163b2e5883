/**
 * Runs the walks of README.md and docs/mining.md as they are written. Commands that start programs run in processes of their own, the
 * others in one shell. The comment after a command is its expected output. Home and ports belong to the test.
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from './support/node.js';
import { longIt } from '../support/long.js';
import { blocksOf, Started, stepsOf, walk, type Step } from './support/readme.js';

describe('README.md', () => {
  let home: string;
  let started: Started[];
  let hubPort: number;
  let env: NodeJS.ProcessEnv;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'readme-'));
    started = [];
    hubPort = await freePort();
    mkdirSync(join(home, '.lbcnode'));
    const ports = `rpcport=${await freePort()}\nport=${await freePort()}\nhubport=${hubPort}\nhubudpport=0\n`;
    writeFileSync(join(home, '.lbcnode', 'lbcnode.conf'), `[regtest]\n${ports}listen=0\nkeypool=5\n`);
    env = {
      ...process.env,
      HOME: home,
      XDG_DATA_HOME: join(home, 'share'),
      LBCNODE_NATIVE_BUILD: '0',
      LBRY_API: `127.0.0.1:${await freePort()}`,
      LBRY_STREAMING_SERVER: `127.0.0.1:${await freePort()}`,
      LBRY_TCP_PORT: `${await freePort()}`,
      LBRY_UDP_PORT: `${await freePort()}`,
      npm_config_update_notifier: 'false',
    };
  });

  afterEach(async () => {
    for (const program of started.reverse()) await program.end();
    rmSync(home, { recursive: true });
  });

  const start = async (command: string, ready: string): Promise<Started> => {
    const program = new Started(command, env);
    started.push(program);
    await program.until(ready);
    return program;
  };

  const expectWords = (steps: readonly Step[], words: readonly string[]): void => {
    for (const word of words)
      expect(steps.filter(({ command }) => command.includes(word)).length, word).toBeGreaterThan(0);
    expect(steps.filter(({ prints }) => prints !== null).length).toBeGreaterThanOrEqual(4);
  };

  it('its walk works: wallet, claim, support, takeover, update, abandon', async () => {
    const [install, ...others] = blocksOf('Run it');
    expect(install).toBe('npm ci && npm start -- --regtest\n');
    // Blocks of commands that use the alias `cli`, which the first block defines.
    const steps = stepsOf(others.filter((block) => /^(cli\b|\w+=\$\(cli )/.test(block)));
    expectWords(steps, ['createwallet', 'claimname', 'supportclaim', 'updateclaim', 'abandonclaim']);
    const node = await start(install!.trim().replace(/^npm ci && /, ''), 'Stop it: ');
    await walk(steps, home, env);
    expect(await node.exited).toBe(0);
    expect(node.output).toContain('Shutdown: done');
  });

  longIt('the walk of docs/mining.md works', async () => {
    const [program, ...others] = blocksOf('Mine alone', 'docs/mining.md');
    const node = await start(program!.trim(), 'Stop it: ');
    const port = /rpcport=(\d+)/.exec(readFileSync(join(home, '.lbcnode', 'lbcnode.conf'), 'utf8'))![1]!;
    const steps = stepsOf(others).map(({ command, prints }) => ({
      command: command.replace('29245', port),
      prints,
    }));
    expectWords(steps, ['soloMiner.mjs', 'submitblock', 'generatetoaddress']);
    await walk(steps, home, env);
    expect(await node.exited).toBe(0);
  });

  it('its walk of lbcnet works: channel, film, support, search, and a second daemon that pays', async () => {
    const [programs, ...others] = blocksOf('Publish and watch: lbcnet');
    const isStart = (block: string): boolean => block.includes('lbcnet.js start ');
    const second = others.find(isStart)!;
    const ports = new Map([
      ['localhost:50001', `127.0.0.1:${hubPort}`],
      ['localhost:4444', `127.0.0.1:${env['LBRY_TCP_PORT']}`],
      ['localhost:5379', `127.0.0.1:${await freePort()}`],
      ['localhost:5380', `127.0.0.1:${await freePort()}`],
      ['4445', `${await freePort()}`],
    ]);
    const withOwnPorts = (text: string): string =>
      [...ports].reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
    const at = others.indexOf(second);
    const walks = [others.slice(0, at), others.slice(at + 1)].map((blocks) => stepsOf(blocks));
    const steps = walks.flat();
    expectWords(steps, ['channel create', 'publish', 'support create', 'resolve', 'claim search']);
    expectWords(steps, ['collection create', 'net2 get', 'curl']);
    const [node, daemon] = programs!.trim().split('\n');
    const nodeProcess = await start(node!, 'Stop it: ');
    const [daemonProcess, secondProcess] = await Promise.all(
      [daemon!, second.trim()].map((command) => start(withOwnPorts(command), 'All components run')),
    );
    const script = steps.map(({ command, prints }) => ({ command: withOwnPorts(command), prints }));
    await walk(script, home, env);
    const folders = ['data', 'data2', 'files', 'files2', 'wallets', 'wallets2'];
    expect(readdirSync(join(home, 'lbcnet-demo')).sort()).toEqual(folders);
    // The user's own folders are not touched.
    expect(readdirSync(home).filter((name) => /lbry|share/i.test(name))).toEqual([]);
    expect(await secondProcess!.exited).toBe(0);
    expect(await daemonProcess!.exited).toBe(0);
    expect(await nodeProcess.exited).toBe(0);
  });
});
