/**
 * A named pipe in place of a file. Opening a pipe waits for a writer, so a start that opened it would never end. A pipe in
 * place of a file that the node does not need is quarantined. Any other pipe ends the start with one message that names it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CorruptedNode } from './support/corruption/runner.js';
import { ADDRESS } from './support/node.js';

/** Files that the node does not need, and temporary files of the node. */
const SPARE = [
  'mempool.dat',
  'peers.dat',
  'banlist.dat',
  'fee_estimates.dat',
  'bootstrap.dat',
  'lbcnode.pid',
  'lock/CURRENT',
  'lock/LOG',
];
const NEEDED = [
  'debug.log',
  'reindexing',
  'chainstate.journal',
  'chainstate/CURRENT',
  'chainstate/LOG',
  'chainstate/durable',
  'blocks/blk00000.dat',
  'wallets/wallet.db',
];

describe.runIf(process.platform !== 'win32')('a named pipe', () => {
  let folder: string;
  let node: CorruptedNode | null = null;
  const dataDir = (): string => join(folder, 'data');
  const pathOf = (name: string): string => join(dataDir(), 'regtest', name);

  function makePipe(path: string): void {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    expect(spawnSync('mkfifo', [path]).status).toBe(0);
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pipes-'));
    mkdirSync(dataDir());
    node = await CorruptedNode.start(dataDir());
    await node.call('generatetoaddress', [5, ADDRESS]);
    expect((await node.stop()).code).toBe(0);
  });
  afterEach(async () => {
    if (node?.isRunning === true) await node.kill();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(['1', '0'])(
    'is quarantined if the node can continue without the file (addon: %s)',
    async (native) => {
      for (const name of SPARE) makePipe(pathOf(name));
      node = await CorruptedNode.start(dataDir(), [], { LBCNODE_NATIVE: native });
      expect(node.stderr).not.toContain('HARNESS');
      expect((await node.call('getblockcount')).result).toBe(5);
      expect((await node.stop()).code).toBe(0);
      for (const name of ['mempool.dat', 'peers.dat', 'banlist.dat', 'fee_estimates.dat']) {
        expect(node.stderr).toContain(`${pathOf(name)} cannot be used (it is a named pipe`);
        expect(lstatSync(`${pathOf(name)}.damaged`).isFIFO()).toBe(true);
        rmSync(`${pathOf(name)}.damaged`);
      }
      for (const name of SPARE) rmSync(pathOf(name), { recursive: true, force: true });
    },
    120_000,
  );

  it('ends the start with its name if the file is required', async () => {
    for (const name of [
      ...NEEDED,
      `chainstate/${readdirSync(pathOf('chainstate')).find((one) => one.endsWith('.log'))!}`,
    ]) {
      const path = pathOf(name);
      const aside = `${path}.aside`;
      if (existsSync(path)) spawnSync('mv', [path, aside]);
      makePipe(path);
      node = await CorruptedNode.start(dataDir());
      expect(`${name}: ${node.isRunning}`).toBe(`${name}: false`);
      expect((await node.ended).code).toBe(1);
      expect(node.stderr).toContain(path.slice(path.lastIndexOf('/') + 1));
      expect(node.stderr).toMatch(/a named pipe|a pipe/);
      expect(node.stderr).toMatch(/Move it away|-reindex/);
      expect(node.stderr).not.toMatch(/HARNESS|^\s+at /m);
      rmSync(path);
      if (existsSync(aside)) spawnSync('mv', [aside, path]);
    }
  }, 120_000);

  it('ends the stop with its name if a file is to be written', async () => {
    for (const name of ['mempool.dat.new', 'peers.dat.new', 'fee_estimates.dat.new']) makePipe(pathOf(name));
    node = await CorruptedNode.start(dataDir());
    expect((await node.call('getblockcount')).result).toBe(5);
    expect((await node.stop()).code).toBe(1);
    for (const name of ['mempool.dat.new', 'peers.dat.new']) {
      expect(node.stderr).toContain(`${pathOf(name)}: it is a named pipe`);
      rmSync(pathOf(name));
    }
    expect(node.stderr).not.toMatch(/HARNESS|^\s+at /m);
    rmSync(pathOf('fee_estimates.dat.new'));
  }, 120_000);

  it('is refused as a configuration, unless it is named below /dev', async () => {
    makePipe(join(dataDir(), 'lbcnode.conf'));
    node = await CorruptedNode.start(dataDir());
    expect((await node.ended).code).toBe(1);
    expect(node.stderr).toMatch(/lbcnode\.conf: it is a named pipe.*Move it away/);
    writeFileSync(join(folder, 'other.conf'), `includeconf=${join(dataDir(), 'lbcnode.conf')}\n`);
    node = await CorruptedNode.start(dataDir(), [`-conf=${join(folder, 'other.conf')}`]);
    expect((await node.ended).code).toBe(1);
    expect(node.stderr).toMatch(/lbcnode\.conf: it is a named pipe.*Move it away/);
    node = await CorruptedNode.start(dataDir(), ['-conf=/dev/null']);
    expect((await node.call('getblockcount')).result).toBe(5);
    expect((await node.stop()).code).toBe(0);
    rmSync(join(dataDir(), 'lbcnode.conf'));
  }, 120_000);
});
