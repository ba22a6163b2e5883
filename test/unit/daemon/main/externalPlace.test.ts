import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../../src/daemon/api/settings.js';
import type { PortMapper } from '../../../../src/daemon/dht/reach/portMapper.js';
import { ExternalPlace } from '../../../../src/daemon/main/parts/externalPlace.js';
import type { Pong } from '../../../../src/daemon/ledger/hub/hubPing.js';
import { FakeClock } from '../../../support/fakeClock.js';

const pong = (ownAddress: string): Pong => ({
  server: { host: 'hub', port: 50001 },
  isAvailable: true,
  height: 1,
  country: 'US',
  ownAddress,
  afterMs: 1,
});

function world(networkInterface: string, answers: string[][]) {
  const values: Record<string, unknown> = {
    network_interface: networkInterface,
    lbryum_servers: [['hub', 50001]],
    udp_port: 4444,
    tcp_port: 3333,
  };
  const clock = new FakeClock();
  const asked: number[] = [];
  let served: number | null = null;
  const place = new ExternalPlace({
    settings: { get: (name: string) => values[name] } as Pick<Settings, 'get'>,
    clock,
    pingHubs: () => {
      asked.push(clock.nowMs());
      return Promise.resolve((answers.shift() ?? []).map(pong));
    },
    servedTcpPort: () => served,
  });
  return {
    clock,
    place,
    asked,
    serve: (port: number) => {
      served = port;
    },
  };
}

describe('ExternalPlace', () => {
  it('queries hubs every two minutes until one returns a public address, then every half hour', async () => {
    const { clock, place, asked } = world('0.0.0.0', [
      [],
      ['127.0.0.1', '10.0.0.1'],
      ['8.1.1.1'],
      ['8.2.2.2'],
    ]);
    place.start();
    place.start();
    await clock.advance(121_000);
    expect(place.address).toBeNull();
    await clock.advance(120_000);
    expect([asked.length, place.address]).toEqual([3, '8.1.1.1']);
    await clock.advance(1_800_000);
    expect([asked.length, place.address]).toEqual([4, '8.2.2.2']);
    await clock.advance(1_800_000);
    expect(place.address).toBe('8.2.2.2');
    place.stop();
    await clock.advance(10_000_000);
    expect(asked).toHaveLength(5);
  });

  it('prefers the gateway over hubs, and its ports over those of sockets', async () => {
    const { clock, place, serve } = world('0.0.0.0', [['8.1.1.1']]);
    expect([place.udpPort, place.tcpPort]).toEqual([4444, 3333]);
    place.start();
    await clock.advance(1);
    place.boundUdpPort = 5000;
    serve(5001);
    expect([place.udpPort, place.tcpPort]).toEqual([5000, 5001]);
    const redirects: { UDP?: number; TCP?: number } = { UDP: 6000, TCP: 6001 };
    place.mapper = { externalAddress: '8.9.9.9', redirects } as unknown as PortMapper;
    expect([place.address, place.udpPort, place.tcpPort]).toEqual(['8.9.9.9', 6000, 6001]);
    place.stop();
  });

  it.each(['127.0.0.1', '8.3.3.3'])('queries nothing if it listens at %s', async (address) => {
    const { clock, place, asked } = world(address, []);
    place.start();
    await clock.advance(1000);
    expect([asked, place.address]).toEqual([[], address]);
  });

  it('queries hubs if the address of the setting is behind a gateway', async () => {
    const { clock, place, asked } = world('192.168.1.5', [['8.1.1.1']]);
    place.start();
    await clock.advance(1);
    expect([asked.length, place.address]).toEqual([1, '8.1.1.1']);
    place.stop();
  });
});
