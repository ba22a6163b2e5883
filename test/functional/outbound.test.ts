/** Outbound connections: to a seed, then to eight nodes in different networks, each through the proxy. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { peersOf, startPeer, until } from './support/network.js';
import type { RegtestNode } from './support/node.js';
import { addresses, version, type Address } from './support/rawMessages.js';
import type { RawPeer } from './support/rawPeer.js';
import { startSocks, type SocksServer } from './support/socksServer.js';

/** Regtest's default port. Addresses with other ports are skipped while there are enough with this one. */
const PORT = 29246;
/** NETWORK, BLOOM and WITNESS. */
const SERVICES = 13n;

describe('a node with unknown peers', () => {
  const nodes: RegtestNode[] = [];
  let socks: SocksServer | null = null;
  let folder = '';
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
    socks?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Three addresses in each of forty network groups. */
  const known = Array.from({ length: 120 }, (_, i): Address => {
    return {
      timeSec: Math.floor(Date.now() / 1000) - 60,
      services: SERVICES,
      ip: [60 + (i % 40), 7, 1, 1 + i],
      port: PORT,
    };
  });

  it('gets addresses from a seed, disconnects from it, and keeps eight connections in as many networks', async () => {
    const seed = 'seed.example:1234';
    const asked: string[] = [];
    socks = await startSocks(async (peer: RawPeer, { target }) => {
      await peer.next('version');
      peer.send('version', version({ services: SERVICES }));
      await peer.next('verack');
      peer.send('verack');
      if (target !== seed) return;
      await peer.next('getaddr');
      asked.push(target);
      peer.send('addr', addresses(known));
      await peer.closed();
      asked.push('parted');
    });
    folder = mkdtempSync(join(tmpdir(), 'outbound-'));
    const args = [`-proxy=${socks.address}`, `-seednode=${seed}`];
    const node = await startPeer({ args, dataDir: folder });
    nodes.push(node);
    const chosen = async (): Promise<string[]> =>
      (await peersOf(node)).filter(({ version: reported }) => reported > 0).map(({ addr }) => addr);
    await until('eight connections', async () => (await chosen()).length === 8);
    expect(asked).toEqual([seed, 'parted']);
    const texts = known.map(({ ip }) => `${ip.join('.')}:${PORT}`);
    for (const addr of await chosen()) expect(texts).toContain(addr);
    const networks = (await chosen()).map((addr) => addr.split('.').slice(0, 2).join('.'));
    expect(new Set(networks).size).toBe(8);
    expect(await peersOf(node)).toEqual(
      expect.arrayContaining([expect.objectContaining({ inbound: false, addnode: false, banscore: 0 })]),
    );

    // Each connection had credentials of its own, so that Tor keeps them apart.
    const credentials = socks.requests.map(({ credentials: given }) => given);
    expect(credentials).not.toContain(null);
    expect(new Set(credentials).size).toBe(credentials.length);
    const [first] = await node.rpc<{ address: string; port: number; services: number }[]>(
      'getnodeaddresses',
      [2500],
    );
    expect(texts).toContain(`${first!.address}:${first!.port}`);
    expect(first!.services).toBe(Number(SERVICES));

    // After a restart the node knows the addresses and does not need a seed.
    await node.stop();
    nodes.length = 0;
    const again = await startPeer({ args: [args[0]!], dataDir: folder });
    nodes.push(again);
    const reported = await again.rpc<unknown[]>('getnodeaddresses', [2500]);
    expect(reported.length).toBeGreaterThan(20);
    await until('eight connections again', async () => (await peersOf(again)).length === 8);
  });
});
