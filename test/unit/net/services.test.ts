import { describe, expect, it } from 'vitest';
import { hasDesirableServices, mayKnowAddresses, NODE } from '../../../src/net/services.js';

describe('services', () => {
  it('are desirable with the chain and bloom filters, with or without witness', () => {
    expect(hasDesirableServices(NODE.network | NODE.bloom)).toBe(true);
    expect(hasDesirableServices(NODE.network | NODE.bloom | NODE.witness | (1n << 40n))).toBe(true);
    expect(hasDesirableServices(NODE.network | NODE.witness)).toBe(false);
    expect(hasDesirableServices(NODE.networkLimited | NODE.bloom)).toBe(false);
    expect(hasDesirableServices(0n)).toBe(false);
  });

  it('of a node with any part of the chain let it receive addresses', () => {
    expect([NODE.network, NODE.networkLimited, NODE.witness, 0n].map(mayKnowAddresses)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
