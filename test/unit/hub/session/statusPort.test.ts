import { describe, expect, it } from 'vitest';
import { isAnswered } from '../../../../src/hub/session/statusPort.js';
import { countryNumber } from '../../../../src/node/services/hubService.js';
import { Subnet } from '../../../../src/util/network/subnet.js';

describe('the status port', () => {
  it('answers public addresses only', () => {
    for (const address of [
      '1.2.3.4',
      '8.8.8.8',
      '100.63.255.255',
      '100.128.0.0',
      '172.32.0.1',
      '192.88.98.1',
    ])
      expect(isAnswered(address), address).toBe(true);
    for (const address of [
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '169.254.1.1',
      '172.16.0.1',
      '192.88.99.1',
      '192.168.1.1',
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      'x',
    ])
      expect(isAnswered(address), address).toBe(false);
    expect(isAnswered('10.1.2.3', [Subnet.parse('10.0.0.0/8')!])).toBe(true);
  });

  it('reports the number of a country', () => {
    expect(['AF', 'fr', 'KP', 'US', '419'].map(countryNumber)).toEqual([1, 76, 118, 236, 319]);
    expect(countryNumber(undefined)).toBe(0);
    expect(() => countryNumber('XX')).toThrow('Unknown country in -hubcountry: XX');
  });
});
