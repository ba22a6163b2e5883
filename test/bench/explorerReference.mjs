// A copy of a node's regtest chain in the reference (lbrycrd), for calls beside ours. Belongs to explorer.mjs.
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

export class ReferenceCopy {
  /** Starts the program and hands it all blocks of the node. */
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

  /** Hands over the blocks that the node has made since. */
  async follow(site) {
    const height = await site.rpc('getblockcount');
    for (let block = (await this.rpc('getblockcount')) + 1; block <= height; block++)
      await this.rpc('submitblock', [
        await site.rpc('getblock', [await site.rpc('getblockhash', [block]), 0]),
      ]);
  }

  /** Over kept connections, like the calls of the node itself. */
  rpc(method, params = []) {
    const body = JSON.stringify({ method, params });
    return new Promise((resolve, reject) => {
      const call = request(
        {
          agent,
          port: this.port,
          host: '127.0.0.1',
          method: 'POST',
          headers: { authorization: `Basic ${btoa(AUTH)}`, 'content-length': Buffer.byteLength(body) },
        },
        (answer) => {
          const chunks = [];
          answer.on('data', (chunk) => chunks.push(chunk));
          answer.on('end', () => {
            const { result, error } = JSON.parse(Buffer.concat(chunks).toString());
            if (error) reject(new Error(`${method}: ${error.message}`));
            else resolve(result);
          });
        },
      );
      call.on('error', (error) => {
        // lbrycrd closes connections that were idle.
        if (call.reusedSocket && error.code === 'ECONNRESET') this.rpc(method, params).then(resolve, reject);
        else reject(error);
      });
      call.end(body);
    });
  }

  async stop() {
    this.child.kill('SIGTERM');
    await once(this.child, 'close');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
