import { describe, expect, it } from 'vitest';
import { negotiate } from '../../../../src/hub/protocol/protocolVersion.js';

describe('negotiate', () => {
  it('finds the highest common version', () => {
    expect(negotiate('0.113.0')).toBe('0.113.0');
    expect(negotiate(null)).toBe('0.54.0');
    expect(negotiate(['0.60.0', '0.250.0'])).toBe('0.199.0');
    expect(negotiate(['0.54', '0.65.0'])).toBe('0.65.0');
    expect(negotiate('1.2')).toBe('1.2');
    expect(negotiate(['1.1', '1.4.2'])).toBe('1.4.0');
  });

  it('finds none for an old or invalid version', () => {
    for (const version of ['0.53.9', '2.0', 'x', '', '0.x.1', 7, true, [], ['0.200.0', '0.201.0']])
      expect(negotiate(version)).toBeNull();
  });
});
