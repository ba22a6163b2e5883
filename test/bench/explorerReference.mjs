// A copy of a node's regtest chain in the reference (lbrycrd), for calls beside ours. Belongs to explorer.mjs.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dist } from './searchClaims.mjs';

const { freePort } = await dist('testing/index.js');
const AUTH = 'bench:bench';

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
    const height = await site.rpc('getblockcount');
    for (let block = 1; block <= height; block++)
      await copy.rpc('submitblock', [
        await site.rpc('getblock', [await site.rpc('getblockhash', [block]), 0]),
      ]);
    return copy;
  }

  async rpc(method, params = []) {
    const answer = await fetch(`http://127.0.0.1:${this.port}/`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(AUTH)}` },
      body: JSON.stringify({ method, params }),
    });
    const { result, error } = await answer.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async stop() {
    this.child.kill('SIGTERM');
    await once(this.child, 'close');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
