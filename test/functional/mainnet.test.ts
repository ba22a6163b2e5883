/** Blocks 0–434 of the real network, with full validation, from a file into a node on main. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { freePort, program, shared } from './support/node.js';

const source = shared('conformance/mainnet/blocks-0-434.hex.gz');
const MAGIC = Buffer.from('fae4aaf1', 'hex');

async function ask<T>(port: number, cookie: string, method: string, params: unknown[] = []): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(cookie).toString('base64')}` },
    body: JSON.stringify({ id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: T; error: unknown };
  expect(error).toBeNull();
  return result;
}

interface NameAnswer {
  claims: { claimId: string; txid: string }[];
}

describe.runIf(source)('blocks of the main network', () => {
  it('are imported up to height 435, and the first claims have the expected answers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mainnet-'));
    const file = join(folder, 'blocks.dat');
    const records = gunzipSync(readFileSync(source!))
      .toString()
      .trim()
      .split('\n')
      .map((hex) => {
        const block = Buffer.from(hex, 'hex');
        const head = Buffer.alloc(8);
        MAGIC.copy(head);
        head.writeUInt32LE(block.length, 4);
        return Buffer.concat([head, block]);
      });
    writeFileSync(file, Buffer.concat(records));
    const port = await freePort();
    const child = spawn(
      process.execPath,
      [
        program('lbcnode'),
        `-datadir=${folder}`,
        `-loadblock=${file}`,
        `-rpcport=${port}`,
        '-listen=0',
        '-assumevalid=0',
        '-txindex',
        '-printtoconsole',
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    try {
      let output = '';
      for await (const chunk of child.stdout) {
        output += String(chunk);
        if (output.includes('All blocks are imported') && output.includes('Done loading')) break;
      }
      const cookie = readFileSync(join(folder, '.cookie'), 'utf8').trim();
      expect(await ask(port, cookie, 'getblockcount')).toBe(434);
      const tip = await ask<{ nameclaimroot: string; hash: string }>(port, cookie, 'getblock', [
        await ask<string>(port, cookie, 'getbestblockhash'),
        1,
      ]);
      expect(tip.nameclaimroot).toHaveLength(64);
      const { claims } = await ask<NameAnswer>(port, cookie, 'getclaimsforname', ['mindblown']);
      expect(claims).toHaveLength(2);
      const at102 = await ask<string>(port, cookie, 'getblockhash', [102]);
      const early = await ask<NameAnswer>(port, cookie, 'getclaimsforname', ['mindblown', at102]);
      expect(early.claims).toHaveLength(1);
      expect(await ask(port, cookie, 'verifychain', [4, 0])).toBe(true);
    } finally {
      child.kill('SIGTERM');
      expect(await exited).toBe(0);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
