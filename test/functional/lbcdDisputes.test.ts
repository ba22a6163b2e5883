/** Log messages when a block is refused for claims that lbcd may decide differently. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../src/script/claimScript.js';
import { ClaimSource } from './support/claimSource.js';
import { OPEN_ADDRESS } from './support/network.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { blockHex, makeBlock, makeCoinbase, mine, type Template } from './support/templateMiner.js';

const OPEN = Buffer.of(0x51);

describe('a block with another claim root', () => {
  let node: RegtestNode;
  beforeAll(async () => {
    node = await startRegtest({ args: ['-acceptnonstdtxn'] });
  });
  afterAll(() => node.stop());

  const refuseOne = async (): Promise<string[]> => {
    const template = await node.rpc<Template>('getblocktemplate', [{ rules: ['segwit'] }]);
    const block = { ...makeBlock(template, makeCoinbase(template, OPEN)), claimRoot: Buffer.alloc(32, 1) };
    const answer = await node.rpc('submitblock', [blockHex(mine(block, template.target))]);
    expect(answer).toBe('bad-claim-merkle-hash');
    const log = readFileSync(join(node.dataDir, 'regtest', 'debug.log'), 'utf8');
    return log.split('\n').filter((line) => line.includes(`at height ${template.height}:`));
  };
  const generate = (count: number): Promise<unknown> => node.rpc('generatetoaddress', [count, OPEN_ADDRESS]);

  it('is reported with the difference in an earlier block', async () => {
    await generate(105);
    const source = new ClaimSource(node);
    const stake = async (prefix: Buffer): Promise<Buffer> => {
      const { hex, hash } = await source.stake(prefix, 1_000_000n);
      await node.rpc('sendrawtransaction', [hex, true]);
      await generate(1);
      return claimIdOf(hash, 0) as Buffer;
    };
    const name = Buffer.from('name');
    const claimId = await stake(buildClaimPrefix(name, Buffer.from('value')));
    const plain = await refuseOne();
    expect(plain.some((line) => line.includes('bad-claim-merkle-hash'))).toBe(true);
    expect(plain.some((line) => line.includes('lbcd'))).toBe(false);
    await stake(buildSupportPrefix(name, claimId, Buffer.from('metadata')));
    await generate(3);
    const reported = await refuseOne();
    expect(reported.find((line) => line.includes('lbcd'))).toMatch(
      /before the all-claims fork, lbcd counts supports with metadata, and lbrycrd does not; in block 107 this may have led lbcd to a different claim trie/,
    );
  });
});
