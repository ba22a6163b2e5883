/** Options of both programs on the command line: refused ones, the messages, and that no stack trace is shown. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort, HANG_MS, program, startRegtest } from './support/node.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'typed-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Runs the node with only these arguments until it ends. `HOME` is the folder of the test. */
function run(
  words: readonly string[],
  env: Record<string, string | undefined> = {},
): SpawnSyncReturns<string> {
  const result = spawnSync(process.execPath, [program('lbcnode'), ...words], {
    encoding: 'utf8',
    timeout: HANG_MS,
    env: { ...process.env, HOME: folder, ...env },
  });
  if (result.error) throw result.error;
  return result;
}

/** Runs a node that ends once it has started. */
const start = (...words: string[]): SpawnSyncReturns<string> =>
  run(['-regtest', '-listen=0', '-server=0', '-stopafterblockimport', '-printtoconsole=0', ...words]);

/** A port on which another server listens. */
async function occupied(host: string): Promise<{ port: number; server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ port: 0, host }, resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

describe('the node', () => {
  it('creates its data folder with its parents, for an option with a separate value', () => {
    const dataDir = join(folder, 'a', 'b');
    const { status, stderr } = start('--datadir', dataDir);
    expect([status, stderr]).toEqual([0, '']);
    expect(existsSync(join(dataDir, 'regtest', 'chainstate'))).toBe(true);
  });

  it.each([
    [['-foo'], 'Error parsing command line arguments: Invalid parameter -foo\n'],
    [
      ['--rpcprot=1'],
      'Error parsing command line arguments: Invalid parameter -rpcprot. Did you mean -rpcport?\n',
    ],
    [['-dbcache=abc'], 'Error: Invalid value -dbcache=abc, it must be a whole number\n'],
    [
      ['-assumevalid=zz'],
      'Error: Invalid value -assumevalid=zz, it must be the hash of a block in hex, or 0 for none\n',
    ],
    [['-txindex=true'], 'Error: Invalid value -txindex=true, it must be 1 (on) or 0 (off)\n'],
    [
      ['-connect=1.2.3.4:99999'],
      'Error: Invalid value -connect=1.2.3.4:99999, it must be a host as <name>, <ip>, <host>:<port> or [<ipv6>]:<port>, or 0 for none\n',
    ],
    [
      ['-proxy=foo.invalid'],
      "Error: Invalid -proxy address or hostname: 'foo.invalid' (it cannot be resolved)\n",
    ],
    [
      ['-onion=foo.invalid'],
      "Error: Invalid -onion address or hostname: 'foo.invalid' (it cannot be resolved)\n",
    ],
    [['-rpcallowip=foo'], /^Error: Invalid -rpcallowip subnet specification: foo\. Valid are .*\n$/],
    [['-rpcauth=garbage'], /^Error: Invalid -rpcauth: not <user>:<salt>\$<hash> .{1,35}\n$/],
    [['-debuglogfile=/nonexistent/x'], 'Error: Could not open debug log file /nonexistent/x\n'],
  ])('refuses %j', (words, said) => {
    const { status, stderr } = start(...words);
    expect(status).toBe(1);
    expect(stderr).toEqual(typeof said === 'string' ? said : expect.stringMatching(said));
  });

  it.each([
    [['-par=999'], 'Warning: -par=999 is above the maximum: 16 is used.\n'],
    [['-dbcache=-5'], 'Warning: -dbcache=-5 is below the minimum: 4 is used.\n'],
    [
      ['-rpcuser=x'],
      'Warning: -rpcuser has no effect without -rpcpassword: clients need the cookie, or a password of -rpcauth.\n',
    ],
  ])('warns about %j', (words, said) => {
    const { status, stderr } = start(...words);
    expect([status, stderr]).toEqual([0, said]);
    expect(readFileSync(join(folder, '.lbcnode', 'regtest', 'debug.log'), 'utf8')).toContain(said);
  });

  it('reports a peer whose name cannot be resolved', async () => {
    const node = await startRegtest({ dataDir: folder, args: ['-connect=foo.invalid'] });
    await expect
      .poll(() => node.output(), { timeout: HANG_MS })
      .toContain('Warning: -connect=foo.invalid cannot be resolved now; the lookup is repeated later.');
    await node.stop();
  });

  it('names file and line of errors in a file', () => {
    const file = join(folder, 'my.conf');
    writeFileSync(file, 'server=1\n[regtest]\nrpcpasword=1\n');
    expect(start(`-conf=${file}`).stderr).toBe(
      `Error reading configuration file: Invalid configuration value regtest.rpcpasword (${file}, line 3). Did you mean rpcpassword?\n`,
    );
    writeFileSync(file, '[regtest]\n\ndbcache=lots\n');
    expect(start(`-conf=${file}`).stderr).toBe(
      `Error: Invalid value -dbcache=lots, it must be a whole number (${file}, line 3)\n`,
    );
    expect(start('-conf=absent.conf').stderr).toBe(
      `Error reading configuration file: there is no file ${join(folder, '.lbcnode', 'absent.conf')} (-conf=absent.conf; a relative path starts at the data folder)\n`,
    );
    mkdirSync(join(folder, '.lbcnode'), { recursive: true });
    writeFileSync(join(folder, '.lbcnode', 'lbcnode.conf'), 'includeconf=more.conf\n');
    writeFileSync(join(folder, '.lbcnode', 'more.conf'), 'includeconf=deeper.conf\n');
    expect(start().stderr).toBe(
      'warning: -includeconf cannot be used from included files; ignoring -includeconf=deeper.conf\n',
    );
  });

  it('points out files of other programs in the log', () => {
    mkdirSync(join(folder, '.lbrycrd'));
    const theirs = join(folder, '.lbrycrd', 'lbrycrd.conf');
    writeFileSync(theirs, 'txindex=1\n');
    const { status, stderr } = start();
    expect([status, stderr]).toEqual([0, '']);
    expect(readFileSync(join(folder, '.lbcnode', 'regtest', 'debug.log'), 'utf8')).toContain(
      `${join(folder, '.lbrycrd')} is the data folder of lbrycrd and is not used; to use it, take its settings with -conf=${theirs}\n`,
    );
  });

  it('does not start main if npm interpreted its options', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const env = { npm_package_name: 'lbcnode', npm_lifecycle_event: 'start', npm_config_regtest: 'true' };
    const { status, stderr } = run([], env);
    expect(status).toBe(1);
    expect(stderr).toBe(
      'Error: npm interpreted --regtest as its own options, and nothing was started. Put them after two dashes: npm start -- --regtest\n',
    );
    expect(existsSync(join(folder, '.lbcnode'))).toBe(false);
    expect((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string }).name).toBe(
      env.npm_package_name,
    );
  });

  it('names the port in use, and the option for another port', async () => {
    const { port, server } = await occupied('127.0.0.1');
    const rpc = run(['-regtest', '-listen=0', '-printtoconsole=0', '-rpcbind=127.0.0.1', '-rpcallowip=[::1]/128', `-rpcport=${port}`]); // prettier-ignore
    expect(rpc.status).toBe(1);
    expect(rpc.stderr).toBe(
      `Error: Unable to start HTTP server. RPC cannot listen at 127.0.0.1:${port}: port ${port} is in use (EADDRINUSE), possibly by another lbcnode. Stop that program, or choose another port with -rpcport=<port>.\n`,
    );
    const p2p = run(['-regtest', '-server=0', '-printtoconsole=0', `-bind=127.0.0.1:${port}`]);
    expect(p2p.status).toBe(1);
    expect(p2p.stderr).toBe(
      `Error: Failed to listen on any port. Use -listen=0 if you want this, or another port with -port=<port>. Unable to bind to 127.0.0.1:${port} on this computer. lbcnode is probably already running.\n`,
    );
    const zmq = run(['-regtest', '-server=0', '-listen=0', '-printtoconsole=0', `-zmqpubhashtx=tcp://127.0.0.1:${port}`]); // prettier-ignore
    expect(zmq.status).toBe(1);
    expect(zmq.stderr).toMatch(
      new RegExp(`^Error: Cannot publish at tcp://127\\.0\\.0\\.1:${port} \\(-zmqpubhashtx\\): .*\\n$`),
    );
    await new Promise((resolve) => server.close(resolve));
  });

  it('reports an unusable path of the cookie', async () => {
    const cookie = join(folder, 'absent', 'cookie');
    const { status, stderr } = run(['-regtest', '-listen=0', '-printtoconsole=0', `-rpcport=${await freePort()}`, `-rpccookiefile=${cookie}`]); // prettier-ignore
    expect(status).toBe(1);
    expect(stderr).toBe(
      `Error: The RPC authentication cookie ${cookie} cannot be written: it is missing (ENOENT). Its folder must exist and be writable: correct -rpccookiefile, or use -rpcuser and -rpcpassword.\n`,
    );
  });
});

describe('a user without a home folder', () => {
  /** A user id without an entry in the password file. Only root can switch to it. */
  const UNKNOWN_ID = 54_321;

  it('needs only -datadir', ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root can take another user’s place');
    const asUnknown = (name: string, words: readonly string[]): SpawnSyncReturns<string> => {
      const { HOME: _home, ...env } = process.env;
      const options = {
        encoding: 'utf8',
        timeout: HANG_MS,
        env,
        uid: UNKNOWN_ID,
        gid: UNKNOWN_ID,
      } as const;
      return spawnSync(process.execPath, [program(name), ...words], { ...options, cwd: '/' });
    };
    const homeless =
      'Error: The home folder is unknown: HOME is not set, and the user has no entry in the password file. Specify the data folder with -datadir=<dir>.\n';
    const quiet = ['-regtest', '-listen=0', '-server=0', '-stopafterblockimport', '-printtoconsole=0'];
    const bare = asUnknown('lbcnode', quiet);
    // The user may have no permission to read the folder of the programs.
    if (/EACCES|permission denied/i.test(bare.stderr)) skip('that user may not read the programs');
    expect(bare).toMatchObject({ status: 1, stderr: homeless });
    expect(asUnknown('lbcnode-cli', ['getblockcount'])).toMatchObject({ status: 1, stderr: homeless });
    const dataDir = mkdtempSync(join(tmpdir(), 'homeless-'));
    rmSync(dataDir, { recursive: true });
    try {
      expect(asUnknown('lbcnode', [...quiet, `-datadir=${dataDir}`])).toMatchObject({
        status: 0,
        stderr: '',
      });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
