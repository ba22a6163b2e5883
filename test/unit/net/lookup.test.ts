import { describe, expect, it } from 'vitest';
import { lookUpAddress, type LookUp } from '../../../src/net/lookup.js';
import { formatNetAddress } from '../../../src/net/netAddress.js';

describe('an address given by the operator', () => {
  const asked: string[] = [];
  const answering =
    (...answer: string[]): LookUp =>
    (host) => {
      asked.push(host);
      return answer.length > 0 ? Promise.resolve(answer) : Promise.reject(new Error('no such host'));
    };
  const shown = async (text: string, lookUp: LookUp | null): Promise<string | null> => {
    const address = await lookUpAddress(text, 9246, lookUp);
    return address && formatNetAddress(address);
  };

  it.each([
    ['8.8.8.8', '8.8.8.8:9246'],
    ['8.8.8.8:1', '8.8.8.8:1'],
    ['[2a01::1]:7', '[2a01::1]:7'],
    ['expyuzz4wqqyqhjn.onion', 'expyuzz4wqqyqhjn.onion:9246'],
    ['0.0.0.0', null],
  ])('may be the address %s', async (text, expected) => {
    asked.length = 0;
    expect(await shown(text, answering('1.1.1.1'))).toBe(expected);
    expect(asked).toEqual([]);
  });

  it('may be a name; its first address is used', async () => {
    asked.length = 0;
    expect(await shown('node.example:5', answering('8.8.4.4', '8.8.8.8'))).toBe('8.8.4.4:5');
    expect(await shown('node.example', answering('2a01::5'))).toBe('[2a01::5]:9246');
    expect(asked).toEqual(['node.example', 'node.example']);
  });

  it('may be invalid', async () => {
    asked.length = 0;
    expect(await shown('node.example', null)).toBeNull();
    for (const text of ['', 'cut.onion', 'x.onion.', 'a.'.repeat(128)])
      expect(await shown(text, answering('8.8.8.8'))).toBeNull();
    expect(asked).toEqual([]);
    expect(await shown('node.example', answering())).toBeNull();
    expect(await shown('node.example', answering('0.0.0.0'))).toBeNull();
    expect(await shown('node.example', answering('nonsense'))).toBeNull();
  });
});
