import { describe, expect, it } from 'vitest';
import { RelayMemory } from '../../../../src/net/relay/relayMemory.js';

const QUARTER_HOUR_MS = 15 * 60_000;

describe('memory of announcements', () => {
  it('lasts a quarter of an hour from the first time', () => {
    const memory = new RelayMemory({ maxBytes: 1 << 20 });
    memory.add('a', Buffer.of(1), 1000);
    memory.add('b', Buffer.of(2), 2000);
    memory.add('a', Buffer.of(3), 3000);
    expect(memory.get('a', 1000 + QUARTER_HOUR_MS)).toEqual(Buffer.of(1));
    expect(memory.get('a', 1001 + QUARTER_HOUR_MS)).toBeNull();
    expect(memory.get('b', 1001 + QUARTER_HOUR_MS)).toEqual(Buffer.of(2));
    expect(memory.size).toBe(1);
  });

  it('drops the oldest at its limit', () => {
    const memory = new RelayMemory({ maxBytes: 100_000 });
    for (let i = 0; i < 1000; i++) memory.add(`key ${i}`, Buffer.alloc(850), i);
    expect(memory.size).toBe(100);
    expect(memory.get('key 899', 1000)).toBeNull();
    expect(memory.get('key 900', 1000)).not.toBeNull();
    expect(memory.get('key 999', 1000)).not.toBeNull();
    memory.add('huge', Buffer.alloc(200_000), 1000);
    expect(memory.size).toBe(0);
  });
});
