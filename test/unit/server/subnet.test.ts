import { describe, expect, it } from 'vitest';
import { chooseEndpoints, splitHostPort } from '../../../src/server/endpoints.js';
import { parseIp, Subnet } from '../../../src/server/subnet.js';

function contains(subnet: string, address: string): boolean {
  const parsed = Subnet.parse(subnet);
  const ip = parseIp(address);
  if (parsed === null || ip === null) throw new Error(`${subnet} or ${address} does not parse`);
  return parsed.contains(ip);
}

describe('subnets', () => {
  // The reference's netbase_tests.cpp, subnet_test, and a few more.
  it.each([
    ['1.2.3.0/24', '1.2.3.4', true],
    ['1.2.3.0/24', '1.2.2.4', false],
    ['1.2.3.4', '1.2.3.4', true],
    ['1.2.3.4', '1.2.3.5', false],
    ['1.2.3.4/32', '1.2.3.4', true],
    ['1.2.3.0/255.255.255.0', '1.2.3.4', true],
    ['1.2.2.20/26', '1.2.2.63', true],
    ['1.2.2.20/26', '1.2.2.64', false],
    ['0.0.0.0/0', '255.1.2.3', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '1.2.3.4', true],
    ['::/0', '1:2:3:4:5:6:7:8', true],
    ['1:2:3:4:5:6:7:0/112', '1:2:3:4:5:6:7:1234', true],
    ['1:2:3:4:5:6:7:0/112', '1:2:3:4:5:6:6:1234', false],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8', true],
    ['127.0.0.0/8', '::ffff:127.0.0.1', true],
    ['::ffff:127.0.0.1', '127.0.0.1', true],
    ['fe80::/16', 'fe80::1%lo', true],
    ['1.2.3.4/255.255.232.0', '1.2.2.9', true],
  ])('%s holds %s: %s', (subnet, address, expected) => {
    expect(contains(subnet, address)).toBe(expected);
  });

  it.each([
    '',
    'x',
    '1.2.3',
    '1.2.3.4/33',
    '1.2.3.4/-1',
    '1.2.3.4/x',
    '::1/129',
    'localhost',
    '1.2.3.4/24/8',
    '1.2.3.256',
  ])('refuses %j', (text) => {
    expect(Subnet.parse(text)).toBeNull();
  });
});

describe('endpoints', () => {
  // The reference's netbase_tests.cpp, netbase_splithost.
  it.each([
    ['www.bitcoin.org', 'www.bitcoin.org', 5],
    ['[www.bitcoin.org]', 'www.bitcoin.org', 5],
    ['www.bitcoin.org:80', 'www.bitcoin.org', 80],
    ['[www.bitcoin.org]:80', 'www.bitcoin.org', 80],
    ['127.0.0.1', '127.0.0.1', 5],
    ['127.0.0.1:8333', '127.0.0.1', 8333],
    ['[127.0.0.1]:8333', '127.0.0.1', 8333],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1', 5],
    ['[::ffff:127.0.0.1]:8333', '::ffff:127.0.0.1', 8333],
    ['[::]:8333', '::', 8333],
    ['::8333', '::8333', 5],
    [':8333', '', 8333],
    ['[]:8333', '', 8333],
    ['', '', 5],
    ['host:99999', 'host:99999', 5],
  ])('splits %j', (text, host, port) => {
    expect(splitHostPort(text, 5)).toEqual({ host, port });
  });

  it('opens to others only when they are allowed', () => {
    expect(chooseEndpoints(9, ['0.0.0.0'], false)).toEqual([
      { host: '::1', port: 9 },
      { host: '127.0.0.1', port: 9 },
    ]);
    expect(chooseEndpoints(9, [], true).map((endpoint) => endpoint.host)).toEqual(['::', '0.0.0.0']);
    expect(chooseEndpoints(9, ['1.2.3.4', '[::1]:7'], true)).toEqual([
      { host: '1.2.3.4', port: 9 },
      { host: '::1', port: 7 },
    ]);
  });
});
