import { describe, expect, it } from 'vitest';
import { PortMapper, type Gateway } from '../../../../../src/daemon/dht/reach/portMapper.js';
import { SILENT_LOGGER } from '../../../../../src/util/logging.js';
import { FakeClock } from '../../../../support/fakeClock.js';

const PORTS = [
  { protocol: 'TCP', port: 4444, name: 'LBRY peer port' },
  { protocol: 'UDP', port: 4444, name: 'LBRY DHT port' },
] as const;

/** A home gateway; some of its ports belong to another machine. */
function home(taken: readonly string[] = []) {
  const state = {
    isThere: true,
    address: '8.8.1.1' as string | null,
    mappings: new Map<string, string>(),
    calls: 0,
    isClosed: false,
  };
  const gateway: Gateway = {
    name: 'test gateway',
    externalAddress: () => Promise.resolve(state.address),
    map: (external, port, protocol, name) => {
      state.calls++;
      const key = `${protocol} ${external}`;
      if (taken.includes(key)) return Promise.resolve(false);
      state.mappings.set(key, `${port} ${name}`);
      return Promise.resolve(true);
    },
    unmap: (external, _, protocol) => {
      state.mappings.delete(`${protocol} ${external}`);
      return Promise.resolve();
    },
    close: () => {
      state.isClosed = true;
      return Promise.resolve();
    },
  };
  return { state, gateway };
}

function mapper(findGateway: () => Promise<Gateway | null>, warnings: string[] = []) {
  const clock = new FakeClock();
  const log = { ...SILENT_LOGGER, warn: (text: string) => void warnings.push(text) };
  return { clock, mapper: new PortMapper({ clock, log, findGateway, ports: PORTS }) };
}

describe('PortMapper', () => {
  it('maps the same port numbers, learns the address, and removes the mappings when it stops', async () => {
    const { state, gateway } = home();
    const { mapper: one } = mapper(() => Promise.resolve(gateway));
    await one.start();
    expect(one.redirects).toEqual({ TCP: 4444, UDP: 4444 });
    expect([one.externalAddress, one.gatewayName]).toEqual(['8.8.1.1', 'test gateway']);
    expect([...state.mappings]).toEqual([
      ['TCP 4444', '4444 LBRY peer port'],
      ['UDP 4444', '4444 LBRY DHT port'],
    ]);
    await one.stop();
    expect([state.mappings.size, state.isClosed, one.redirects]).toEqual([0, true, {}]);
  });

  it('uses another port number if one is taken, and keeps it', async () => {
    const { state, gateway } = home(['TCP 4444', 'TCP 4445']);
    const { clock, mapper: one } = mapper(() => Promise.resolve(gateway));
    await one.start();
    expect(one.redirects).toEqual({ TCP: 4446, UDP: 4444 });
    state.calls = 0;
    await clock.advance(360_000);
    expect([one.redirects, state.calls]).toEqual([{ TCP: 4446, UDP: 4444 }, 2]);
  });

  it('renews lost mappings, and follows the address', async () => {
    const { state, gateway } = home();
    const { clock, mapper: one } = mapper(() => Promise.resolve(gateway));
    await one.start();
    state.mappings.clear();
    state.address = '8.8.2.2';
    await clock.advance(360_000);
    expect(state.mappings.size).toBe(2);
    expect(one.externalAddress).toBe('8.8.2.2');
  });

  it('ignores an address that is not public', async () => {
    const { state, gateway } = home();
    state.address = '10.0.0.7';
    const { mapper: one } = mapper(() => Promise.resolve(gateway));
    await one.start();
    expect(one.externalAddress).toBeNull();
  });

  it('warns without a gateway, and finds one that appears later', async () => {
    const warnings: string[] = [];
    const { gateway } = home();
    let found: Gateway | null = null;
    const { clock, mapper: one } = mapper(() => Promise.resolve(found), warnings);
    await one.start();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^failed to setup upnp/);
    found = gateway;
    await clock.advance(360_000);
    expect(one.redirects).toEqual({ TCP: 4444, UDP: 4444 });
  });

  it('continues after failures of the search or the gateway', async () => {
    const warnings: string[] = [];
    const { clock, mapper: one } = mapper(() => Promise.reject(new Error('no sockets')), warnings);
    await one.start();
    await clock.advance(360_000);
    expect(warnings.filter((text) => text.includes('no sockets'))).toHaveLength(2);
    await one.stop();
  });
});
