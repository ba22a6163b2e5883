import { expect, it } from 'vitest';
import { ChainEvents, type ChainEventMap } from '../../../../src/chain/chainEvents.js';
import { loadNative } from '../../../../src/native/binding.js';
import { chooseMappedAllocations } from '../../../../src/node/watch/mappedAllocations.js';

it('maps more allocations while blocks of the initial download are connected', () => {
  const events = new ChainEvents();
  const set: number[] = [];
  chooseMappedAllocations(events, { mapAllocationsFrom: (bytes) => set.push(bytes) > 0 });
  expect(set).toEqual([1 << 20]);
  const tip = (initialDownload: boolean): void =>
    events.emit('tipChanged', { initialDownload } as ChainEventMap['tipChanged']);
  tip(false);
  tip(true);
  tip(true);
  expect(set.slice(1)).toEqual([128 << 10]);
  tip(false);
  tip(false);
  expect(set.slice(2)).toEqual([1 << 20]);
});

it.skipIf((loadNative()?.heapUsage() ?? null) === null)('sets the size in the C library', () => {
  const native = loadNative()!;
  const mapped = (): number => native.heapUsage()!.mappedBytes;
  const growth = (bytes: number): number => {
    const before = mapped();
    const memory = Buffer.allocUnsafeSlow(bytes);
    memory[bytes - 1] = 1;
    return mapped() - before;
  };
  // Larger than the free memory that the C library keeps at the end of the heap.
  const bytes = 20_000_000;
  expect(native.mapAllocationsFrom(32 << 20)).toBe(true);
  expect(growth(bytes)).toBe(0);
  expect(native.mapAllocationsFrom(128 << 10)).toBe(true);
  expect(growth(bytes)).toBeGreaterThanOrEqual(bytes);
  expect(() => native.mapAllocationsFrom('1' as never)).toThrow(TypeError);
});
