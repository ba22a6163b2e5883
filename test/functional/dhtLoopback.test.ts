/** Nodes of the DHT over real sockets. */
import { afterEach, describe, expect, it } from 'vitest';
import { openUdpSocket } from '../../src/daemon/dht/udpPort.js';
import { portsFound, startLoopbackNode, type LoopbackNode } from '../support/loopbackNodes.js';

const nodes: LoopbackNode[] = [];
afterEach(async () => {
  for (const { node } of nodes.splice(0)) await node.stop();
});

async function start(seeds: readonly number[]): Promise<LoopbackNode> {
  const started = await startLoopbackNode(seeds);
  nodes.push(started);
  return started;
}

describe('the DHT over loopback', () => {
  it('joins, announces and finds peers', async () => {
    const first = await start([]);
    const others = await Promise.all(Array.from({ length: 6 }, () => start([first.port])));
    await Promise.all(others.map(({ node }) => node.joined()));
    const hash = Buffer.alloc(48, 7);
    for (const { node } of others.slice(0, 2)) {
      const { found, accepted } = await node.announce(hash);
      expect(accepted).toBe(found);
      expect(accepted).toBeGreaterThan(0);
    }
    const expected = others.slice(0, 2).map(({ port }) => port);
    expect(await portsFound(others[5]!, hash)).toEqual(expected.sort((a, b) => a - b));
    await first.node.ping(others[3]!.node.nodeId, '127.0.0.1', others[3]!.port);
  });

  it('names the settings for a port that is in use', async () => {
    const { port } = await start([]);
    const taken = openUdpSocket(port, '127.0.0.1', { what: 'DHT', settings: 'udp_port, network_interface' });
    await expect(taken).rejects.toThrow(
      `The DHT cannot listen at UDP 127.0.0.1:${port}: the port is in use, possibly by another daemon. ` +
        'Stop that daemon, or choose another port (udp_port, network_interface).',
    );
  });
});
