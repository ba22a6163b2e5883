import { describe, expect, it } from 'vitest';
import { chooseEndpoints } from '../../../src/server/endpoints.js';

describe('endpoints', () => {
  it('listen to other machines only if they are allowed', () => {
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
