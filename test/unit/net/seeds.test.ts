import { beforeEach, describe, expect, it, vi } from 'vitest';
import { formatNetAddress, groupOf, internalAddress, parseHost } from '../../../src/net/netAddress.js';
import { addFixedSeeds, seedFromDns, type SeedDeps, type SeedOptions } from '../../../src/net/seeds.js';
import { mainParams } from '../../../src/params/main.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { testParams } from '../../../src/params/test.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { at, makeBook, seededRandom, START_SEC, reported, type TestBook } from './addressBook/support.js';

const DAY = 86_400;
const OPTIONS: SeedOptions = {
  dnsSeeds: ['one.example', 'two.example', 'three.example'],
  fixedSeeds: [
    { host: '1.2.3.4', port: 9246 },
    { host: '5.6.7.8', port: 77 },
  ],
  port: 9246,
  services: 5n,
  force: false,
  patienceMs: 1,
};

let made: TestBook;
let asked: string[];
let oneShots: string[];
let abort: AbortController;

beforeEach(() => {
  made = makeBook();
  asked = [];
  oneShots = [];
  abort = new AbortController();
});

function deps(changes: Partial<SeedDeps> = {}): SeedDeps {
  return {
    book: made.book,
    random: seededRandom(8),
    log: SILENT_LOGGER,
    nowSec: () => START_SEC,
    hasNameProxy: () => false,
    resolve: (host) => {
      asked.push(host);
      const texts = host === 'x5.one.example' ? ['8.8.8.8', '9.9.9.9'] : ['8.8.4.4'];
      return Promise.resolve(host === 'x5.two.example' ? [] : texts.map((text) => parseHost(text)!));
    },
    addOneShot: (name) => void oneShots.push(name),
    countOutboundPeers: () => 0,
    ...changes,
  };
}

const seed = (options = OPTIONS, given = deps()): Promise<void> => seedFromDns(options, given, abort.signal);
const known = (): string[] =>
  made.book
    .snapshot()
    .fresh.map(({ ip, port }) => {
      return formatNetAddress({ ip: Buffer.from(ip, 'latin1'), port });
    })
    .sort();

describe('name servers', () => {
  it('are asked for nodes with our services; one without such filters is asked as a peer', async () => {
    await seed();
    expect(asked).toEqual(['x5.one.example', 'x5.two.example', 'x5.three.example']);
    expect(oneShots).toEqual(['two.example']);
    expect(known()).toEqual(['8.8.4.4:9246', '8.8.8.8:9246', '9.9.9.9:9246']);
    for (const { services, timeSec, source } of made.book.snapshot().fresh) {
      expect(services).toBe(5n);
      expect(START_SEC - timeSec).toBeGreaterThanOrEqual(3 * DAY);
      expect(START_SEC - timeSec).toBeLessThan(7 * DAY);
      expect(source.startsWith('\xfd\x6b\x88\xc0\x87\x24')).toBe(true);
    }
  });

  it('are sources of different groups', () => {
    const groups = OPTIONS.dnsSeeds.map((name) => groupOf(internalAddress(`x5.${name}`)).toString('hex'));
    expect(new Set(groups).size).toBe(3);
  });

  it('become peers if names are resolved by a proxy', async () => {
    await seed(OPTIONS, deps({ hasNameProxy: () => true }));
    expect(asked).toEqual([]);
    expect(oneShots).toEqual(OPTIONS.dnsSeeds);
    expect(made.book.size).toBe(0);
  });

  it('are not asked if there are addresses and two peers', async () => {
    made.book.add([reported('1.1.1.1')], at('1.1.1.1'));
    await seed(OPTIONS, deps({ countOutboundPeers: () => 2 }));
    expect(asked).toEqual([]);
    await seed({ ...OPTIONS, force: true }, deps({ countOutboundPeers: () => 2 }));
    expect(asked).toHaveLength(3);
    asked = [];
    await seed(OPTIONS, deps({ countOutboundPeers: () => 1 }));
    expect(asked).toHaveLength(3);
  });

  it('are not asked after the node stops', async () => {
    const given = deps();
    const resolve: SeedDeps['resolve'] = (host, signal) => {
      abort.abort();
      return given.resolve(host, signal);
    };
    await seed(OPTIONS, { ...given, resolve });
    expect(asked).toHaveLength(1);
    expect(made.book.size).toBe(0);
    expect(oneShots).toEqual([]);
    made.book.add([reported('1.1.1.1')], at('1.1.1.1'));
    await seed({ ...OPTIONS, patienceMs: 1e9 });
    expect(asked).toHaveLength(1);
  });
});

describe('fixed seeds', () => {
  it('are stored as seen one to two weeks ago, with a log line if there are any', () => {
    const info = vi.fn();
    const log = { ...SILENT_LOGGER, info };
    addFixedSeeds({ ...OPTIONS, fixedSeeds: [] }, { ...deps(), log });
    expect(info).not.toHaveBeenCalled();
    addFixedSeeds(OPTIONS, { ...deps(), log });
    expect(info.mock.calls).toEqual([[expect.stringContaining('Adding fixed seed nodes')]]);
    expect(known()).toEqual(['1.2.3.4:9246', '5.6.7.8:77']);
    for (const { timeSec, services } of made.book.snapshot().fresh) {
      expect(services).toBe(5n);
      expect(START_SEC - timeSec).toBeGreaterThanOrEqual(7 * DAY);
      expect(START_SEC - timeSec).toBeLessThan(14 * DAY);
    }
  });

  it.each([mainParams, testParams, regtestParams])(
    'of $name are addresses or names to ask once, without duplicates',
    (params) => {
      addFixedSeeds({ ...OPTIONS, fixedSeeds: params.fixedSeeds }, deps());
      const names = params.fixedSeeds.filter(({ host }) => /[a-z]/.test(host));
      expect(made.book.size).toBe(params.fixedSeeds.length - names.length);
      expect(oneShots).toEqual(names.map(({ host, port }) => `${host}:${port}`));
      expect(params.fixedSeeds.every(({ port }) => port === params.p2pPort)).toBe(true);
      const { dnsSeeds } = params;
      // The same seeds had the domain lbry.io before.
      expect(new Set(dnsSeeds.map((name) => name.replace(/lbry\.io$/, 'lbry.com'))).size).toBe(
        dnsSeeds.length,
      );
      expect(dnsSeeds.length === 0).toBe(params.name === 'regtest');
    },
  );
});
