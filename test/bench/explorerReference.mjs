// A copy of a node's regtest chain in the reference (lbrycrd), whose calls are compared with ours. Part of explorer.mjs.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dist } from './searchClaims.mjs';

const { freePort } = await dist('testing/index.js');
const AUTH = 'bench:bench';
const agent = new Agent({ keepAlive: true });

/**
 * Sends a request over a kept connection. Returns status, headers and body, and the milliseconds until the last byte. The time
 * does not include the processing of the body.
 */
export function timedRequest(options, body = '') {
  return new Promise((resolve, reject) => {
    const since = performance.now();
    const call = request({ agent, host: '127.0.0.1', ...options }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const ms = performance.now() - since;
        resolve({ ms, status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) });
      });
    });
    call.on('error', (error) => {
      // The server closed the idle connection while the request was sent. Browsers repeat such a request too.
      if (call.reusedSocket && error.code === 'ECONNRESET') timedRequest(options, body).then(resolve, reject);
      else reject(error);
    });
    call.end(body);
  });
}

/** Calls a method at `port`. Returns its result, and the milliseconds until the last byte. */
export async function timedCall(port, auth, method, params) {
  const body = JSON.stringify({ method, params });
  const headers = { authorization: `Basic ${btoa(auth)}`, 'content-length': Buffer.byteLength(body) };
  const { ms, bytes } = await timedRequest({ port, method: 'POST', headers }, body);
  const { result, error } = JSON.parse(bytes.toString());
  if (error) throw new Error(`${method}: ${error.message}`);
  return { ms, result };
}

export class ReferenceCopy {
  /** Starts the program and submits all blocks of the node to it. */
  static async start(program, site) {
    const copy = new ReferenceCopy();
    copy.folder = mkdtempSync(join(tmpdir(), 'bench-reference-'));
    copy.port = await freePort();
    const [user, password] = AUTH.split(':');
    copy.child = spawn(
      program,
      ['-regtest', `-datadir=${copy.folder}`, '-txindex', '-listen=0', `-rpcport=${copy.port}`].concat([
        `-rpcuser=${user}`,
        `-rpcpassword=${password}`,
      ]),
      { stdio: 'ignore' },
    );
    while ((await copy.rpc('getblockcount').catch(() => null)) === null) {
      if (copy.child.exitCode !== null) throw new Error('the reference does not start');
      await sleep(100);
    }
    await copy.follow(site);
    return copy;
  }

  /** Submits the blocks that the node has mined since the last call. */
  async follow(site) {
    const height = await site.rpc('getblockcount');
    for (let block = (await this.rpc('getblockcount')) + 1; block <= height; block++)
      await this.rpc('submitblock', [
        await site.rpc('getblock', [await site.rpc('getblockhash', [block]), 0]),
      ]);
  }

  get pid() {
    return this.child.pid;
  }

  async rpc(method, params = []) {
    return (await timedCall(this.port, AUTH, method, params)).result;
  }

  async ms(method, params) {
    return (await timedCall(this.port, AUTH, method, params)).ms;
  }

  async stop() {
    this.child.kill('SIGTERM');
    await once(this.child, 'close');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
