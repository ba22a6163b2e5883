/** Searching in a real node: new claims at once, a reorganisation, a kill, and an index that was deleted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { create } from '@bufbuild/protobuf';
import { encodeClaim } from '../../src/metadata/claim.js';
import { ClaimSchema } from '../../src/metadata/messages/claim_pb.js';
import { startRegtest, type RegtestNode } from './support/node.js';

interface Page {
  total: number;
  height: number;
  claims: { name: string }[];
}

function value(title: string, tags: string[]): string {
  const claim = create(ClaimSchema, { title, tags, type: { case: 'stream', value: {} } });
  return encodeClaim({ channelId: null, signature: null, claim }).toString('hex');
}

describe('-claimsearch', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-claimsearch-'));
  let node: RegtestNode;
  let address: string;

  const start = async () => {
    node = await startRegtest({ dataDir: folder, args: ['-claimsearch'] });
  };
  /** The names that a search finds, once the index is there. */
  const search = async (constraints: object): Promise<string[]> => {
    for (;;) {
      try {
        const page = await node.rpc<Page>('searchclaims', [constraints]);
        expect(page.total).toBe(page.claims.length);
        return page.claims.map(({ name }) => name);
      } catch (error) {
        if (!(error as Error).message.includes('being built')) throw error;
      }
    }
  };
  const mine = () => node.rpc('generatetoaddress', [1, address]);

  beforeAll(async () => {
    await start();
    address = await node.rpc<string>('getnewaddress');
    await node.rpc('generatetoaddress', [120, address]);
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds claims as soon as their block is there', async () => {
    await node.rpc('claimname', ['first', value('History of Bitcoin', ['history']), 0.1]);
    await node.rpc('claimname', ['second', value('Bitcoin conspiracies', ['news']), 0.2]);
    await mine();
    expect(await search({ text: 'conspiracy' })).toEqual(['second']);
    expect(await search({ order_by: 'amount' })).toEqual(['second', 'first']);
    expect(await search({ any_tags: ['History'] })).toEqual(['first']);
    expect(await search({ text: 'conspiracy+history' })).toEqual([]);
  });

  it('tells what is wrong with constraints', async () => {
    await expect(node.rpc('searchclaims', [{ height: 'x' }])).rejects.toThrow('height: "x" is not a number.');
    await expect(node.rpc('searchclaims', [{ order_by: 'x' }])).rejects.toThrow('there is no field "x"');
  });

  it('follows a reorganisation', async () => {
    const tip = await node.rpc<string>('getbestblockhash');
    await node.rpc('invalidateblock', [tip]);
    expect(await search({ text: 'bitcoin' })).toEqual([]);
    await node.rpc('reconsiderblock', [tip]);
    expect((await search({ text: 'bitcoin' })).sort()).toEqual(['first', 'second']);
  });

  it('has the same after a kill, and when its file was deleted', async () => {
    await node.kill();
    await start();
    expect(await search({ order_by: '^amount' })).toEqual(['first', 'second']);
    await node.stop();
    rmSync(join(folder, 'regtest', 'claimsearch.sqlite'));
    await start();
    expect(await search({ order_by: '^amount' })).toEqual(['first', 'second']);
  });
});
