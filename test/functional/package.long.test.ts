/** The packed tarball: installed without the registry on every version of Node that is promised, run, and without its addon. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeOfVersion, withoutNpmSettings } from '../../scripts/toolchain.mjs';
import { targetName } from '../../src/native/addonFiles.js';
import { freePort } from './support/node.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADDRESS = 'mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r';
/** Maximum size of all files with the native parts for one platform. Arbitrary: a little more than now. */
const MAX_UNPACKED_BYTES = 21e6;
/** Folders that are not copied to the packed folder. They are linked there or not needed. */
const NOT_COPIED = ['.git', 'build', 'node_modules', 'prebuilds', 'test', 'vendor'];

interface Environment {
  /** The program of Node. */
  program: string;
  env: NodeJS.ProcessEnv;
}
const own: Environment = { program: process.execPath, env: { ...process.env } };

let folder: string;
let tarball: string;

/** npm as a user without settings of their own, and without a network. */
async function npm(args: readonly string[], { env }: Environment, cwd = folder): Promise<string> {
  const settings = [`--userconfig=${join(folder, 'npmrc')}`, `--cache=${join(folder, 'cache')}`, '--offline'];
  const { stdout, stderr } = await run('npm', [...args, ...settings], { cwd, env: withoutNpmSettings(env) });
  return stdout + stderr;
}

/** Installs the tarball globally under a prefix. Returns the folder of the package. */
async function install(name: string, where: Environment, ...args: string[]): Promise<string> {
  const output = await npm(
    ['install', '--global', `--prefix=${join(folder, name)}`, tarball, ...args],
    where,
  );
  expect(output).not.toMatch(/warn|deprecated/i);
  return join(folder, name, 'lib', 'node_modules', 'lbcnode');
}

function bytesOf(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

/**
 * Starts the installed program, mines and calls it by the installed client, and stops it. Returns its output. @param args further
 * options of the node
 */
async function mineWith(
  packageFolder: string,
  { program, env }: Environment,
  args: readonly string[] = [],
): Promise<string> {
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const common = ['-regtest', `-datadir=${dataDir}`, `-rpcport=${await freePort()}`];
  const start = (name: string, args: readonly string[]): [string, string[]] => [
    program,
    [join(packageFolder, 'dist', 'bin', `${name}.js`), ...common, ...args],
  ];
  const node = spawn(...start('lbcnode', ['-listen=0', '-printtoconsole', ...args]), { env });
  let output = '';
  const ended = new Promise<number | null>((resolve) => node.once('close', resolve));
  const loaded = new Promise<void>((resolve, reject) => {
    for (const stream of [node.stdout, node.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('Done loading')) resolve();
      });
    void ended.then(() => reject(new Error(`the node ended:\n${output}`)));
  });
  const ask = async (...args: string[]): Promise<string> =>
    (await run(...start('lbcnode-cli', args), { env })).stdout.trim();
  try {
    await loaded;
    expect(JSON.parse(await ask('generatetoaddress', '3', ADDRESS))).toHaveLength(3);
    expect(await ask('getblockcount')).toBe('3');
    if (args.includes('-hub'))
      expect(JSON.parse(await ask('searchclaims', '{}'))).toMatchObject({ total: 0 });
    await ask('stop');
    expect(await ended).toBe(0);
  } finally {
    node.kill('SIGKILL');
  }
  return output;
}

/** Starts a node and the installed daemon, reads the state of the wallet, and stops both. */
async function liveWith(prefix: string, { env }: Environment): Promise<void> {
  const dataDir = mkdtempSync(join(folder, 'life-'));
  mkdirSync(join(dataDir, 'lbcnode'));
  const settings = `[regtest]\nrpcport=${await freePort()}\nlisten=0\n`;
  writeFileSync(join(dataDir, 'lbcnode', 'lbcnode.conf'), settings);
  const program = join(folder, prefix, 'bin', 'lbcnet');
  const api = `--api=127.0.0.1:${await freePort()}`;
  const daemon = spawn(
    program,
    [
      'start',
      '--with-node',
      '--blockchain-name=lbrycrd_regtest',
      api,
      '--streaming-server=127.0.0.1:0',
      ...['data', 'wallet', 'download'].map((name) => `--${name}-dir=${dataDir}`),
    ],
    { env },
  );
  let output = '';
  const ended = new Promise<number | null>((resolve) => daemon.once('close', resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      for (const stream of [daemon.stdout, daemon.stderr])
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('All components run')) resolve();
        });
      void ended.then(() => reject(new Error(`the daemon ended:\n${output}`)));
    });
    const ask = async (...words: string[]): Promise<string> =>
      (await run(program, [api, ...words], { env })).stdout;
    expect(JSON.parse(await ask('account', 'list'))).toMatchObject({ total_items: 1 });
    await ask('stop');
    expect(await ended).toBe(0);
    expect(output).not.toMatch(/ExperimentalWarning|DeprecationWarning/);
  } finally {
    daemon.kill('SIGKILL');
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-package-'));
  writeFileSync(join(folder, 'npmrc'), '');
  // A copy, because packing changes files for some time, and other tests run in parallel.
  const copy = join(folder, 'project');
  cpSync(ROOT, copy, {
    recursive: true,
    filter: (path) => !(dirname(path) === dirname(join(ROOT, 'x')) && NOT_COPIED.includes(basename(path))),
  });
  for (const name of ['build', 'node_modules']) symlinkSync(join(ROOT, name), join(copy, name));
  await run('npm', ['pack', `--pack-destination=${folder}`], {
    cwd: copy,
    env: { ...withoutNpmSettings(), LBCNODE_PREBUILT: targetName() },
    maxBuffer: 1 << 26,
  });
  tarball = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz'))!,
  );
}, 1_800_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('contains the licences of its dependencies', async () => {
    const { stdout } = await run('tar', ['xzOf', tarball, 'package/THIRD-PARTY-NOTICES.md']);
    for (const name of ['libsecp256k1', 'LevelDB', 'Snappy', 'Node-API headers', 'fastify'])
      expect(stdout).toContain(name);
    expect(stdout).toContain('Redistributions in binary form must reproduce');
  });

  it('does not change the project folder', () => {
    const project = join(folder, 'project');
    for (const name of ['prebuilds', 'vendor', 'THIRD-PARTY-NOTICES.md', 'package.json.kept'])
      expect(readdirSync(project)).not.toContain(name);
    expect(readdirSync(join(project, 'dist'))).not.toContain('node_modules');
    expect(spawnSync('cmp', [join(project, 'package.json'), join(ROOT, 'package.json')]).status).toBe(0);
  });

  it.each([20, 22, 24])('installs without warnings and runs on Node %i', async (version) => {
    const node = nodeOfVersion(version);
    if (node === null) {
      console.log(`skipped: there is no Node ${version}`);
      return;
    }
    const installed = await install(`node${version}`, node, '--ignore-scripts');
    expect(bytesOf(installed)).toBeLessThan(MAX_UNPACKED_BYTES);
    const hub = ['-hub', `-hubport=${await freePort()}`, '-hubudpport=0'];
    const zmq = `-zmqpubhashblock=tcp://127.0.0.1:${await freePort()}`;
    const output = await mineWith(installed, node, [...hub, zmq, '-ws', '-metrics']);
    expect(output).toContain('native addon: libsecp256k1 bundled');
    expect(output).not.toMatch(/ExperimentalWarning|DeprecationWarning|MaxListeners/);
    for (const [program, option] of [
      ['lbcnode-cli', '-version'],
      ['lbcnet', '--version'],
    ] as const) {
      const { stdout } = await run(join(folder, `node${version}`, 'bin', program), [option], {
        env: node.env,
      });
      expect(stdout).toContain('0.1.0');
    }
    await liveWith(`node${version}`, node);
  });

  it('serves a project that depends on it', async () => {
    const project = join(folder, 'dependent');
    mkdirSync(project);
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({ name: 'dependent', private: true, type: 'module' }),
    );
    expect(await npm(['install', tarball], own, project)).not.toMatch(/warn|deprecated/i);
    writeFileSync(
      join(project, 'test.js'),
      `import { startRegtest } from 'lbcnode/testing';
       import { RpcClient } from 'lbcnode/client';
       const node = await startRegtest({ timeoutMs: 600_000, args: ['-zmqpubhashblock=tcp://127.0.0.1:${await freePort()}', '-rest', '-metrics'] });
       await node.rpc('generatetoaddress', [2, '${ADDRESS}']);
       console.log(await new RpcClient({ url: node.url }).call('getblockcount'));
       await node.stop();`,
    );
    const { stdout } = await run(own.program, ['test.js'], { cwd: project });
    expect(stdout).toBe('2\n');
  });
});

describe('where no addon of the package fits', () => {
  let installed: string;

  beforeAll(async () => {
    installed = await install('bare', own);
    rmSync(join(installed, 'prebuilds'), { recursive: true });
  });

  it('the node runs on TypeScript without a compiler and prints a command, which works', async () => {
    const output = await mineWith(installed, { ...own, env: { PATH: '/nonexistent', HOME: folder } });
    expect(output).toContain(`the package contains no addon for ${targetName()}`);
    expect(output).toContain('no C++ compiler found');
    const command = /build it by: (.*)$/m.exec(output)![1]!;
    await run('sh', ['-c', command]);
    const after = await mineWith(installed, own);
    expect(after).toMatch(/native addon: libsecp256k1 (bundled|system)/);
    expect(after).not.toContain('It is being built');
  });

  it('the node builds one at its first start where there is a compiler', async () => {
    // Links the addon again from the object files of the last build.
    for (const name of ['lbcnode.node', 'lbcnode.stamp']) rmSync(join(installed, 'build', name));
    const output = await mineWith(installed, own);
    expect(output).toContain('It is being built');
    expect(output).toContain('native addon built with');
    expect(output).toMatch(/native addon: libsecp256k1 (bundled|system)/);
  });
});
