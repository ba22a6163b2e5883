import { describe, expect, it } from 'vitest';
import { ipKey } from '../../../../src/net/addressBook/entry.js';
import { formatNetAddress } from '../../../../src/net/netAddress.js';
import { at, makeBook, seededRandom, START_SEC, reported, type TestBook } from './support.js';

const SOURCE = at('252.2.2.2');
const DAY = 86_400;

const selectedText = ({ book }: TestBook, newOnly = false): string | null => {
  const found = book.select(newOnly);
  return found === null ? null : formatNetAddress(found.address);
};

// Expected values are from the reference's addrman_tests.cpp: simple, ports, select, new_collisions, tried_collisions, find,
// getaddr.
describe('adding', () => {
  it('stores an address once', () => {
    const made = makeBook();
    expect(selectedText(made)).toBeNull();
    expect(made.book.add([reported('250.1.1.1', 8333)], SOURCE)).toBe(1);
    expect(made.book.size).toBe(1);
    expect(selectedText(made)).toBe('250.1.1.1:8333');
    expect(made.book.add([reported('250.1.1.1', 8333)], SOURCE)).toBe(0);
    expect(made.book.size).toBe(1);
    made.book.clear();
    expect(made.book.size).toBe(0);
    expect(selectedText(made)).toBeNull();
    expect(made.book.add([reported('250.1.1.3', 8333), reported('250.1.1.4', 8333)], SOURCE)).toBe(2);
  });

  it('keeps the first port of an IP address', () => {
    const made = makeBook();
    made.book.add([reported('250.1.1.1', 8333)], SOURCE);
    made.book.add([reported('250.1.1.1', 8334)], SOURCE);
    expect(made.book.size).toBe(1);
    made.book.good(at('250.1.1.1', 8334));
    expect(made.book.triedCount).toBe(0);
    expect(selectedText(made, true)).toBe('250.1.1.1:8333');
    expect(formatNetAddress(made.book.lookUp(at('250.1.1.1', 1))!.address)).toBe('250.1.1.1:8333');
  });

  it('refuses unroutable addresses', () => {
    const { book } = makeBook();
    expect(
      book.add(
        [
          reported('10.0.0.1'),
          reported('127.0.0.1'),
          reported('192.168.1.1'),
          reported('0.0.0.0'),
          reported('fe80::1'),
        ],
        SOURCE,
      ),
    ).toBe(0);
    expect(book.size).toBe(0);
  });

  it('keeps one of two addresses with the same position in the new table', () => {
    const { book } = makeBook();
    for (let i = 1; i < 18; i++) {
      book.add([reported(`250.1.1.${i}`)], SOURCE);
      expect(book.size).toBe(i);
    }
    book.add([reported('250.1.1.18')], SOURCE);
    expect(book.size).toBe(17);
    book.add([reported('250.1.1.19')], SOURCE);
    expect(book.size).toBe(18);
  });

  it('keeps one of two with the same position in the tried table', () => {
    const { book } = makeBook();
    for (let i = 1; i < 80; i++) {
      book.add([reported(`250.1.1.${i}`)], SOURCE);
      book.good(at(`250.1.1.${i}`));
      expect(book.size).toBe(i);
    }
    book.add([reported('250.1.1.80')], SOURCE);
    expect(book.size).toBe(79);
    book.add([reported('250.1.1.81')], SOURCE);
    expect(book.size).toBe(80);
  });

  it('keeps the older of two unless it is terrible', () => {
    for (const [ageSec, staysOld] of [
      [30 * DAY, true],
      [30 * DAY + 1, false],
      [-600, true],
      [-601, false],
    ] as const) {
      const { book } = makeBook();
      const timeSec = START_SEC - ageSec;
      for (let i = 1; i < 18; i++) book.add([reported(`250.1.1.${i}`, 0, timeSec)], SOURCE);
      expect(book.add([reported('250.1.1.18', 0, START_SEC)], SOURCE), String(ageSec)).toBe(staysOld ? 0 : 1);
      expect(book.lookUp(at('250.1.1.18')) === null, String(ageSec)).toBe(staysOld);
    }
  });

  it('keeps an old address that was tried within the last minute', () => {
    for (const [sinceTrySec, staysOld] of [
      [60, true],
      [61, false],
    ] as const) {
      const { book } = makeBook();
      for (let i = 1; i < 18; i++) {
        book.add([reported(`250.1.1.${i}`)], SOURCE);
        book.attempt(at(`250.1.1.${i}`), false, START_SEC - sinceTrySec);
      }
      expect(book.add([reported('250.1.1.18', 0, START_SEC)], SOURCE)).toBe(staysOld ? 0 : 1);
    }
  });

  it('removes an address that failed three times and never answered, or ten times in a week', () => {
    for (const [failures, answered, staysOld] of [
      [2, false, true],
      [3, false, false],
      [9, true, true],
      [10, true, false],
    ] as const) {
      const { book, clock } = makeBook();
      const all = Array.from({ length: 17 }, (_, i) => reported(`250.1.1.${i + 1}`, 0, START_SEC));
      if (answered) {
        const stored = { services: 0n, timeSec: START_SEC, lastSuccessSec: START_SEC - 8 * DAY, attempts: 0 };
        const fresh = all.map(({ address }) => ({
          ...stored,
          ip: ipKey(address),
          port: 0,
          source: ipKey(SOURCE),
        }));
        book.restore({ key: Buffer.alloc(32), fresh, tried: [], newBuckets: null });
      } else book.add(all, SOURCE);
      for (let i = 0; i < failures; i++) {
        clock.nowSec += 1;
        book.good(at('1.1.1.1'));
        clock.nowSec += 1;
        for (const { address } of all) book.attempt(address, true);
      }
      clock.nowSec += 61;
      const added = book.add([reported('250.1.1.18', 0, START_SEC)], SOURCE);
      expect(added, `${failures} ${answered}`).toBe(staysOld ? 0 : 1);
    }
  });

  it('subtracts the time penalty, except from the own address of a node', () => {
    const { book } = makeBook();
    book.add([reported('250.1.1.1', 1, START_SEC)], SOURCE, 7200);
    book.add([reported('250.2.1.1', 1, START_SEC)], at('250.2.1.1'), 7200);
    expect(book.lookUp(at('250.1.1.1'))!.timeSec).toBe(START_SEC - 7200);
    expect(book.lookUp(at('250.2.1.1'))!.timeSec).toBe(START_SEC);
  });

  it('adds services and updates the time now and then', () => {
    const { book } = makeBook();
    const tell = (timeSec: number, services: bigint) =>
      book.add([{ ...reported('250.1.1.1', 1, timeSec), services }], SOURCE);
    tell(START_SEC - 1800, 1n);
    tell(START_SEC, 4n);
    expect(book.lookUp(at('250.1.1.1'))).toMatchObject({ timeSec: START_SEC - 1800, services: 5n });
    tell(START_SEC + 1900, 0n);
    expect(book.lookUp(at('250.1.1.1'))!.timeSec).toBe(START_SEC + 1900);
    book.setServices(at('250.1.1.1', 1), 8n);
    expect(book.lookUp(at('250.1.1.1'))!.services).toBe(8n);
    book.setServices(at('250.1.1.1', 2), 16n);
    expect(book.lookUp(at('250.1.1.1'))!.services).toBe(8n);
  });

  it('stores one address in at most 8 positions, each less likely than the one before', () => {
    const { book } = makeBook();
    const countPlaces = (): number => book.snapshot().newBuckets!.flat().length;
    const tell = (from: number, to: number): void => {
      for (let i = from; i < to; i++) {
        book.add([reported('250.1.1.1', 1, START_SEC + i)], at(`${1 + (i % 200)}.${i % 250}.1.1`));
      }
    };
    tell(0, 20);
    expect(countPlaces()).toBeGreaterThan(1);
    expect(countPlaces()).toBeLessThan(8);
    tell(20, 4000);
    expect(book.size).toBe(1);
    expect(countPlaces()).toBe(8);
  });
});

describe('selecting', () => {
  it('selects from both tables, for any port', () => {
    const made = makeBook();
    const { book } = made;
    book.add([reported('250.1.1.1', 8333)], SOURCE);
    expect(selectedText(made, true)).toBe('250.1.1.1:8333');
    book.good(at('250.1.1.1', 8333));
    expect(book.size).toBe(1);
    expect(selectedText(made, true)).toBeNull();
    expect(selectedText(made)).toBe('250.1.1.1:8333');

    book.add([reported('250.3.1.1', 8333), reported('250.3.2.2', 9999)], at('250.3.1.1', 8333));
    book.add([reported('250.3.3.3', 9999)], at('250.4.1.1', 8333));
    book.add([reported('250.4.4.4', 8333), reported('250.4.5.5', 7777)], at('250.3.1.1', 8333));
    book.add([reported('250.4.6.6', 8333)], at('250.1.1.3', 8333));
    for (const [text, port] of [
      ['250.4.4.4', 8333],
      ['250.4.5.5', 7777],
      ['250.4.6.6', 8333],
    ] as const) {
      book.good(at(text, port));
    }
    expect(book.size).toBe(7);
    expect(book.triedCount).toBe(4);
    const ports = new Set(Array.from({ length: 100 }, () => book.select()!.address.port));
    expect(ports.size).toBe(3);
    const fresh = new Set(Array.from({ length: 100 }, () => selectedText(made, true)));
    expect([...fresh].sort()).toEqual(['250.3.1.1:8333', '250.3.2.2:9999', '250.3.3.3:9999']);
  });

  it('prefers addresses without recent failures or attempts', () => {
    const { book, clock } = makeBook();
    book.add([reported('250.1.1.1', 1), reported('251.1.1.1', 1)], SOURCE);
    for (let i = 0; i < 8; i++) {
      clock.nowSec += 3600;
      // A failure counts only after another connection has succeeded since the last attempt.
      book.good(at('1.1.1.1'));
      clock.nowSec += 1;
      book.attempt(at('250.1.1.1', 1), true);
    }
    clock.nowSec += 3600;
    const count = (): number =>
      Array.from({ length: 1000 }, () => selectedText({ book, clock })).filter((x) => x === '250.1.1.1:1')
        .length;
    // Eight failures reduce the probability by 0.66 to the 8th power.
    const failed = count();
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(100);
    book.attempt(at('251.1.1.1', 1), false);
    expect(count()).toBeGreaterThan(failed);
    expect(book.lookUp(at('251.1.1.1'))!.lastTrySec).toBe(clock.nowSec);
  });

  it('counts a failure once until another connection works', () => {
    const { book, clock } = makeBook();
    book.add([reported('250.1.1.1', 1, START_SEC)], SOURCE);
    const attempts = (): number => book.snapshot().fresh[0]!.attempts;
    book.attempt(at('250.1.1.1', 1), true);
    book.attempt(at('250.1.1.1', 1), true);
    expect(attempts()).toBe(1);
    clock.nowSec += 10;
    book.good(at('1.1.1.1'));
    book.attempt(at('250.1.1.1', 1), false);
    expect(attempts()).toBe(1);
    book.attempt(at('250.1.1.1', 1), true);
    expect(attempts()).toBe(2);
  });
});

describe('connected', () => {
  it('updates the time every 20 minutes', () => {
    const { book, clock } = makeBook();
    book.add([reported('250.1.1.1', 1, START_SEC)], SOURCE);
    clock.nowSec += 1200;
    book.connected(at('250.1.1.1', 1));
    expect(book.lookUp(at('250.1.1.1'))!.timeSec).toBe(START_SEC);
    clock.nowSec += 1;
    book.connected(at('250.1.1.1', 1));
    expect(book.lookUp(at('250.1.1.1'))!.timeSec).toBe(START_SEC + 1201);
  });

  it('does not update the time on success, because that would reveal our peers', () => {
    const { book, clock } = makeBook();
    book.add([reported('250.1.1.1', 1, START_SEC)], SOURCE);
    clock.nowSec += 10_000;
    book.good(at('250.1.1.1', 1));
    expect(book.triedCount).toBe(1);
    expect(book.lookUp(at('250.1.1.1'))!.timeSec).toBe(START_SEC);
  });
});

describe('answering getaddr', () => {
  it('returns 23 percent of the addresses', () => {
    const { book } = makeBook();
    expect(book.getAddresses()).toEqual([]);
    const first = [reported('250.250.2.1', 8333, START_SEC), reported('251.252.2.3', 8333, START_SEC)];
    book.add([...first, reported('252.254.4.5', 8333, START_SEC)], at('250.1.2.1'));
    book.add(
      [reported('250.251.2.2', 9999, START_SEC), reported('252.253.3.4', 8333, START_SEC)],
      at('250.2.3.3'),
    );
    expect(book.getAddresses()).toHaveLength(1);
    book.good(at('250.250.2.1', 8333));
    book.good(at('250.251.2.2', 9999));
    expect(book.getAddresses()).toHaveLength(1);
    for (let i = 1; i < 8 * 256; i++) {
      const text = `${i % 256}.${i >> 8}.1.23`;
      book.add([reported(text, 0, START_SEC)], at(text));
      if (i % 8 === 0) book.good(at(text));
    }
    expect(book.size).toBe(2006);
    const shown = book.getAddresses();
    expect(shown).toHaveLength(461);
    expect(new Set(shown.map(({ address }) => formatNetAddress(address))).size).toBe(461);
  });

  it('returns no more than 2,500, and no terrible ones', () => {
    const { book, clock } = makeBook();
    for (let i = 0; i < 16_000; i++) {
      const text = `${1 + (i % 9)}.${(i >> 4) % 250}.${i >> 8}.${i % 250}`;
      book.add([reported(text, 1, START_SEC)], at(`${11 + (i % 100)}.${i % 251}.1.1`));
    }
    expect(book.size).toBeGreaterThan(11_000);
    expect(book.getAddresses()).toHaveLength(2500);
    clock.nowSec += 30 * DAY + 1;
    expect(book.getAddresses()).toHaveLength(0);
  });

  it('selects differently each time, and equally from the same seed', () => {
    const draws = (seed: number): string[][] => {
      const { book } = makeBook(seededRandom(seed));
      for (let i = 0; i < 100; i++)
        book.add([reported(`${i + 1}.1.1.1`, 1, START_SEC)], at(`${i + 1}.1.1.1`));
      const draw = (): string[] => book.getAddresses().map(({ address }) => formatNetAddress(address));
      return [draw(), draw()];
    };
    const [first, second] = draws(5);
    expect(first).not.toEqual(second);
    expect(draws(5)).toEqual([first, second]);
    expect(draws(6)[0]).not.toEqual(first);
  });
});
