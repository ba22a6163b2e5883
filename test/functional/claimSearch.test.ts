/** Searches on a real node: new claims, a reorganisation, a kill, and a deleted index; with SQLite and PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { encodeClaim } from '../../src/metadata/claim.js';
import { ClaimSchema } from '../../src/metadata/messages/claim_pb.js';
import { newPostgresTarget, postgresUrl } from '../support/searchBackends.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { longIt } from '../support/long.js';

interface Page {
  total: number;
  height: number;
  claims: { name: string }[];
  next?: string;
}

function value(title: string, tags: string[]): string {
  const claim = create(ClaimSchema, { title, tags, type: { case: 'stream', value: {} } });
  return encodeClaim({ channelId: null, signature: null, claim }).toString('hex');
}

/** Arguments for the index, and a function that deletes the index. */
interface Kept {
  readonly args: readonly string[];
  lose(folder: string): Promise<void> | void;
}

const backends: readonly { readonly name: string; keep(): Promise<Kept> | Kept }[] = [
  {
    name: '-claimsearch',
    keep: () => ({
      args: ['-claimsearch'],
      lose: (folder) => rmSync(join(folder, 'regtest', 'claimsearch.sqlite')),
    }),
  },
  {
    name: '-claimsearchurl',
    async keep() {
      const { url, schema, remove } = await newPostgresTarget();
      return { args: [`-claimsearchurl=${url}`, `-claimsearchschema=${schema}`], lose: remove };
    },
  },
];

describe.each(postgresUrl() === null ? backends.slice(0, 1) : backends)('$name', (backend) => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-claimsearch-'));
  let node: RegtestNode;
  let address: string;
  let kept: Kept;

  const start = async () => {
    node = await startRegtest({ dataDir: folder, args: [...kept.args] });
  };
  /** Names of confirmed claims that a search finds, when the index is at the tip. */
  const search = (constraints: object): Promise<string[]> =>
    searchAll({ confirmed_only: true, ...constraints });
  const searchAll = async (constraints: object): Promise<string[]> => {
    const height = await node.rpc<number>('getblockcount');
    for (;;) {
      try {
        const page = await node.rpc<Page>('searchclaims', [constraints]);
        // On a busy machine the index may be behind and return claims that were abandoned.
        if (page.height !== height) continue;
        expect(page.total).toBe(page.claims.length);
        return page.claims.map(({ name }) => name);
      } catch (error) {
        if (!(error as Error).message.includes('being built')) throw error;
      }
    }
  };
  const mine = () => node.rpc('generatetoaddress', [1, address]);

  beforeAll(async () => {
    kept = await backend.keep();
    await start();
    address = await node.rpc<string>('getnewaddress');
    await node.rpc('generatetoaddress', [120, address]);
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds claims of a block as soon as the block is connected', async () => {
    await node.rpc('claimname', ['first', value('History of Bitcoin', ['history']), 0.1]);
    await node.rpc('claimname', ['second', value('Bitcoin conspiracies', ['news']), 0.2]);
    await mine();
    expect(await search({ text: 'conspiracy' })).toEqual(['second']);
    expect(await search({ order_by: 'amount' })).toEqual(['second', 'first']);
    expect(await search({ any_tags: ['History'] })).toEqual(['first']);
    expect(await search({ text: 'conspiracy+history' })).toEqual([]);
  });

  it('reports invalid constraints', async () => {
    await expect(node.rpc('searchclaims', [{ height: 'x' }])).rejects.toThrow('height: "x" is not a number.');
    await expect(node.rpc('searchclaims', [{ order_by: 'x' }])).rejects.toThrow('there is no field "x"');
    for (const limit of [1001, '1001', 1e15, '1e400'])
      await expect(node.rpc('searchclaims', [{ limit }])).rejects.toThrow('limit must be at most 1000');
  });

  it('follows a reorganisation', async () => {
    const tip = await node.rpc<string>('getbestblockhash');
    await node.rpc('invalidateblock', [tip]);
    expect(await search({ text: 'bitcoin' })).toEqual([]);
    // Their transactions are in the mempool again.
    expect(await searchAll({ text: 'bitcoin' })).toEqual(['second', 'first']);
    expect(await searchAll({ text: 'bitcon~1 -histori*', order_by: 'name' })).toEqual(['second']);
    expect(await searchAll({ any_tags: ['History'], height: 0 })).toEqual(['first']);
    await node.rpc('reconsiderblock', [tip]);
    expect(await searchAll({ any_tags: ['History'], height: 0 })).toEqual([]);
    expect((await search({ text: 'bitcoin' })).sort()).toEqual(['first', 'second']);
  });

  longIt('has the same contents after a kill, and after its file was deleted', async () => {
    await node.kill();
    await start();
    expect(await search({ order_by: '^amount' })).toEqual(['first', 'second']);
    await node.stop();
    await kept.lose(folder);
    await start();
    expect(await search({ order_by: '^amount' })).toEqual(['first', 'second']);
  });

  it('shows each claim once on consecutive pages while blocks are connected', async () => {
    const asked = { order_by: 'amount', limit: 2, name: ['w1', 'w2', 'w3', 'w4', 'w5', 'w6'] };
    for (let n = 1; n <= 5; n++) await node.rpc('claimname', [`w${n}`, value(`Walk ${n}`, []), 1 - n / 10]);
    await mine();
    expect(await search({ ...asked, limit: 10 })).toEqual(['w1', 'w2', 'w3', 'w4', 'w5']);
    const namesOf = ({ claims }: Page) => claims.map(({ name }) => name);
    const first = await node.rpc<Page>('searchclaims', [asked, '']);
    await node.rpc('claimname', ['w6', value('Walk 6', []), 3]);
    await mine();
    // In the new order, the second page would repeat a claim of the first page. A cursor continues in the old order.
    expect((await search({ ...asked, limit: 10 })).slice(2, 4)).toEqual(['w2', 'w3']);
    const second = await node.rpc<Page>('searchclaims', [asked, first.next]);
    const third = await node.rpc<Page>('searchclaims', [asked, second.next]);
    expect([first, second, third].map(namesOf)).toEqual([['w1', 'w2'], ['w3', 'w4'], ['w5']]);
    expect(third).toMatchObject({ total: 5, height: first.height });
    expect(third.next).toBeUndefined();
    await expect(node.rpc('searchclaims', [{ ...asked, limit: 3 }, first.next])).rejects.toThrow(
      'after: the previous page was requested with other constraints.',
    );
  });

  it('finds names by the hex of their bytes, which need not be UTF-8, in blocks and in the mempool', async () => {
    const odd = '61ff62';
    await node.rpc('claimname', [odd, value('Odd bytes', []), 0.1, false, true]);
    const found = async (constraints: object, of: (claims: object) => Promise<string[]>) =>
      of({ order_by: 'name', ...constraints });
    const shown = 'a\\u00ffb';
    expect(await found({ namehex: odd }, searchAll)).toEqual([shown]);
    expect(await found({ namehex: odd }, search)).toEqual([]);
    await mine();
    expect(await found({ namehex: odd.toUpperCase() }, search)).toEqual([shown]);
    // "W1" in hex: a name that is UTF-8 is normalized.
    expect(await found({ namehex: [odd, '5731', '00'] }, search)).toEqual(['w1', shown]);
    expect(await found({ namehex: '61' }, search)).toEqual([]);
    await expect(node.rpc('searchclaims', [{ namehex: 'zz' }])).rejects.toThrow('namehex: "zz" is not hex.');
  });
});
