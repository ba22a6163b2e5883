/** The script that updates the assumed-valid block, with a fake synced node. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { projectFile } from '../../src/util/project.js';

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-record-'));
const facts = join(folder, 'main.json');
const HASH = 'ab'.repeat(32);
const WORK = '0'.repeat(44) + '0000000000000fabcdef';
let info: object = {};
const node = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const { method, params } = JSON.parse(body) as { method: string; params: unknown[] };
    const results: Record<string, unknown> = {
      getblockchaininfo: info,
      getblockhash: params[0] === 1_997_984 ? HASH : null,
      getblockheader: params[0] === HASH ? { chainwork: WORK } : null,
    };
    const known = request.headers.authorization === `Basic ${Buffer.from('me:pa@ss').toString('base64')}`;
    response.writeHead(known ? 200 : 401).end(known ? JSON.stringify({ result: results[method] }) : '');
  });
});

beforeAll(() => new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  node.close();
  rmSync(folder, { recursive: true });
});

const run = (user = 'me:pa%40ss'): Promise<string> =>
  new Promise((resolve) => {
    copyFileSync(projectFile('data', 'networks', 'main.json'), facts);
    const url = `http://${user}@127.0.0.1:${(node.address() as AddressInfo).port}`;
    execFile(
      process.execPath,
      [projectFile('scripts', 'recordBlock.mjs'), url, facts],
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });

it('records the block 2,016 below the tip and its work', async () => {
  info = { chain: 'main', blocks: 2_000_000, headers: 2_000_000, initialblockdownload: false };
  expect(await run()).toContain(`Block 1997984 ${HASH}`);
  expect(JSON.parse(readFileSync(facts, 'utf8'))).toMatchObject({
    assumeValid: { hash: HASH, height: 1_997_984 },
    minimumChainWork: { work: '0000000000000fabcdef', height: 1_997_984 },
  });
});

it.each([
  [{ chain: 'regtest', blocks: 5, headers: 5 }, 'the node is on the chain regtest'],
  [{ chain: 'main', blocks: 5, headers: 9, initialblockdownload: true }, 'not synced'],
  [{ chain: 'main', blocks: 5000, headers: 5000 }, 'below that of the facts'],
])('refuses a node that returns %j, and changes nothing', async (reported, problem) => {
  info = reported;
  expect(await run()).toContain(problem);
  expect(readFileSync(facts, 'utf8')).toBe(
    readFileSync(projectFile('data', 'networks', 'main.json'), 'utf8'),
  );
});

it('reports a wrong password', async () => {
  expect(await run('me:other')).toContain('status 401');
});
