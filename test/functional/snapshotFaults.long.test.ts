/** Snapshots with full disks, limits, kills and pruning: no data are lost, and the next start continues or starts over. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, HANG_MS, program, type RegtestNode } from './support/node.js';
import { connect, PeerGroup, until, untilSameTip } from './support/network.js';
import { runToEnd } from './support/process.js';
import { canMount, mountSmall } from './support/smallDisk.js';

const HEIGHT = 120;
const CLAIMS = 40;
/** A claim value of this size makes the rows of the snapshot larger than `SMALL_KIB`. */
const VALUE = Buffer.alloc(6000, 'a value ').toString('hex');
const SMALL_KIB = 64;

interface Dump {
  height: number;
  filename: string;
  hash: string;
  size: number;
}

const group = new PeerGroup();
let source: RegtestNode;
let dump: Dump;

beforeAll(async () => {
  source = await group.start({ args: ['-claimindex'] });
  await source.rpc('generatetoaddress', [110, await source.rpc('getnewaddress')]);
  for (let n = 0; n < CLAIMS; n++) {
    await source.rpc('claimname', [`name${n}`, VALUE, 0.01]);
    if (n % 10 === 9) await source.rpc('generatetoaddress', [1, await source.rpc('getnewaddress')]);
  }
  await source.rpc('generatetoaddress', [HEIGHT - 114, ADDRESS]);
  dump = await source.rpc<Dump>('dumpsnapshot', ['chain.snapshot']);
  expect(dump.height).toBe(HEIGHT);
  expect(statSync(dump.filename).size).toBeGreaterThan(SMALL_KIB << 10);
}, HANG_MS);
afterAll(() => group.close());

const loadArgs = (): string[] => [
  `-loadsnapshot=${dump.filename}`,
  `-snapshothash=${dump.hash}`,
  '-claimindex',
];
/** Files and folders beside the database of a folder. */
const leftovers = (folder: string): string[] =>
  readdirSync(join(folder, 'regtest')).filter((name) => name.startsWith('chainstate.'));

async function isValidated(node: RegtestNode): Promise<boolean> {
  return (await node.rpc<{ snapshot?: object }>('getblockchaininfo')).snapshot === undefined;
}

/** Starts the folder, waits until it is validated, and compares it with the source node. */
async function expectWhole(dataDir: string, args: readonly string[] = ['-claimindex']): Promise<void> {
  const node = await group.start({ dataDir, args: [...args] });
  expect(await node.rpc('getblockcount')).toBeGreaterThanOrEqual(HEIGHT);
  await connect(node, source);
  await until('the validation', () => isValidated(node));
  await untilSameTip([node, source]);
  expect((await node.rpc<Dump>('dumpsnapshot', ['again', HEIGHT])).hash).toBe(dump.hash);
  group.nodes.splice(group.nodes.indexOf(node), 1);
  await node.stop();
}

async function killedAt(point: string, dataDir: string, args: readonly string[]): Promise<void> {
  const node = await group.start({ dataDir, args: [...args], env: { LBCNODE_CRASH_AT: point } });
  await connect(node, source).catch(() => undefined);
  // If the node is not killed at this point, it completes the validation, and the test fails.
  await Promise.race([node.exited, until('a kill', () => isValidated(node).catch(() => false))]);
  expect(await isValidated(node).catch(() => null), point).toBeNull();
  await node.exited;
  group.nodes.splice(group.nodes.indexOf(node), 1);
}

describe('a kill', () => {
  it('while a snapshot is written leaves no file with its name, and the next call writes it', async () => {
    const dataDir = group.folder();
    for (const part of [1, 3]) {
      const env = { LBCNODE_CRASH_AT: `dump:part@${part}` };
      const node = await group.start({ dataDir, args: ['-claimindex'], env });
      await connect(node, source);
      await untilSameTip([node, source]);
      await node.rpc('dumpsnapshot', ['killed']).catch(() => undefined);
      expect(await node.exited).toBeNull();
      group.nodes.splice(group.nodes.indexOf(node), 1);
      expect(existsSync(join(dataDir, 'regtest', 'killed'))).toBe(false);
      expect(existsSync(join(dataDir, 'regtest', 'killed.incomplete'))).toBe(true);
    }
    const node = await group.start({ dataDir, args: ['-claimindex'] });
    const { filename, hash } = await node.rpc<Dump>('dumpsnapshot', ['killed', HEIGHT]);
    expect(hash).toBe(dump.hash);
    expect(existsSync(filename)).toBe(true);
    expect(existsSync(`${filename}.incomplete`)).toBe(false);
  });

  it('at each step of loading leaves the folder as it was, or is finished by the next start', async () => {
    for (const [point, isLoaded] of [
      ['snapshot:piece@1', false],
      ['snapshot:piece@3', false],
      ['snapshot:filled', false],
      ['snapshot:loaded', true],
      ['snapshot:placing', true],
    ] as const) {
      const folder = group.folder();
      expect(runToEnd(folder, loadArgs(), { LBCNODE_CRASH_AT: point }).signal, point).toBe('SIGKILL');
      const node = await group.start({ dataDir: folder, args: ['-claimindex', '-disablewallet'] });
      expect(await node.rpc('getblockcount'), point).toBe(isLoaded ? HEIGHT : 0);
      group.nodes.splice(group.nodes.indexOf(node), 1);
      await node.stop();
      expect(leftovers(folder).filter((name) => !name.endsWith('.validation'))).toEqual([]);
      if (point === 'snapshot:piece@3') await expectWhole(folder, loadArgs());
    }
  });

  it('of a complete load does not prevent that -reindex computes the chain from the block files', async () => {
    for (const point of ['snapshot:loaded', 'snapshot:placing']) {
      const folder = group.folder();
      expect(runToEnd(folder, loadArgs(), { LBCNODE_CRASH_AT: point }).signal, point).toBe('SIGKILL');
      const node = await group.start({ dataDir: folder, args: ['-reindex', '-claimindex'] });
      expect(await node.rpc('getblockcount'), point).toBe(0);
      expect(await isValidated(node), point).toBe(true);
      // The running node has notes of connected blocks beside its database.
      expect(leftovers(folder).filter((name) => !name.endsWith('.connected'))).toEqual([]);
    }
  });

  it('at each step of the validation loses only unflushed work', async () => {
    const folder = group.folder();
    const args = loadArgs();
    for (const point of [
      'validation:connected@1',
      'validation:connected@60',
      'validation:chain-flushed',
      'flush:before-batch',
      'flush:after-batch',
      'validation:before-compare',
      'validation:before-pass',
      'validation:passed',
    ])
      await killedAt(point, folder, args);
    await expectWhole(folder);
  });
});

describe('a limit of file sizes', () => {
  it('ends a start that loads a snapshot with advice, and the next start loads it', async () => {
    const folder = group.folder();
    const shell = `ulimit -f ${SMALL_KIB}; exec "$@"`;
    const { status, stderr } = spawnSync(
      'bash',
      [
        '-c',
        shell,
        'bash',
        process.execPath,
        program('lbcnode'),
        '-regtest',
        `-datadir=${folder}`,
        '-listen=0',
        '-server=0',
        ...loadArgs(),
      ],
      { encoding: 'utf8', timeout: HANG_MS },
    );
    expect(stderr).toContain('Raise the limit of file sizes (ulimit -f)');
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(1);
    expect(leftovers(folder)).toEqual([]);
    await expectWhole(folder, loadArgs());
  });
});

describe.runIf(canMount)('a full disk', () => {
  let small: string;
  beforeAll(() => {
    small = group.folder();
    expect(mountSmall(small, `${SMALL_KIB}k`)).toBe(true);
  });
  afterAll(() => void spawnSync('umount', ['-l', small]));

  it('refuses a dump with advice and leaves no file; the node continues', async () => {
    const path = join(small, 'chain.snapshot');
    await expect(source.rpc('dumpsnapshot', [path])).rejects.toThrow(
      `${path}: no space is left on its disk (ENOSPC). Free disk space and repeat the call.`,
    );
    expect(readdirSync(small)).toEqual([]);
    await source.rpc('generatetoaddress', [1, ADDRESS]);
    expect((await source.rpc<Dump>('dumpsnapshot', ['after.snapshot', HEIGHT])).hash).toBe(dump.hash);
  });

  it('refuses a start that loads a snapshot, and the next start loads it', async () => {
    const folder = group.folder();
    mkdirSync(join(folder, 'regtest'));
    expect(mountSmall(join(folder, 'regtest'), '52m')).toBe(true);
    try {
      // A node needs 50 MiB.
      writeFileSync(join(folder, 'regtest', 'ballast'), Buffer.alloc(3 << 20, 1));
      const { status, stderr } = runToEnd(folder, loadArgs());
      expect(stderr).toContain('Disk space is low');
      expect(status).toBe(1);
      expect(leftovers(folder)).toEqual([]);
      rmSync(join(folder, 'regtest', 'ballast'));
    } finally {
      spawnSync('umount', ['-l', join(folder, 'regtest')]);
    }
    await expectWhole(folder, loadArgs());
  });
});

it('validates beside -prune, and deletes the blocks that are validated', async () => {
  const folder = group.folder();
  await expectWhole(folder, [...loadArgs(), '-prune=550']);
  const node = await group.start({ dataDir: folder, args: ['-claimindex', '-prune=550'] });
  const info = await node.rpc<{ pruned: boolean; snapshot?: object }>('getblockchaininfo');
  expect(info).toMatchObject({ pruned: true });
  expect(info.snapshot).toBeUndefined();
});
