/** Mining through the node's RPC, by a miner of the tests that shares no code with the node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import {
  blockHash,
  blockHex,
  claimIdOf,
  makeBlock,
  makeCoinbase,
  makeTransaction,
  merkleRootOf,
  mine,
  printed,
  push,
  type MinedTransaction,
  type Output,
  type Spend,
  type Template,
} from './support/templateMiner.js';
import { longIt } from '../support/long.js';

/** Anyone can spend it. */
const OPEN = Buffer.of(0x51);
const ADDRESS_SCRIPT = `76a914${'00'.repeat(20)}88ac`;
const SEGWIT = { rules: ['segwit'] };

const claimScript = (name: string, value: string): Buffer =>
  Buffer.concat([
    Buffer.of(0xb5),
    push(Buffer.from(name)),
    push(Buffer.from(value)),
    Buffer.from('6d7551', 'hex'),
  ]);
const supportScript = (name: string, claimId: Buffer): Buffer =>
  Buffer.concat([Buffer.of(0xb6), push(Buffer.from(name)), push(claimId), Buffer.from('6d7551', 'hex')]);
const updateScript = (name: string, claimId: Buffer, value: string): Buffer =>
  Buffer.concat([
    Buffer.of(0xb7),
    push(Buffer.from(name)),
    push(claimId),
    push(Buffer.from(value)),
    Buffer.from('6d6d51', 'hex'),
  ]);

describe('a miner with only templates', () => {
  let node: RegtestNode;
  beforeAll(async () => {
    node = await startRegtest({
      args: [
        '-forkheight=normalization@130',
        '-forkheight=allclaims@160',
        '-forkheight=bip34@200',
        `-miningaddress=${ADDRESS}`,
      ],
    });
  });
  afterAll(() => node.stop());

  const template = (request: object = SEGWIT): Promise<Template> => node.rpc('getblocktemplate', [request]);
  const send = async ({ bytes }: MinedTransaction): Promise<void> =>
    void (await node.rpc('sendrawtransaction', [bytes.toString('hex'), true]));

  /** Mines a block from the template. Returns the answer of `submitblock`, the coinbase and the hash. */
  async function mineOne(
    from: Template,
  ): Promise<{ said: unknown; coinbase: MinedTransaction; hash: string }> {
    const coinbase = makeCoinbase(from, OPEN);
    const block = mine(makeBlock(from, coinbase), from.target);
    return { said: await node.rpc('submitblock', [blockHex(block)]), coinbase, hash: blockHash(block) };
  }

  it('mines 200 blocks with claims', async () => {
    const rewards: Spend[] = [];
    for (let i = 0; i < 101; i++) {
      const { said, coinbase } = await mineOne(await template());
      expect(said).toBeNull();
      rewards.push({ txid: printed(coinbase.id), n: 0 });
    }
    const names = ['one', 'One', 'two', 'tw', 'twofold', 'ONE', 'three', 'é'];
    const value = 100_000_000n - 5000n;
    /** Claims and supports that can be spent, with the data from which they were made. */
    const live: { spend: Spend; name: string; claimId: Buffer; isClaim: boolean; amount: bigint }[] = [];
    const made: string[] = [];
    for (let round = 0; round < 200; round++) {
      const name = names[round % names.length]!;
      const reward = rewards.shift()!;
      const old = round % 3 === 0 ? live.shift() : undefined;
      const target = live[round % Math.max(1, live.length)];
      const outputs: Output[] = [];
      let amount = value;
      if (old?.isClaim) {
        outputs.push({ value: old.amount, script: updateScript(old.name, old.claimId, `update ${round}`) });
      } else if (old) amount += old.amount;
      const half = amount / 2n;
      const claims = round % 4 !== 3 || !target;
      outputs.push(
        {
          value: half,
          script: claims ? claimScript(name, `value ${round}`) : supportScript(target.name, target.claimId),
        },
        { value: amount - half, script: OPEN },
      );
      const tx = makeTransaction(old ? [reward, old.spend] : [reward], outputs);
      await send(tx);
      const first = await template();
      // A child of the transaction arrives after the first template was requested.
      const change = { txid: printed(tx.id), n: outputs.length - 1 };
      await send(
        makeTransaction(
          [change],
          [{ value: amount - half - 3000n, script: claimScript(`child-${round % 5}`, 'c') }],
        ),
      );
      const second = await template();
      expect(second.transactions).toHaveLength(2);
      expect(second.transactions[1]!.depends).toEqual([1]);
      // In every tenth round, the miner uses the first template. Transactions that arrived later are then mined in the next
      // block.
      const chosen = round % 10 === 9 ? first : second;
      const { said, coinbase, hash } = await mineOne(chosen);
      expect(said, `round ${round}`).toBeNull();
      if (chosen === first) expect((await mineOne(await template())).said).toBeNull();
      rewards.push({ txid: printed(coinbase.id), n: 0 });
      made.push(hash);
      const at = outputs.length - 2;
      const claimId = claims ? claimIdOf(tx.id, at) : target.claimId;
      live.push({
        spend: { txid: printed(tx.id), n: at },
        name: claims ? name : target.name,
        claimId,
        isClaim: claims,
        amount: half,
      });
      if (old?.isClaim) live.push({ ...old, spend: { txid: printed(tx.id), n: 0 } });
    }
    expect(await node.rpc('getblockcount')).toBe(101 + 200 + 20);
    expect(await node.rpc('getrawmempool')).toEqual([]);
    expect(made).toContain(await node.rpc('getblockhash', [150]));
    const { claims } = await node.rpc<{ claims: unknown[] }>('getclaimsforname', ['one']);
    expect(claims.length).toBeGreaterThan(3);
    expect(await node.rpc('verifychain', [4, 0])).toBe(true);
  });

  it("gets templates without a change of the node's state", async () => {
    const before = await node.rpc('gettxoutsetinfo');
    const names = await node.rpc('gettotalclaimednames');
    const one = await template();
    const two = await template();
    expect({ ...two, curtime: 0 }).toEqual({ ...one, curtime: 0 });
    expect(await node.rpc('gettxoutsetinfo')).toEqual(before);
    expect(await node.rpc('gettotalclaimednames')).toEqual(names);
    expect(await node.rpc('getbestblockhash')).toBe(one.previousblockhash);
  });

  it('mines on the coinbase of the node', async () => {
    const asked = await template({ ...SEGWIT, capabilities: ['coinbasetxn', 'workid', 'coinbase/append'] });
    expect(asked.workid).toEqual(expect.any(String));
    const { data, txid, fee } = asked.coinbasetxn!;
    expect(fee).toBe(0);
    const coinbase = { bytes: Buffer.from(data, 'hex'), id: Buffer.from(txid, 'hex').reverse() };
    const block = mine(makeBlock(asked, coinbase), asked.target);
    expect(await node.rpc('submitblock', [blockHex(block), { workid: asked.workid }])).toBeNull();
    const { tx } = await node.rpc<{ tx: string[] }>('getblock', [blockHash(block)]);
    expect(tx).toEqual([txid]);
    expect(await node.rpc('gettxout', [txid, 0])).toMatchObject({
      coinbase: true,
      scriptPubKey: { hex: ADDRESS_SCRIPT },
    });
    expect(asked.coinbasevalue).toBe(100_000_000);
  });

  it('long-polls for better work', async () => {
    const { longpollid, previousblockhash, height } = await template();
    const waiting = template({ ...SEGWIT, longpollid });
    const anyId = template({ ...SEGWIT, longpollid: 1 });
    // Any id other than the present one is stale, so the answer comes at once.
    const stale = await template({ ...SEGWIT, longpollid: `${'00'.repeat(32)}5` });
    expect(stale.previousblockhash).toBe(previousblockhash);
    const { hash } = await mineOne(stale);
    expect(await waiting).toMatchObject({ previousblockhash: hash, height: height + 1 });
    expect(await anyId).toMatchObject({ previousblockhash: hash, height: height + 1 });
    await expect(template({ ...SEGWIT, longpollid: 'short' })).rejects.toThrow('substr');
  });

  it('long-polls without delaying others, however many wait', async () => {
    const { longpollid, height } = await template();
    // More calls than the limits for running and for queued calls.
    const polls: Promise<Template>[] = [];
    const blocks: Promise<unknown>[] = [];
    for (let n = 0; n < 15; n++) {
      polls.push(template({ ...SEGWIT, longpollid }), template({ ...SEGWIT, longpollid }));
      blocks.push(node.rpc('waitforblockheight', [height]));
      await node.rpc('getblockcount');
    }
    expect((await mineOne(await template())).said).toBeNull();
    for (const poll of polls) expect((await poll).height).toBe(height + 1);
    for (const block of blocks) expect(await block).toMatchObject({ height });
  });

  it('must support segwit, except in the lbcd profile', async () => {
    const message = 'Segwit support is now required. Please include "segwit" in the client\'s rules.';
    for (const request of [{}, { rules: ['csv'] }, { rules: 'segwit' }]) {
      await expect(template(request)).rejects.toMatchObject({ code: -8, message });
    }
    const body = JSON.stringify({
      id: 1,
      method: 'getblocktemplate',
      params: [{ longpollid: 'none of ours' }],
    });
    const { result } = JSON.parse((await node.post(body, '/lbcd')).text) as { result: Template };
    expect(result).toMatchObject({
      rules: ['segwit'],
      mutable: expect.arrayContaining(['coinbase/append']),
    });
    expect(result.maxtime).toBeGreaterThan(result.curtime);
  });

  describe('proposals', () => {
    let good: Template;
    let coinbase: MinedTransaction;
    beforeAll(async () => {
      good = await template();
      coinbase = makeCoinbase(good, OPEN);
    });
    const proposeHex = (data: string): Promise<unknown> =>
      node.rpc('getblocktemplate', [{ mode: 'proposal', data, rules: ['segwit'] }]);
    const propose = (changes: object = {}): Promise<unknown> =>
      proposeHex(blockHex({ ...makeBlock(good, coinbase), ...changes }));
    const withTransactions = (...transactions: MinedTransaction[]): object => ({
      transactions,
      merkleRoot: merkleRootOf(transactions),
    });
    const reward = { txid: '11'.repeat(32), n: 0 };
    const output = { value: 1n, script: OPEN };

    it('are valid if a block from the template would be', async () => {
      expect(await propose()).toBeNull();
      expect(await node.rpc('getbestblockhash')).toBe(good.previousblockhash);
    });

    it('are invalid like blocks', async () => {
      const header = makeBlock(good, coinbase);
      const flipped = Buffer.from(header.claimRoot);
      flipped[3]! ^= 1;
      const noCoinbase = makeTransaction([reward], [output]);
      const rich = makeCoinbase({ ...good, coinbasevalue: good.coinbasevalue + 1 }, OPEN);
      const bare = makeCoinbase({ ...good, default_witness_commitment: undefined as never }, OPEN);
      const bareCommitted = makeTransaction(
        [{ txid: '00'.repeat(32), n: 0xffffffff }],
        [{ value: 0n, script: Buffer.from(good.default_witness_commitment!, 'hex') }],
        { coinbaseScript: makeHeight(good.height) },
      );
      const unknown = makeTransaction([reward], [output]);
      const locked = makeTransaction([reward], [output], { lockTime: 2 ** 32 - 1, sequence: 0 });
      const cases: [string, object, string | null][] = [
        ['without commitment', withTransactions(bare), null],
        ['no coinbase', withTransactions(noCoinbase), 'bad-cb-missing'],
        ['two coinbases', withTransactions(coinbase, makeCoinbase(good, ADDRESS_BYTES)), 'bad-cb-multiple'],
        ['a transaction twice', withTransactions(bare, bare), 'bad-txns-duplicate'],
        ['unknown inputs', withTransactions(bare, unknown), 'bad-txns-inputs-missingorspent'],
        ['locked', withTransactions(bare, locked), 'bad-txns-nonfinal'],
        ['difficulty', { bits: 0x1d00ffff }, 'bad-diffbits'],
        ['merkle root', { merkleRoot: flipped }, 'bad-txnmrklroot'],
        ['claim root', { claimRoot: flipped }, 'bad-claim-merkle-hash'],
        ['too late', { time: 2 ** 31 - 1 }, 'time-too-new'],
        ['too early', { time: 0 }, 'time-too-old'],
        ['version', { version: 1 }, 'bad-version(0x00000001)'],
        ['height', withTransactions(makeCoinbase(good, OPEN, good.height + 1)), 'bad-cb-height'],
        ['amount', withTransactions(rich), 'bad-cb-amount'],
        ['no reserved value', withTransactions(bareCommitted), 'bad-witness-nonce-size'],
        ['another parent', { previous: Buffer.alloc(32, 7) }, 'inconclusive-not-best-prevblk'],
      ];
      for (const [title, changes, reason] of cases) expect(await propose(changes), title).toBe(reason);
    });

    it('are refused if they are not blocks', async () => {
      const hex = blockHex(makeBlock(good, coinbase));
      const decode = { code: -22, message: 'Block decode failed' };
      await expect(proposeHex(hex.slice(0, -2))).rejects.toMatchObject(decode);
      await expect(proposeHex(`${hex.slice(0, 224)}02${hex.slice(226)}`)).rejects.toMatchObject(decode);
      await expect(proposeHex('')).rejects.toMatchObject(decode);
      await expect(proposeHex('xy')).rejects.toMatchObject(decode);
      await expect(node.rpc('submitblock', [hex.slice(0, -2)])).rejects.toMatchObject(decode);
      await expect(node.rpc('submitblock')).rejects.toMatchObject({ code: -1 });
      await expect(
        node.rpc('submitblock', [blockHex({ ...makeBlock(good, makeTransaction([reward], [output])) })]),
      ).rejects.toMatchObject({ code: -22, message: 'Block does not start with a coinbase' });
      await expect(node.rpc('getblocktemplate', [{ mode: 'proposal' }])).rejects.toMatchObject({
        code: -3,
        message: 'Missing data String key for proposal',
      });
      for (const mode of ['other', 5]) {
        await expect(node.rpc('getblocktemplate', [{ ...SEGWIT, mode }])).rejects.toMatchObject({
          code: -8,
          message: 'Invalid mode',
        });
      }
    });

    it('are distinguished from known blocks', async () => {
      const wrong = mine({ ...makeBlock(good, coinbase), claimRoot: Buffer.alloc(32, 1) }, good.target);
      expect(await node.rpc('submitblock', [blockHex(wrong)])).toBe('bad-claim-merkle-hash');
      expect(await proposeHex(blockHex(wrong))).toBe('duplicate-invalid');
      const right = mine(makeBlock(good, coinbase), good.target);
      expect(await node.rpc('submitblock', [blockHex(right)])).toBeNull();
      expect(await proposeHex(blockHex(right))).toBe('duplicate');
      const beside = mine({ ...makeBlock(good, coinbase), time: good.curtime + 1 }, good.target);
      expect(await node.rpc('submitblock', [blockHex(beside)])).toBe('inconclusive');
      expect(await node.rpc('submitblock', [blockHex(beside)])).toBe('duplicate');
      expect(await proposeHex(blockHex(beside))).toBe('duplicate-inconclusive');
    });
  });

  longIt('ends the long poll when the node stops', async () => {
    const { longpollid } = await template();
    const waiting = template({ ...SEGWIT, longpollid }).then(
      () => 'answered',
      (error: unknown) => String(error),
    );
    await template();
    await node.stop();
    expect(await waiting).toMatch(/Shutting down|socket hang up|ECONN/);
  });
});

const ADDRESS_BYTES = Buffer.from(ADDRESS_SCRIPT, 'hex');

function makeHeight(height: number): Buffer {
  return Buffer.from([2, height & 255, height >> 8]);
}
