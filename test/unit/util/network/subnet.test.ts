import { describe, expect, it } from 'vitest';
import { parseIp, Subnet } from '../../../../src/util/network/subnet.js';

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
    ['[::1]', '::1', true],
    ['[::1]/128', '::1', true],
    ['[::1]/128', '::2', false],
    ['[1:2:3:4:5:6:7:0]/112', '1:2:3:4:5:6:7:1234', true],
  ])('%s contains %s: %s', (subnet, address, expected) => {
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
    '[::1',
    '[::1/128]',
    '[::1]/129',
    '[]',
  ])('refuses %j', (text) => {
    expect(Subnet.parse(text)).toBeNull();
  });
});

describe('the definition of a subnet', () => {
  it('is one address without a mask, and equal for all notations of the mask', () => {
    expect(Subnet.parse('1.2.3.4')).toEqual(Subnet.parse('1.2.3.4/32'));
    expect(Subnet.parse('1.2.3.99/24')).toEqual(Subnet.parse('::ffff:1.2.3.0/255.255.255.0'));
    expect(Subnet.single(parseIp('::1')!)).toEqual(Subnet.parse('::1/128'));
  });

  it.each([
    ['1.2.3.4', 32],
    ['1.2.3.4/0', 0],
    ['1.2.3.4/255.255.254.0', 23],
    ['1.2.3.4/255.255.232.0', null],
    ['1.2.3.4/0.0.0.255', null],
    ['::', 128],
    ['::/0', 0],
    ['1::/ffff:8000::', 17],
  ])('%s has a prefix of %s bits', (text, bits) => {
    expect(Subnet.parse(text)!.prefixBits).toBe(bits);
  });

  it('accepts further notations of an address', () => {
    const parse = (host: string): Uint8Array | null => (host === 'here' ? parseIp('::1') : null);
    expect(Subnet.parse('here/64', parse)).toEqual(Subnet.parse('::/64'));
    expect(Subnet.parse('::1', parse)).toBeNull();
  });
});
