import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PrefixFilter } from '../../../src/util/prefixFilter.js';

const hashOf = (n: number): Buffer => createHash('sha256').update(`${n}`).digest();

describe('PrefixFilter', () => {
  it('contains every member at each size, and few others', () => {
    const members: string[] = [];
    const filter = new PrefixFilter(() => members);
    for (let n = 0; n < 20_000; n++) {
      members.push(hashOf(n).toString('latin1'));
      filter.add(members[n]!);
      expect(filter.mayHave(hashOf(n), 0)).toBe(true);
    }
    expect(members.every((_, n) => filter.mayHave(Buffer.concat([Buffer.alloc(3), hashOf(n)]), 3))).toBe(
      true,
    );
    const others = Array.from({ length: 20_000 }, (_, n) => hashOf(-1 - n));
    expect(others.filter((hash) => filter.mayHave(hash, 0)).length).toBeLessThan(20_000 / 20);
  });

  it('is empty at first', () => {
    expect(new PrefixFilter(() => []).mayHave(hashOf(1), 0)).toBe(false);
  });
});
