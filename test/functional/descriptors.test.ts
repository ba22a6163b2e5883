/** A node with a low limit of open files and sockets, and many idle HTTP connections. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ADDRESS, freePort, program } from './support/node.js';

const LIMIT = 400;
/** Number of descriptors that remain beside files, peers and -addnode. */
const HTTP_CONNECTIONS = LIMIT - 150 - 125 - 8;

let child: ChildProcess | null = null;
const dataDir = mkdtempSync(join(tmpdir(), 'descriptors-'));
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  if (child !== null && child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a low limit of file descriptors', () => {
  it.skipIf(!existsSync('/proc/self/limits'))('still allows to read and write blocks', async () => {
    const port = await freePort();
    const args = [
      '-regtest',
      `-datadir=${dataDir}`,
      '-listen=0',
      '-printtoconsole',
      '-rpcuser=u',
      '-rpcpassword=p',
    ];
    child = spawn(
      '/bin/sh',
      [
        '-c',
        `ulimit -n ${LIMIT} && exec "$0" "$@"`,
        process.execPath,
        program('lbcnode'),
        ...args,
        `-rpcport=${port}`,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let output = '';
    child.stdout!.on('data', (part: Buffer) => (output += part.toString()));
    child.stderr!.on('data', (part: Buffer) => (output += part.toString()));
    while (!output.includes('Done loading')) {
      if (child.exitCode !== null) throw new Error(output);
      await sleep(5);
    }
    expect(output).toContain(
      `Reducing -rpcmaxconnections from 512 to ${HTTP_CONNECTIONS}, because of system limitations.`,
    );
    expect(output).toContain(`Using at most 125 automatic connections (${LIMIT} file descriptors available)`);

    const call = async (method: string, params: unknown[] = []): Promise<unknown> => {
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('u:p')}`, connection: 'close' },
        body: JSON.stringify({ method, params }),
      });
      return ((await answer.json()) as { result: unknown }).result;
    };
    const hashes = (await call('generatetoaddress', [5, ADDRESS])) as string[];

    let closed = 0;
    for (let i = 0; i < LIMIT + 100; i++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.once('close', () => closed++);
      sockets.push(socket);
      if (i % 50 === 49) await once(socket, 'connect');
    }
    while (sockets.length - closed > HTTP_CONNECTIONS) await sleep(5);
    expect(await call('generatetoaddress', [5, ADDRESS])).toHaveLength(5);
    for (const hash of hashes) expect(await call('getblock', [hash, 0])).toEqual(expect.any(String));
    // Idle connections use only their own share.
    const open = readdirSync(`/proc/${child.pid}/fd`).length;
    expect(open).toBeGreaterThan(HTTP_CONNECTIONS);
    expect(open).toBeLessThan(LIMIT - 150);
    expect(await call('stop')).toBe('LBRYcrd server stopping');
    for (const socket of sockets) socket.destroy();
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });
});
