/**
 * TLS on the port of the lbcd profile and on the wallet port: certificates that the first start creates, clients that trust only
 * this certificate, and plain HTTP from this machine. Also tests -walletrpclisten, -walletrpcnotls, -walletrpccert and
 * -walletrpckey.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startRegtest, type RegtestNode } from './support/node.js';

let node: RegtestNode;
let dataDir: string;
let walletPort: number;

/** Sends a call over TLS. The client trusts only `ca`. */
function call(port: number, ca: string, method: string, host = 'localhost'): Promise<unknown> {
  const { username, password } = new URL(node.url);
  return new Promise((resolve, reject) => {
    const options = {
      host,
      port,
      ca,
      method: 'POST',
      auth: `${username}:${password}`,
      agent: false as const,
    };
    const request = https.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve((JSON.parse(text) as { result: unknown }).result));
    });
    request.on('error', reject).end(JSON.stringify({ jsonrpc: '1.0', id: 1, method, params: [] }));
  });
}

const file = (name: string): string => join(node.dataDir, 'regtest', name);

describe('with -compat=lbcd', () => {
  beforeAll(async () => {
    walletPort = await freePort();
    dataDir = mkdtempSync(join(tmpdir(), 'lbcnode-tls-'));
    node = await startRegtest({
      dataDir,
      args: [
        '-compat=lbcd',
        `-walletrpclisten=127.0.0.1:${walletPort}`,
        '-walletrpccert=wallet/rpc.cert',
        '-walletrpckey=wallet/rpc.key',
      ],
    });
  });
  afterAll(async () => {
    await node.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('the node’s port serves TLS with the certificate of the first start', async () => {
    expect(await call(node.rpcPort, readFileSync(file('rpc.cert'), 'utf8'), 'getblockcount')).toBe(0);
    expect(statSync(file('rpc.key')).mode & 0o777).toBe(0o600);
  });

  it('the wallet port has its own', async () => {
    const ca = readFileSync(file('wallet/rpc.cert'), 'utf8');
    expect(await call(walletPort, ca, 'getbalance', '127.0.0.1')).toBe(0);
    await expect(call(walletPort, readFileSync(file('rpc.cert'), 'utf8'), 'getbalance')).rejects.toThrow(
      /self-signed certificate/,
    );
  });

  it('plain HTTP of this machine is answered as before', async () => {
    expect(await node.rpc('getblockcount')).toBe(0);
  });

  it('the ports stop with open connections that have sent nothing, and keep their certificate', async () => {
    const cert = readFileSync(file('rpc.cert'), 'utf8');
    const idle = net.connect(node.rpcPort, '127.0.0.1');
    await once(idle, 'connect');
    await node.stop();
    idle.destroy();
    node = await startRegtest({
      dataDir,
      args: ['-compat=lbcd', '-tls=0', `-walletrpcport=${walletPort}`, '-walletrpcnotls'],
    });
    expect(readFileSync(file('rpc.cert'), 'utf8')).toBe(cert);
    for (const port of [node.rpcPort, walletPort])
      await expect(call(port, cert, 'getblockcount')).rejects.toThrow();
    expect(await node.rpc('getblockcount')).toBe(0);
  });
});
