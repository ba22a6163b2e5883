// A PostgreSQL server for tests, in a temporary folder: `node postgresServer.mjs <folder with initdb>`. Prints its address as
// one line of JSON when it is ready. Ends when its standard input ends, so that it never outlives its parent.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [programs] = process.argv.slice(2);
const PASSWORD = 'not-to-be-logged';

/**
 * PostgreSQL does not run as root. If root runs a test, the server gets the user `postgres` of Debian's package. If this user does
 * not exist, it gets the user with the fewest rights.
 */
function runner() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error('there is no user to run PostgreSQL as');
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const user = runner();
const folder = mkdtempSync(join(tmpdir(), 'lbcnode-postgres-'));
chmodSync(folder, 0o755);
if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
const data = join(folder, 'data');
const passwordFile = join(folder, 'password');
writeFileSync(passwordFile, PASSWORD);
if (user.uid !== undefined) chownSync(passwordFile, user.uid, user.gid);

let server = null;
let isEnding = false;
function end() {
  if (isEnding) return;
  isEnding = true;
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  };
  if (server === null || server.exitCode !== null) return remove();
  server.once('exit', remove);
  // Ends at once.
  server.kill('SIGQUIT');
}
process.stdin.on('end', end).on('error', end).resume();
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, end);

const made = spawnSync(
  join(programs, 'initdb'),
  [
    '-D',
    data,
    '-U',
    'lbcnode',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ],
  { ...user, cwd: folder, encoding: 'utf8' },
);
if (made.status !== 0) {
  console.error(made.stderr || String(made.error));
  process.exitCode = 1;
  end();
} else {
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: folder,
    fsync: 'off',
    full_page_writes: 'off',
    shared_buffers: '64MB',
    max_connections: 60,
    logging_collector: 'off',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  server = spawn(join(programs, 'postgres'), ['-D', data, ...args], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  let isReady = false;
  server.stderr.on('data', (chunk) => {
    if (isReady) return;
    output += chunk;
    if (!output.includes('ready to accept connections')) return;
    isReady = true;
    console.log(JSON.stringify({ host: '127.0.0.1', port, user: 'lbcnode', password: PASSWORD }));
  });
  server.once('exit', () => {
    if (isEnding) return;
    if (!isReady) console.error(output);
    end();
  });
}
