/** `lbcnode-cli` during the start of a node. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../../src/bin/cli/run.js';

it('reads the cookie again if it was created after the first attempt', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-race-'));
  mkdirSync(join(folder, 'regtest'));
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    if (seen.length > 1) return void response.end('{"result":7,"error":null,"id":1}\n');
    writeFileSync(join(folder, 'regtest', '.cookie'), '__cookie__:abc');
    response.writeHead(401).end();
  });
  await new Promise<void>((done) => server.listen({ port: 0, host: '127.0.0.1' }, done));
  const { port } = server.address() as AddressInfo;
  let out = '';
  const status = await runCli(['-regtest', `-datadir=${folder}`, `-rpcport=${port}`, 'getblockcount'], {
    out: (text) => (out += text),
    err: (text) => (out += text),
    input: async function* () {},
    home: folder,
    version: '1',
  });
  await new Promise((done) => server.close(done));
  rmSync(folder, { recursive: true });
  expect([status, out]).toEqual([0, '7\n']);
  expect(seen[1]).toBe(`Basic ${Buffer.from('__cookie__:abc').toString('base64')}`);
  expect(seen.length).toBe(2);
});
