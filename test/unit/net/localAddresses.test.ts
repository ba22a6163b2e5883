import { beforeEach, describe, expect, it } from 'vitest';
import { LOCAL_SCORE, LocalAddresses, type LocalAddressOptions } from '../../../src/net/localAddresses.js';
import { formatNetAddress, type NetAddress } from '../../../src/net/netAddress.js';
import { Networks } from '../../../src/net/networks.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { at, seededRandom } from './addressBook/support.js';

const OPEN = { isLimited: false, proxy: null };
const SHUT = { isLimited: true, proxy: null };

let networks: Networks;
beforeEach(() => {
  networks = new Networks({ ipv4: OPEN, ipv6: OPEN, onion: SHUT }, null);
});

function make(options: Partial<LocalAddressOptions> = {}): LocalAddresses {
  return new LocalAddresses(
    { listens: true, discovers: true, port: 9246, tellsLoopback: false, ...options },
    { networks, random: seededRandom(5), log: SILENT_LOGGER },
  );
}

const printed = (address: NetAddress | null): string | null =>
  address === null ? null : formatNetAddress(address);
const listed = (local: LocalAddresses): [string, number][] =>
  local.list().map(({ address, score }) => [formatNetAddress(address), score]);

describe('our addresses', () => {
  it('are the reachable ones in networks that are not excluded', () => {
    const local = make();
    expect(local.add(at('1.2.3.4', 5), LOCAL_SCORE.manual)).toBe(true);
    expect(local.add(at('10.0.0.1', 5), LOCAL_SCORE.manual)).toBe(false);
    expect(local.add(at('127.0.0.1', 5), LOCAL_SCORE.bind)).toBe(false);
    expect(local.add(at('expyuzz4wqqyqhjn.onion', 5), LOCAL_SCORE.manual)).toBe(false);
    expect(local.isLocal(at('1.2.3.4', 6))).toBe(true);
    expect(local.isLocal(at('10.0.0.1', 5))).toBe(false);
    networks.setRoute('onion', OPEN);
    expect(local.add(at('expyuzz4wqqyqhjn.onion', 5), LOCAL_SCORE.manual)).toBe(true);
  });

  it('are only those of the operator without -discover', () => {
    const local = make({ discovers: false });
    expect(local.add(at('1.2.3.4'), LOCAL_SCORE.upnp)).toBe(false);
    expect(local.add(at('1.2.3.4'), LOCAL_SCORE.manual)).toBe(true);
  });

  it('are ranked by how they are known, and may be removed', () => {
    const local = make();
    local.add(at('1.2.3.4', 1), LOCAL_SCORE.interface);
    local.add(at('1.2.3.4', 2), LOCAL_SCORE.manual);
    expect(listed(local)).toEqual([['1.2.3.4:2', 5]]);
    local.add(at('1.2.3.4', 3), LOCAL_SCORE.bind);
    expect(listed(local)).toEqual([['1.2.3.4:2', 5]]);
    local.seen(at('1.2.3.4', 99));
    local.seen(at('5.5.5.5', 99));
    expect(listed(local)).toEqual([['1.2.3.4:2', 6]]);
    local.remove(at('1.2.3.4', 7));
    expect(listed(local)).toEqual([]);
  });

  it('are found at the interfaces', () => {
    const one = (address: string, family: 'IPv4' | 'IPv6', internal = false) => {
      const common = { address, netmask: '', mac: '', internal, cidr: null };
      return family === 'IPv4' ? { ...common, family } : { ...common, family, scopeid: 0 };
    };
    const interfaces = {
      lo: [one('1.1.1.1', 'IPv4', true)],
      eth0: [
        one('8.8.8.8', 'IPv4'),
        one('2a01::8', 'IPv6'),
        one('fe80::1', 'IPv6'),
        one('192.168.1.2', 'IPv4'),
      ],
    };
    const local = make();
    local.discover(interfaces);
    expect(listed(local)).toEqual([
      ['8.8.8.8:9246', 1],
      ['[2a01::8]:9246', 1],
    ]);
    const silent = make({ discovers: false });
    silent.discover(interfaces);
    expect(listed(silent)).toEqual([]);
  });
});

describe('the address for a peer', () => {
  it('is the one that it reaches best, and the best known of equals', () => {
    const local = make();
    expect(local.best(at('1.1.1.1'))).toBeNull();
    local.add(at('1.2.3.4', 1), LOCAL_SCORE.interface);
    local.add(at('2a01::1', 2), LOCAL_SCORE.manual);
    local.add(at('5.6.7.8', 3), LOCAL_SCORE.bind);
    expect(printed(local.best(at('9.9.9.9')))).toBe('5.6.7.8:3');
    expect(printed(local.best(at('2a02::1')))).toBe('[2a01::1]:2');
    expect(printed(local.best(null))).toBe('5.6.7.8:3');
    local.seen(at('1.2.3.4'));
    local.seen(at('1.2.3.4'));
    expect(printed(local.best(null))).toBe('1.2.3.4:1');
  });

  it('does not exist without -listen', () => {
    const local = make({ listens: false });
    local.add(at('1.2.3.4', 1), LOCAL_SCORE.manual);
    expect(local.best(null)).toBeNull();
    expect(local.toAdvertise(at('9.9.9.9'), at('7.7.7.7'))).toBeNull();
  });

  const draws = (local: LocalAddresses, peer: string, seenUsAt: string | null): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (let i = 0; i < 800; i++) {
      const text = String(
        printed(local.toAdvertise(at(peer), seenUsAt === null ? null : at(seenUsAt, 55555))),
      );
      counts[text] = (counts[text] ?? 0) + 1;
    }
    return counts;
  };

  it('is sometimes the one that the peer reports, with our port', () => {
    const local = make();
    expect(draws(local, '9.9.9.9', '7.7.7.7')).toEqual({ '7.7.7.7:9246': 800 });
    local.add(at('1.2.3.4', 1), LOCAL_SCORE.manual);
    const even = draws(local, '9.9.9.9', '7.7.7.7');
    expect(Object.keys(even).sort()).toEqual(['1.2.3.4:1', '7.7.7.7:1']);
    expect(even['7.7.7.7:1']).toBeGreaterThan(300);
    expect(even['7.7.7.7:1']).toBeLessThan(500);
    // A peer reported this address as ours.
    local.seen(at('1.2.3.4'));
    const rare = draws(local, '9.9.9.9', '7.7.7.7');
    expect(rare['7.7.7.7:1']).toBeGreaterThan(50);
    expect(rare['7.7.7.7:1']).toBeLessThan(150);
  });

  it('is the loopback address with -addrmantest, unless the peer reports another', () => {
    const local = make({ tellsLoopback: true });
    local.add(at('1.2.3.4', 1), LOCAL_SCORE.manual);
    expect(draws(local, '127.0.0.1', '127.0.0.1')).toEqual({ '127.0.0.1:9246': 800 });
    expect(draws(local, '9.9.9.9', null)).toEqual({ '127.0.0.1:9246': 800 });
    expect(draws(local, '9.9.9.9', '7.7.7.7')).toEqual({ '7.7.7.7:9246': 800 });
    expect(make({ tellsLoopback: true, listens: false }).toAdvertise(at('9.9.9.9'), null)).toBeNull();
  });

  it.each([
    ['nothing was said', '9.9.9.9', null],
    ['the peer is near', '192.168.1.1', '7.7.7.7'],
    ['what it says is no use', '9.9.9.9', '192.168.1.9'],
    ['what it says is in a network left out', '9.9.9.9', 'expyuzz4wqqyqhjn.onion'],
  ])('is ours when %s', (_, peer, seenUsAt) => {
    const local = make();
    expect(draws(local, peer, seenUsAt)).toEqual({ null: 800 });
    local.add(at('1.2.3.4', 1), LOCAL_SCORE.manual);
    expect(draws(local, peer, seenUsAt)).toEqual({ '1.2.3.4:1': 800 });
  });

  it('is ours without -discover', () => {
    const local = make({ discovers: false });
    local.add(at('1.2.3.4', 1), LOCAL_SCORE.manual);
    expect(draws(local, '9.9.9.9', '7.7.7.7')).toEqual({ '1.2.3.4:1': 800 });
  });
});
