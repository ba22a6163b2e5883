import { describe, expect, it } from 'vitest';
import { ScriptSet } from '../../../../src/rpc/lookup/scriptSet.js';
import { Random, randomScript } from '../../../differential/support.js';

describe('ScriptSet', () => {
  it('contains the added scripts once, and no others', () => {
    const random = new Random(41);
    const set = new ScriptSet();
    const known = new Map<string, Buffer>();
    const lengths = [0, 1, 2, 3, 22, 23, 25, 35, 67];
    for (let i = 0; i < 5000; i++) {
      const script = i % 3 === 0 ? randomScript(random) : random.bytes(random.pick(lengths));
      known.set(script.toString('latin1'), script);
      set.add(script);
      set.add(Buffer.from(script));
    }
    expect(set.size).toBe(known.size);
    for (const script of known.values()) expect(set.has(script)).toBe(true);
    for (let i = 0; i < 2000; i++) {
      const script = random.bytes(random.pick(lengths));
      expect(set.has(script)).toBe(known.has(script.toString('latin1')));
    }
  });
});
