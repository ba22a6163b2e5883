import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KnownHubs } from '../../../../src/daemon/ledger/hub/knownHubs.js';
import type { OpenLedger } from '../../../../src/daemon/ledger/openLedger.js';
import { Location_Country } from '../../../../src/metadata/messages/claim_pb.js';
import { joinHostPort } from '../../../../src/util/network/hostPort.js';
import { FakeChain, FakeHub } from '../../../support/fakeHub.js';
import { testAccount, TestLedgers } from '../../../support/testLedger.js';

let folder: string;
let path: string;
let warnings: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'known-hubs-'));
  path = join(folder, 'known_hubs.yml');
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (): KnownHubs =>
  new KnownHubs(path, { warn: (text) => void warnings.push(text), info: () => undefined });
const names = (known: KnownHubs): string[] => known.servers.map(joinHostPort);

describe('KnownHubs', () => {
  it('saves hubs reported by others, in the file format of lbrynet', () => {
    const known = open();
    expect(names(known)).toEqual([]);
    known.add(['one.example.com:50001', '192.0.2.7:50001']);
    known.setCountry({ host: 'one.example.com', port: 50001 }, 'FR');
    known.setCountry({ host: 'nobody.example.com', port: 50001 }, 'FR');
    known.add(['two.example.com:50002', 'one.example.com:50001']);
    expect(parse(readFileSync(path, 'utf8'))).toEqual({
      'one.example.com:50001': { country: 'FR' },
      '192.0.2.7:50001': {},
      'two.example.com:50002': {},
    });
    writeFileSync(path, 'one.example.com:50001:\n  country: FR\ntwo.example.com:50002: {}\nnot a hub: {}\n');
    expect(names(open())).toEqual(['one.example.com:50001', 'two.example.com:50002']);
    expect(warnings).toEqual([]);
  });

  it('writes countries so that YAML 1.1 reads strings, as lbrynet does', () => {
    const known = open();
    known.add(['one.example.com:50001']);
    // `NO` and `ON` are booleans in YAML 1.1.
    for (const country of ['NO', 'FR', 'Y', '12']) {
      known.setCountry({ host: 'one.example.com', port: 50001 }, country);
      known.add([`${country.toLowerCase()}.example.com:1`]);
      const read = parse(readFileSync(path, 'utf8'), { version: '1.1' }) as Record<string, unknown>;
      expect(read['one.example.com:50001']).toEqual({ country });
    }
  });

  it('accepts only servers, and no more than it can query', () => {
    const known = open();
    for (const wrong of [
      null,
      'x:1',
      {},
      [''],
      [null],
      [7],
      ['a:b:1'],
      ['[::1]:50001'],
      ['host'],
      ['host:0'],
    ])
      known.add(wrong);
    known.add(['host:65536', 'host:01', ' host:1', 'a/b:1', `${'a'.repeat(254)}:1`, '__proto__', ':1']);
    expect(names(known)).toEqual([]);
    known.add(Array.from({ length: 100_000 }, (_, n) => `hub${n}.example.com:50001`));
    expect(names(known)).toHaveLength(128);
    expect(names(open())).toHaveLength(128);
  });

  it.each(['{', '- a list', 'one: [', '\0'])('reports the corrupt file %j and rebuilds it', (text) => {
    writeFileSync(path, text);
    const known = open();
    expect(names(known)).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(`${path} is corrupt`)]);
    known.add(['one.example.com:50001']);
    expect(names(open())).toEqual(['one.example.com:50001']);
  });
});

describe('a wallet on hubs that report others', () => {
  const ledgers = new TestLedgers();
  const hubs: FakeHub[] = [];
  afterEach(async () => {
    await ledgers.closeAll();
    for (const hub of hubs.splice(0)) await hub.stop();
  });

  async function startHubs(count: number): Promise<FakeHub[]> {
    const chain = new FakeChain();
    chain.mine(2);
    for (let n = 0; n < count; n++) hubs.push(await FakeHub.start(chain));
    return hubs;
  }

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  const connected = async (ledger: OpenLedger, hub: FakeHub): Promise<void> => {
    await ledger.add(testAccount('alice'));
    await ledger.whenSynced();
    await until(() => hub.connections === 1);
  };

  it('continues with one of them if the named one is down, and finds them at the next start', async () => {
    const [first, second, third] = (await startHubs(3)) as [FakeHub, FakeHub, FakeHub];
    first.answer = (method) =>
      method === 'server.peers.subscribe' ? [joinHostPort(second.server)] : undefined;
    await second.answerPings(0);
    const times = { pingMs: 50, retryMs: [10, 50], distrustMs: 60_000 } as const;
    const further = { known: open(), areAsked: () => true };
    const servers = [first.server];
    const { ledger } = await ledgers.open([], { servers, further, times });
    await connected(ledger, first);
    await until(() => names(further.known).length === 1);
    first.say('blockchain.peers.subscribe', [joinHostPort(third.server)]);
    await until(() => names(further.known).length === 2);
    expect(ledger.status()).toMatchObject({ known_servers: 3 });
    await first.stop();
    await until(() => second.connections === 1);
    await ledgers.close(ledger);

    const again = await ledgers.open([], { servers, further: { ...further, known: open() }, times });
    await connected(again.ledger, second);
    await ledgers.close(again.ledger);

    const named = await ledgers.open([third], { further: { known: open(), areAsked: () => false }, times });
    await connected(named.ledger, third);
    expect(second.connections).toBe(0);
    expect(named.ledger.status()).toMatchObject({ known_servers: 1 });
  });

  it('uses only hubs of the configured country', async () => {
    const [french, german, silent] = (await startHubs(3)) as [FakeHub, FakeHub, FakeHub];
    await french.answerPings(Location_Country.FR);
    await german.answerPings(Location_Country.DE);
    let country: string = 'DE';
    const times = { pingMs: 50, retryMs: [10, 50], distrustMs: 60_000 } as const;
    const { ledger, warnings: said } = await ledgers.open([french, german, silent], {
      country: () => country,
      times,
    });
    await connected(ledger, german);
    country = 'FR';
    void ledger.reconnect();
    await until(() => french.connections === 1 && german.connections === 0);
    country = 'US';
    void ledger.reconnect();
    const none = /^No hub in the country US .*: 2 of 3 answered \(.*FR.*\)\.$/;
    await until(() => said.some((text) => none.test(text)));
    expect([french, german, silent].map(({ connections }) => connections)).toEqual([0, 0, 0]);
  });
});
