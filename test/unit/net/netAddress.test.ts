import { describe, expect, it } from 'vitest';
import {
  addressKey,
  formatHost,
  formatNetAddress,
  formatSubnet,
  groupOf,
  internalAddress,
  isInternal,
  isIpv4,
  isIpv6,
  isLocal,
  isOnion,
  isRfc1918,
  isRfc2544,
  isRfc3849,
  isRfc3927,
  isRfc3964,
  isRfc4193,
  isRfc4380,
  isRfc4843,
  isRfc4862,
  isRfc5737,
  isRfc6052,
  isRfc6145,
  isRfc6598,
  isRoutable,
  isValid,
  networkOf,
  NO_ADDRESS,
  parseHost,
  parseNetAddress,
  reachabilityScore,
  type NetAddress,
} from '../../../src/net/netAddress.js';
import { Subnet } from '../../../src/util/network/subnet.js';

function address(host: string): NetAddress {
  const ip = parseHost(host);
  if (ip === null) throw new Error(`${host} does not parse`);
  return { ip, port: 0 };
}

const ONION = 'FD87:D87E:EB43:edb1:8e4:3588:e546:35ca';

describe('networks of addresses (netbase_tests.cpp)', () => {
  it.each([
    ['127.0.0.1', 'unroutable'],
    ['::1', 'unroutable'],
    ['8.8.8.8', 'ipv4'],
    ['2001::8888', 'ipv6'],
    [ONION, 'onion'],
  ])('%s: %s', (host, network) => {
    expect(networkOf(address(host))).toBe(network);
  });

  it('of names are internal', () => {
    expect(networkOf(internalAddress('foo.com'))).toBe('internal');
    expect(isInternal(internalAddress('bar.com'))).toBe(true);
    expect(isValid(internalAddress('bar.com'))).toBe(false);
  });
});

describe('kinds of addresses', () => {
  it.each([
    [isIpv4, ['127.0.0.1', '::FFFF:192.168.1.1'], ['::1', ONION]],
    [isIpv6, ['::1', 'fe80::'], ['1.2.3.4', ONION]],
    [
      isRfc1918,
      ['10.0.0.1', '192.168.1.1', '172.31.255.255', '172.16.0.0'],
      ['172.32.0.0', '11.0.0.1', 'a00::'],
    ],
    [isRfc2544, ['198.18.0.0', '198.19.255.255'], ['198.20.0.0', '198.17.0.0']],
    [isRfc3849, ['2001:0DB8::'], ['2001:0DB9::']],
    [isRfc3927, ['169.254.1.1'], ['169.253.1.1']],
    [isRfc3964, ['2002::1'], ['2003::1']],
    [isRfc4193, ['FC00::', 'fd00::', ONION], ['fe00::']],
    [isRfc4380, ['2001::2'], ['2001:1::2']],
    [isRfc4843, ['2001:10::', '2001:1f:ffff::'], ['2001:20::']],
    [isRfc4862, ['FE80::'], ['fe80:0:0:1::']],
    [isRfc5737, ['192.0.2.1', '198.51.100.1', '203.0.113.1'], ['192.0.3.1', '198.51.101.1', '203.0.114.1']],
    [isRfc6052, ['64:FF9B::', '64:ff9b::102:304'], ['64:ff9b:1::']],
    [isRfc6145, ['::ffff:0:102:304'], ['::fffe:0:102:304']],
    [isRfc6598, ['100.64.0.0', '100.127.255.255'], ['100.128.0.0', '100.63.255.255']],
    [isOnion, [ONION], ['fd87:d87e:eb44::']],
    [isLocal, ['127.0.0.1', '127.255.255.255', '0.1.2.3', '::1'], ['128.0.0.1', '::2', '::']],
    [isValid, ['127.0.0.1', '::1', '0.0.0.1'], ['0.0.0.0', '255.255.255.255', '::', '2001:db8::1']],
    [
      isRoutable,
      ['8.8.8.8', '2001::1', ONION, '64:ff9b::102:304'],
      ['10.0.0.1', 'fc00::', 'fe80::1', '2001:10::', '192.0.2.1', '100.64.0.1'],
    ],
  ])('%o', (is, yes, no) => {
    for (const host of yes) expect(is(address(host)), host).toBe(true);
    for (const host of no) expect(is(address(host)), host).toBe(false);
  });

  it('an address that was read three bytes too early is invalid', () => {
    const shifted = Buffer.from('00000000000000ffff0102030405060708', 'hex').subarray(0, 16);
    expect(isValid({ ip: shifted })).toBe(false);
  });
});

describe('groups of addresses (netbase_tests.cpp)', () => {
  it.each([
    ['127.0.0.1', [0]],
    ['10.0.0.1', [0]],
    ['169.254.1.1', [0]],
    ['1.2.3.4', [1, 1, 2]],
    ['::FFFF:0:102:304', [1, 1, 2]],
    ['64:FF9B::102:304', [1, 1, 2]],
    ['2002:102:304:9999:9999:9999:9999:9999', [1, 1, 2]],
    ['2001:0:9999:9999:9999:9999:FEFD:FCFB', [1, 1, 2]],
    [ONION, [3, 239]],
    ['2001:470:abcd:9999:9999:9999:9999:9999', [2, 32, 1, 4, 112, 175]],
    ['2001:2001:9999:9999:9999:9999:9999:9999', [2, 32, 1, 32, 1]],
  ])('%s: %j', (host, group) => {
    expect([...groupOf(address(host))]).toEqual(group);
  });

  it('of no address and of a name are empty or internal', () => {
    expect([...groupOf(NO_ADDRESS)]).toEqual([0]);
    expect(groupOf(internalAddress('baz.net')).toString('hex')).toBe('0412929400eb4607c4ac07');
  });
});

describe('addresses as text', () => {
  // netbase_tests.cpp, netbase_lookupnumeric.
  it.each([
    ['127.0.0.1', '127.0.0.1:65535'],
    ['127.0.0.1:8333', '127.0.0.1:8333'],
    ['::ffff:127.0.0.1', '127.0.0.1:65535'],
    ['::', '[::]:65535'],
    ['[::]:8333', '[::]:8333'],
    ['[127.0.0.1]', '127.0.0.1:65535'],
    ['[fd6c:88c0:8724:1:2:3:4:5]', '[fd6c:88c0:8724:1:2:3:4:5]:65535'],
    ['5wyqrzbvrdsumnok.onion:9', '5wyqrzbvrdsumnok.onion:9'],
  ])('%s is %s', (text, printed) => {
    expect(formatNetAddress(parseNetAddress(text, 65535)!)).toBe(printed);
  });

  it.each([
    ':::',
    '',
    'localhost',
    'www.example.com:80',
    '1.2.3',
    '257.0.0.1',
    '1.2.3.4:99999',
    '[fd6b:88c0:8724:1:2:3:4:5]',
    '5wyqrzbvrdsumno1.onion',
    '5wyqrzbvrdsumno.onion',
    '.onion',
  ])('refuses %j', (text) => {
    expect(parseNetAddress(text, 1)).toBeNull();
  });

  it('parses onion names (onioncat_test)', () => {
    const onion = address('5wyqrzbvrdsumnok.onion');
    expect(onion.ip).toEqual(address(ONION).ip);
    expect(address('5WYQRZBVRDSUMNOK.onion').ip).toEqual(onion.ip);
    expect(formatHost(onion)).toBe('5wyqrzbvrdsumnok.onion');
    expect(isRoutable(onion)).toBe(true);
  });

  it('displays a name as letters', () => {
    expect(formatNetAddress(internalAddress('baz.net'))).toBe('ckjjiahliyd4jlah.internal:0');
  });

  // The form that lbrycrdd 0.17.3.3 prints in listbanned.
  it.each([
    ['::102:304', '::1.2.3.4'],
    ['::1:0:0', '::1:0:0'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['0:1:2:3:4:5:6:7', '0:1:2:3:4:5:6:7'],
    ['::2:3:4:5:6:7', '::2:3:4:5:6:7'],
    ['1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
    ['::ffff:0:102:304', '::ffff:0:102:304'],
    ['64:ff9b::102:304', '64:ff9b::102:304'],
    ['::1', '::1'],
    ['ABCD::EF01', 'abcd::ef01'],
    ['[1:2::3]', '1:2::3'],
  ])('prints %s as %s', (text, printed) => {
    expect(formatHost(address(text))).toBe(printed);
  });

  it('has a key of address and port', () => {
    const keys = ['1.2.3.4:5', '1.2.3.4:1280', '1.2.3.5:5'].map((text) =>
      addressKey(parseNetAddress(text, 0)!),
    );
    expect(keys.map((key) => Buffer.from(key, 'latin1').toString('hex'))).toEqual([
      '00000000000000000000ffff010203040005',
      '00000000000000000000ffff010203040500',
      '00000000000000000000ffff010203050005',
    ]);
  });
});

describe('subnets as text', () => {
  // netbase_tests.cpp (subnet_test) and lbrycrdd 0.17.3.3 (setban, listbanned).
  it.each([
    ['127.0.0.1', '127.0.0.1/32'],
    ['1.2.3.4/8', '1.0.0.0/8'],
    ['1.2.3.4/0', '0.0.0.0/0'],
    ['1.2.3.4/255.255.255.254', '1.2.3.4/31'],
    ['1.2.3.4/255.255.255.248', '1.2.3.0/29'],
    ['1.2.3.4/255.255.254.0', '1.2.2.0/23'],
    ['1.2.3.4/255.128.0.0', '1.0.0.0/9'],
    ['1.2.3.4/128.0.0.0', '0.0.0.0/1'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8/128'],
    ['1:2:3:4:5:6:7:8/ffff:0000:0000:0000:0000:0000:0000:0000', '1::/16'],
    ['1:2:3:4:5:6:7:8/0000:0000:0000:0000:0000:0000:0000:0000', '::/0'],
    ['1.2.3.4/255.255.232.0', '1.2.0.0/255.255.232.0'],
    [
      '1:2:3:4:5:6:7:8/ffff:ffff:ffff:fffe:ffff:ffff:ffff:ff0f',
      '1:2:3:4:5:6:7:8/ffff:ffff:ffff:fffe:ffff:ffff:ffff:ff0f',
    ],
    ['1.2.3.4/0.0.0.255', '0.0.0.4/0.0.0.255'],
    ['::ffff:1.2.3.4/24', '1.2.3.0/24'],
    ['1::/::ffff:255.255.0.0', '::/0:0:0:0:0:ffff:ffff:0'],
    ['5wyqrzbvrdsumnok.onion', '5wyqrzbvrdsumnok.onion/128'],
    ['5wyqrzbvrdsumnok.onion/20', 'fd87:d000::/20'],
    ['[1:2::3]/64', '1:2::/64'],
  ])('%s is %s', (text, printed) => {
    expect(formatSubnet(Subnet.parse(text, parseHost)!)).toBe(printed);
  });

  it.each(['::ffff:0:0/96', 'fd6b:88c0:8724::1', '1.2.3.4/ 8', '1.2.3.0/33', 'fuzzy'])(
    'refuses %s',
    (text) => {
      expect(Subnet.parse(text, parseHost)).toBeNull();
    },
  );
});

describe('reachability', () => {
  const TEREDO = '2001::8888';
  const [SIX, TUNNEL, FOUR] = ['2a00::1', '2002:102:304::1', '8.8.8.8'];

  // Rows: ours; columns: theirs. From GetReachabilityFrom.
  it.each([
    [FOUR, [4, 4, 4, 4, 4, 4]],
    [SIX, [1, 5, 1, 3, 3, 3]],
    [TUNNEL, [1, 3, 1, 3, 3, 3]],
    [TEREDO, [1, 2, 1, 2, 2, 2]],
    [ONION, [1, 1, 6, 1, 6, 6]],
    ['10.0.0.1', [0, 0, 0, 0, 0, 0]],
  ])('of %s', (ours, scores) => {
    const peers = [FOUR, SIX, ONION, TEREDO, '192.168.0.1', null];
    const local = address(ours);
    expect(peers.map((peer) => reachabilityScore(local, peer === null ? null : address(peer)))).toEqual(
      scores,
    );
  });

  it('of a name is never given', () => {
    expect(reachabilityScore(internalAddress('x'), null)).toBe(0);
  });
});
