/**
 * The self-contained archive. It is built twice with equal bytes, unpacked in an empty folder, and run without a `PATH`, as LBRY
 * Desktop and the companion of ReviveL do. These use only the file `lbrynet` from the archive. With LBCNODE_FULL=1, archives for
 * other platforms are built and checked too, and run if this machine can run them. That takes long.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ARCHIVE_BYTES, PLATFORMS, SMALL_PROGRAMS } from '../../scripts/bundle/platforms.mjs';
import { targetName } from '../../src/native/addonFiles.js';
import { archiveEntries, carriedFiles, executableKind, unpackArchive } from '../support/bundleFiles.js';
import { isInstalled } from '../support/installed.js';
import { until } from './support/network.js';
import { freePort } from './support/node.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADDRESS = 'mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r';
/** Folders that are not copied to the second checkout. They are linked or built there. */
const NOT_COPIED = ['.git', 'build', 'dist', 'node_modules', 'prebuilds', 'test', 'vendor'];
/** The platform that this machine runs. */
const own = PLATFORMS.find(({ target }) => target === targetName());
/** Compiling the addon takes minutes on a busy machine. */
const BUILD_TIMEOUT_MS = 3_600_000;
const PROGRAM_KINDS = { linux: 'ELF', macos: 'Mach-O', windows: 'PE' } as const;

let folder: string;
const running = new Set<ChildProcess>();

/** Builds the archive of a platform in a checkout. Returns its bytes. */
async function makeBundle(checkout: string, platform: string, out: string): Promise<Buffer> {
  const args = [join(checkout, 'scripts', 'bundle.mjs'), platform, `--out=${out}`];
  await run(process.execPath, args, { cwd: checkout, maxBuffer: 1 << 26 });
  const { archive } = PLATFORMS.find(({ name }) => name === platform)!;
  return readFileSync(join(out, platform, archive));
}

/** Copies the source files to another path, without anything that was built. */
function copyProject(): string {
  const copy = join(folder, 'elsewhere', 'project');
  cpSync(ROOT, copy, {
    recursive: true,
    filter: (path) =>
      !(
        dirname(path) === dirname(join(ROOT, 'x')) &&
        (NOT_COPIED.includes(basename(path)) || basename(path).startsWith('dist.'))
      ),
  });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(copy, 'build'));
  symlinkSync(join(ROOT, 'build', 'toolchain'), join(copy, 'build', 'toolchain'));
  return copy;
}

/** An environment without Node.js in the path, as on a desktop. */
function emptyEnvironment(home: string): NodeJS.ProcessEnv {
  mkdirSync(home, { recursive: true });
  return { HOME: home, PATH: '' };
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

/** Starts a program and waits for a line of its output. */
async function startUntil(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  line: string,
): Promise<Running> {
  const child = spawn(program, args, { env, cwd: folder });
  running.add(child);
  let output = '';
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(line)) resolve();
      });
    void ended.then(() => reject(new Error(`${program} ended:\n${output}`)));
  });
  return { child, ended, output: () => output };
}

/** A call of the daemon's API as the companion makes it. LBRY Desktop sends no origin. */
async function callDaemon(
  port: number,
  method: string,
  params: object = {},
  origin: string | null = 'chrome-extension://abc/',
): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(origin === null ? {} : { Origin: origin }) },
    body: JSON.stringify({ method, params }),
  });
  return ((await answer.json()) as { result: unknown }).result;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-bundle-'));
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(own === undefined)('the archive for this machine', () => {
  let archive: Buffer;
  let programs: string;
  let home: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    archive = await makeBundle(ROOT, own!.name, join(folder, 'first'));
    programs = join(folder, 'programs');
    unpackArchive(archive, programs);
    home = join(folder, 'home');
    env = emptyEnvironment(home);
  }, BUILD_TIMEOUT_MS);

  const program = (name: string): string => join(programs, `${name}${own!.suffix}`);
  const runtimeFolder = (): string => {
    const caches = join(home, '.cache', 'lbcnode');
    return join(
      caches,
      readdirSync(caches).find((name) => name.startsWith('runtime-'))!,
    );
  };

  it('is small, and contains the file names that other programs expect', () => {
    expect(archive.length).toBeLessThanOrEqual(MAX_ARCHIVE_BYTES);
    const modes = Object.fromEntries(archiveEntries(archive).map(({ name, mode }) => [name, mode & 0o777]));
    for (const name of ['lbrynet', ...SMALL_PROGRAMS]) expect(modes[`${name}${own!.suffix}`]).toBe(0o755);
    for (const name of ['LICENSE', 'LICENSE-node.txt', 'README.txt', 'THIRD-PARTY-NOTICES.md'])
      expect(modes[name]).toBe(0o644);
    const { files } = carriedFiles(readFileSync(program('lbrynet')));
    const paths = files.map(({ path }) => path);
    expect(paths).toContain(`app/prebuilds/${own!.target}/lbcnode.node`);
    expect(paths.filter((path) => /\.(ts|map|h|cc|cpp|java)$/.test(path) && !path.endsWith('.d.ts'))).toEqual(
      [],
    );
  });

  it('runs node and client on a machine without Node.js', async () => {
    const dataDir = join(folder, 'node data');
    mkdirSync(dataDir);
    const common = ['-regtest', `-datadir=${dataDir}`, `-rpcport=${await freePort()}`];
    const node = await startUntil(
      program('lbcnode'),
      [...common, '-listen=0', '-hub', `-hubport=${await freePort()}`, '-hubudpport=0', '-printtoconsole'],
      env,
      'Call a method: ',
    );
    expect(node.output()).toContain('native addon: libsecp256k1 bundled');
    expect(node.output()).toMatch(/Call a method: \S*programs\/lbcnode-cli -regtest /);
    const ask = async (...args: string[]): Promise<string> =>
      (await run(program('lbcnode-cli'), [...common, ...args], { env })).stdout.trim();
    expect(JSON.parse(await ask('generatetoaddress', '3', ADDRESS))).toHaveLength(3);
    expect(await ask('getblockcount')).toBe('3');
    expect(JSON.parse(await ask('searchclaims', '{}'))).toMatchObject({ total: 0 });
    await ask('stop');
    expect(await node.ended).toBe(0);
    expect((await run(program('lbcnet'), ['--version'], { env })).stdout).toContain(
      'compatible with lbrynet',
    );
  });

  it('gives LBRY Desktop and the companion a file that they can start alone', async () => {
    const alone = join(folder, 'lbrynet-bin');
    const name = `lbrynet${own!.suffix}`;
    unpackArchive(archive, alone, (entry) => entry === name);
    chmodSync(join(alone, name), 0o755);
    expect(readdirSync(alone)).toEqual([name]);
    const data = join(folder, 'lbrynet-data');
    const port = await freePort();
    const config = join(folder, 'companion.yml');
    // The command line of the companion, with other ports and without servers of the network.
    const daemon = await startUntil(
      join(alone, name),
      [
        ...['start', '--data-dir', data, '--config', config, '--api', `127.0.0.1:${port}`],
        ...['--rpcuser', 'user', '--rpcpass', 'pass'],
        ...['--lbryum-server', '127.0.0.1:1', '--lbryum-server', '127.0.0.1:2'],
        ...['--allowed-origin', 'chrome-extension://abc/'],
        ...[`--tcp-port=${await freePort()}`, '--streaming-server=127.0.0.1:0', '--udp-port=0'],
        ...['--components-to-skip=dht', '--components-to-skip=upnp'],
      ],
      { ...env, HOME: join(folder, 'companion home') },
      'The API listens',
    );
    // `status` answers before all components have started.
    expect(await callDaemon(port, 'status')).toMatchObject({
      is_running: expect.any(Boolean) as unknown,
      startup_status: { wallet: expect.any(Boolean) as unknown },
    });
    expect(await callDaemon(port, 'version')).toMatchObject({
      lbrynet_version: expect.any(String) as unknown,
    });
    expect(await callDaemon(port, 'stop')).toBe('Shutting down');
    expect(await daemon.ended).toBe(0);
  });

  it('plays the start of LBRY Desktop with its node as the hub', async () => {
    const dataDir = join(folder, 'hub data');
    mkdirSync(dataDir);
    const [hubPort, apiPort] = [await freePort(), await freePort()];
    const common = ['-regtest', `-datadir=${dataDir}`, `-rpcport=${await freePort()}`];
    const hub = [...common, '-listen=0', '-hub', `-hubport=${hubPort}`, '-hubudpport=0', '-printtoconsole'];
    const node = await startUntil(program('lbcnode'), hub, env, 'Call a method: ');
    await run(program('lbcnode-cli'), [...common, 'generatetoaddress', '3', ADDRESS], { env });
    const daemon = await startUntil(
      program('lbrynet'),
      ['start'],
      {
        ...emptyEnvironment(join(folder, 'desktop home')),
        LBRY_API: `127.0.0.1:${apiPort}`,
        LBRY_STREAMING_SERVER: '127.0.0.1:0',
        LBRY_TCP_PORT: `${await freePort()}`,
        LBRY_UDP_PORT: `${await freePort()}`,
        LBRY_BLOCKCHAIN_NAME: 'lbrycrd_regtest',
        LBRY_LBRYUM_SERVERS: `127.0.0.1:${hubPort}`,
        LBRY_KNOWN_DHT_NODES: '',
        LBRY_USE_UPNP: 'false',
      },
      'The API listens',
    );
    const call = (method: string, params = {}): Promise<unknown> => callDaemon(apiPort, method, params, null);
    await until(
      'all components run',
      async () => ((await call('status')) as { is_running: boolean }).is_running,
    );
    const page = { page: 1, total_items: 0, total_pages: 0, items: [] };
    expect(await call('version')).toMatchObject({ lbrynet_version: expect.any(String) as unknown });
    expect(await call('wallet_status')).toMatchObject({ is_encrypted: false, is_locked: false });
    expect(await call('resolve', { urls: ['lbry://one'] })).toMatchObject({
      'lbry://one': { error: { name: 'NOT_FOUND' } },
    });
    expect(await call('wallet_balance')).toMatchObject({ available: '0.0', total: '0.0' });
    for (const method of ['file_list', 'channel_list', 'collection_list'])
      expect(await call(method, { page: 1, page_size: 20 })).toMatchObject(page);
    expect(await call('settings_get')).toMatchObject({ api: `127.0.0.1:${apiPort}` });
    expect(await call('ffmpeg_find')).toMatchObject({ available: false });
    expect(await call('stop')).toBe('Shutting down');
    expect(await daemon.ended).toBe(0);
    await run(program('lbcnode-cli'), [...common, 'stop'], { env });
    expect(await node.ended).toBe(0);
  });

  it.skipIf(own?.suffix === '.exe')(
    'replaces itself by the started program, so that a signal ends it',
    async () => {
      const dataDir = join(folder, 'killed data');
      mkdirSync(dataDir);
      const args = ['-regtest', `-datadir=${dataDir}`, '-server=0', '-listen=0', '-printtoconsole'];
      const node = await startUntil(program('lbcnode'), args, env, 'Done loading');
      node.child.kill('SIGTERM');
      expect(await node.ended).toBe(0);
      expect(node.output()).toContain('Shutdown');
    },
  );

  it('repairs corrupt or deleted unpacked files', async () => {
    const version = async (): Promise<string> =>
      (await run(program('lbrynet'), ['--version'], { env })).stdout;
    const expected = await version();
    const unpacked = runtimeFolder();
    const script = join(unpacked, 'app', 'dist', 'bin', 'lbcnet.js');
    const runtime = join(unpacked, 'bin', `node${own!.suffix}`);
    const { size } = statSync(runtime);
    truncateSync(runtime, 1_000_000);
    rmSync(script);
    expect(await version()).toBe(expected);
    expect(statSync(runtime).size).toBe(size);
    rmSync(join(unpacked, 'app'), { recursive: true });
    expect(await version()).toBe(expected);
    expect(readdirSync(join(unpacked, 'bin'))).toEqual([basename(runtime)]);
  });

  it('unpacks to the requested place, and reports what prevents it', async () => {
    const place = join(folder, 'another place');
    const elsewhere = { PATH: '', HOME: '/nonexistent', LBCNODE_RUNTIME_DIR: place };
    const { stdout } = await run(program('lbrynet'), ['--version'], { env: elsewhere });
    expect(stdout).toContain('compatible with lbrynet');
    expect(readdirSync(place)).toEqual([basename(runtimeFolder())]);
    const nowhere = { ...elsewhere, LBCNODE_RUNTIME_DIR: '/dev/null/folder' };
    await expect(run(program('lbrynet'), ['--version'], { env: nowhere })).rejects.toThrow(
      'Error: cannot make /dev/null/folder: ',
    );
    const small = join(folder, 'small');
    mkdirSync(small);
    cpSync(program('lbcnet'), join(small, 'lbcnet'));
    await expect(run(join(small, 'lbcnet'), ['--version'], { env })).rejects.toThrow(
      'lbcnet needs the file lbrynet of the same archive beside it.',
    );
  });

  it(
    'has equal bytes when it is built again in another folder',
    async () => {
      const again = await makeBundle(copyProject(), own!.name, join(folder, 'second'));
      expect(again.length).toBe(archive.length);
      expect(again.equals(archive)).toBe(true);
    },
    BUILD_TIMEOUT_MS,
  );
});

/** Starts node and client for Windows by the Wine that `WINE` names. Node writes to files there, not to pipes. */
async function runByWine(programs: string): Promise<void> {
  const wine = process.env['WINE'];
  if (wine === undefined) {
    console.log('skipped: WINE names no Wine');
    return;
  }
  const env = {
    ...process.env,
    WINEPREFIX: join(folder, 'wine'),
    WINEDEBUG: '-all',
    NODE_SKIP_PLATFORM_CHECK: '1',
  };
  const common = ['-regtest', '-datadir=C:\\node data', `-rpcport=${await freePort()}`];
  const start = (
    name: string,
    args: readonly string[],
    output: string,
  ): [ChildProcess, Promise<number | null>] => {
    const file = openSync(output, 'w');
    const child = spawn(wine, [join(programs, `${name}.exe`), ...common, ...args], {
      env,
      stdio: ['ignore', file, file],
    });
    running.add(child);
    return [child, new Promise((resolve) => child.once('close', resolve))];
  };
  const log = join(folder, 'wine node.txt');
  const [, ended] = start('lbcnode', ['-listen=0', '-printtoconsole'], log);
  const answer = join(folder, 'wine answer.txt');
  const ask = async (...args: string[]): Promise<string> => {
    const [, done] = start('lbcnode-cli', ['-rpcwait', ...args], answer);
    expect(await done).toBe(0);
    return readFileSync(answer, 'utf8').trim();
  };
  expect(JSON.parse(await ask('generatetoaddress', '3', ADDRESS))).toHaveLength(3);
  expect(await ask('getblockcount')).toBe('3');
  await ask('stop');
  expect(await ended).toBe(0);
  expect(readFileSync(log, 'utf8')).toContain('native addon: libsecp256k1 bundled');
}

describe.skipIf(process.env['LBCNODE_FULL'] !== '1')(
  'the archive for another machine',
  () => {
    it.each(PLATFORMS.filter((platform) => platform !== own))(
      '$name contains programs for its platform',
      async (platform) => {
        const archive = await makeBundle(ROOT, platform.name, join(folder, 'others'));
        expect(archive.length).toBeLessThanOrEqual(MAX_ARCHIVE_BYTES);
        const programs = join(folder, platform.name);
        unpackArchive(archive, programs);
        const [system, arch] = platform.name.split('-') as [keyof typeof PROGRAM_KINDS, string];
        const kind = `${PROGRAM_KINDS[system]} ${arch}`;
        const bytesOf = (name: string): Buffer => readFileSync(join(programs, `${name}${platform.suffix}`));
        for (const name of ['lbrynet', ...SMALL_PROGRAMS]) expect(executableKind(bytesOf(name))).toBe(kind);
        const { files } = carriedFiles(bytesOf('lbrynet'));
        const natives = files.filter(({ path }) => path.endsWith('.node') || path.startsWith('bin/'));
        expect(natives.map(({ path }) => path)).toContain(`app/prebuilds/${platform.target}/lbcnode.node`);
        for (const { path, data } of natives) expect([path, data.includes(ROOT)]).toEqual([path, false]);
        for (const { path, data } of natives)
          // LevelDB's lock has one file for both processors of macOS.
          if (!path.includes('x64+arm64')) expect([path, executableKind(data)]).toEqual([path, kind]);
        if (system === 'windows') await runByWine(programs);
        if (platform.name !== 'linux-arm64' || !isInstalled('qemu-aarch64-static')) return;
        // The emulator does not apply to programs that the launcher executes, so the test starts the runtime directly.
        const root = join(folder, 'arm64 root');
        for (const { path, data, executable } of files) {
          mkdirSync(dirname(join(root, path)), { recursive: true });
          writeFileSync(join(root, path), data, { mode: executable ? 0o755 : 0o644 });
        }
        const libraries = '/usr/aarch64-linux-gnu';
        if (!existsSync(libraries)) {
          console.log(
            'skipped: the C library for arm64 is not installed (libc6-arm64-cross, libstdc++6-arm64-cross)',
          );
          return;
        }
        const { stdout } = await run('qemu-aarch64-static', [
          ...['-L', libraries, join(root, 'bin', 'node'), '-p'],
          `require(${JSON.stringify(join(root, 'app', 'prebuilds', 'linux-arm64', 'lbcnode.node'))}).abi > 0 && process.arch`,
        ]);
        expect(stdout.trim()).toBe('arm64');
      },
    );
  },
  BUILD_TIMEOUT_MS,
);
