/**
 * Chains with many operations in the blocks around each claim fork, mined by lbrycrd and submitted to this node; new seeds in
 * each run. After each fork another branch across it replaces the first one, and this node switches between both several times.
 * At the end this node rebuilds its state from its blocks. A chain during which the process of lbrycrd ends by itself is skipped
 * and counted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ClaimLoad } from './support/claimLoad.js';
import { OPEN_ADDRESS } from './support/network.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { ReferenceEnded, referenceBinary, startReference, type ReferenceNode } from './support/reference.js';

const binary = referenceBinary();
const CHAINS = Number(process.env['FORK_CHAINS'] ?? (process.env['LBCNODE_FULL'] === '1' ? 50 : 1));
const FIRST_SEED = Number(process.env['FORK_SEED'] ?? Date.now() % 1_000_000_000);
const NAMES = ['a', 'A', 'ab', 'aB', 'abc', 'aBc', 'b', 'ba', 'bAc', '\u00e9', 'e\u0301', '\u00c9'];
/** Heights of the forks on regtest, in lbrycrd and here: normalization, all claims in the root hash, extended expiration. */
const FORKS = [250, 349, 800];
/** Number of blocks with many operations on each side of a fork. */
const NEAR = 4;
/** Maximum number of blocks below a fork at which a branch begins. */
const DEEPEST = 3;
const LAST_HEIGHT = 812;
const PREMINED = 130;
const HANG_MS = 3_600_000;

/** A chain on lbrycrd and on this node. */
class ForkChain {
  height = 0;
  /**
   * Number of reorganisations by outcome: lbrycrd's state equals that of the chain; only its blocks are right; it mined a block
   * that a second lbrycrd refuses.
   */
  readonly reorganisations = { agreed: 0, judged: 0, refused: 0 };
  private readonly load: ClaimLoad;
  private readonly seed: number;
  private readonly us: RegtestNode;
  private them: ReferenceNode;
  private readonly start: () => Promise<ReferenceNode>;

  constructor(seed: number, us: RegtestNode, them: ReferenceNode, start: () => Promise<ReferenceNode>) {
    this.seed = seed;
    this.us = us;
    this.them = them;
    this.start = start;
    this.load = new ClaimLoad(seed, NAMES);
  }

  /** Blocks that lbrycrd mines now, in hex. */
  private async mined(blocks: number): Promise<string[]> {
    const hashes = await this.them.rpc<string[]>('generatetoaddress', [blocks, OPEN_ADDRESS]);
    const raw: string[] = [];
    for (const hash of hashes) raw.push(await this.them.rpc<string>('getblock', [hash, 0]));
    return raw;
  }

  async mine(blocks: number): Promise<void> {
    for (const raw of await this.mined(blocks)) {
      this.height++;
      expect(await this.us.rpc('submitblock', [raw]), `seed ${this.seed}, block ${this.height}`).toBeNull();
    }
    expect(await this.us.rpc('getbestblockhash')).toBe(await this.them.rpc('getbestblockhash'));
  }

  async addCoins(): Promise<void> {
    for (let at = 1; at < 20; at++) {
      const hash = await this.them.rpc('getblockhash', [at]);
      const { tx } = await this.them.rpc<{ tx: string[] }>('getblock', [hash]);
      const { value } = await this.them.rpc<{ value: number }>('gettxout', [tx[0], 0]);
      this.load.addCoin(tx[0]!, BigInt(Math.round(value * 1e8)));
    }
  }

  /** Adds transactions to lbrycrd's mempool. */
  private async fill(): Promise<void> {
    for (const hex of this.load.block(1 + this.load.random(4)))
      await this.them.rpc('sendrawtransaction', [hex, true]);
  }

  async grow(): Promise<void> {
    const { load } = this;
    const next = this.height + 1;
    const wait = Math.min(...FORKS.map((fork) => fork - NEAR - next).filter((blocks) => blocks > 0), 40);
    const isNear = FORKS.some((fork) => Math.abs(fork - next) <= NEAR);
    if (isNear || load.random(3) === 0) await this.fill();
    const count = Math.max(1, Math.min(wait, 1 + load.random(25), LAST_HEIGHT - this.height));
    await this.mine(isNear ? 1 : count);
  }

  /**
   * Replaces the blocks around the fork by a branch with the same transactions in other blocks. If a second lbrycrd, which never
   * disconnected a block, refuses the branch of the first one, this node must refuse it too, and the first branch continues.
   */
  async reorganise(fork: number): Promise<void> {
    const { us, load, height: oldHeight } = this;
    const restore = load.save();
    const oldTip = await us.rpc<string>('getbestblockhash');
    const first = fork - load.random(DEEPEST);
    await this.them.rpc('invalidateblock', [await us.rpc('getblockhash', [first])]);
    const branch: string[] = [];
    for (let height = first; height <= oldHeight + 1; height++) {
      // The first blocks of the branch contain the disconnected transactions.
      if (height > fork || load.random(2) === 0) await this.fill();
      branch.push(...(await this.mined(1)));
    }
    for (const raw of branch) await us.rpc('submitblock', [raw]);
    this.height = oldHeight + 1;
    const tip = await this.them.rpc<string>('getbestblockhash');
    const isTaken = (await us.rpc('getbestblockhash')) === tip;
    if (isTaken && (await this.agree())) this.reorganisations.agreed++;
    else if (await this.judge(isTaken, first, branch)) this.reorganisations.judged++;
    else {
      this.reorganisations.refused++;
      restore();
      this.height = oldHeight;
      this.them = await this.replica(oldHeight);
      expect(await us.rpc('getbestblockhash'), `seed ${this.seed}, after a refused branch`).toBe(oldTip);
      expect(await this.agree(), `seed ${this.seed}, names after a refused branch`).toBe(true);
      return;
    }
    await this.goBackAndForth(first, oldTip, tip);
  }

  /** Only this node switches to the first branch and back. */
  private async goBackAndForth(first: number, oldTip: string, tip: string): Promise<void> {
    const { us } = this;
    const root = await us.rpc('getblockhash', [first]);
    await us.rpc('invalidateblock', [root]);
    expect(await us.rpc('getbestblockhash'), `seed ${this.seed}, back before ${first}`).toBe(oldTip);
    await us.rpc('reconsiderblock', [root]);
    expect(await us.rpc('getbestblockhash'), `seed ${this.seed}, forth over ${first}`).toBe(tip);
    expect(await this.agree(), `seed ${this.seed}, names after both ways over ${first}`).toBe(true);
  }

  /** Whether lbrycrd and this node return the same for every name. */
  async agree(): Promise<boolean> {
    for (const name of NAMES) {
      const ours = await this.us.rpc('getclaimsforname', [name]);
      const theirs = await this.them.rpc('getclaimsforname', [name]);
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) return false;
    }
    return true;
  }

  /** A new lbrycrd that receives this node's blocks up to a height, one by one. */
  private async replica(height: number): Promise<ReferenceNode> {
    const fresh = await this.start();
    for (let at = 1; at <= height; at++) {
      const raw = await this.us.rpc<string>('getblock', [await this.us.rpc('getblockhash', [at]), 0]);
      await fresh.rpc('submitblock', [raw]);
    }
    expect(await fresh.rpc('getbestblockhash')).toBe(await this.us.rpc('getblockhash', [height]));
    return fresh;
  }

  /**
   * Whether the branch from block `first` on is valid for a lbrycrd that never disconnected a block. If it is, that lbrycrd
   * replaces the first one. This node must come to the same result.
   */
  private async judge(isTaken: boolean, first: number, branch: readonly string[]): Promise<boolean> {
    const fresh = await this.replica(first - 1);
    for (const raw of branch) await fresh.rpc('submitblock', [raw]);
    const isChain = (await fresh.rpc('getbestblockhash')) === (await this.them.rpc('getbestblockhash'));
    expect(isTaken, `seed ${this.seed}, branch from block ${first}`).toBe(isChain);
    if (!isChain) return false;
    this.them = fresh;
    expect(await this.agree(), `seed ${this.seed}, names at ${this.height}`).toBe(true);
    return true;
  }
}

describe.runIf(binary)('chains mined by lbrycrd across the forks', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const startThem = async (): Promise<ReferenceNode> => {
    const them = await startReference(binary!, ['-limitancestorcount=1000', '-limitdescendantcount=1000']);
    closers.push(() => them.stop());
    return them;
  };

  let [compared, skipped] = [0, 0];
  afterAll(() => console.log(`${compared} chains compared, ${skipped} skipped because lbrycrd ended`));

  /** Mines a whole chain with lbrycrd and compares all answers. */
  async function compare(seed: number, us: RegtestNode): Promise<void> {
    const chain = new ForkChain(seed, us, await startThem(), startThem);
    await chain.mine(PREMINED);
    await chain.addCoins();
    const left = [...FORKS];
    while (chain.height < LAST_HEIGHT) {
      await chain.grow();
      if (left.length > 0 && chain.height === left[0]! + NEAR) await chain.reorganise(left.shift()!);
    }
    expect(await chain.agree(), `seed ${seed}, names at the end`).toBe(true);
    expect(left).toEqual([]);
    const { agreed, judged, refused } = chain.reorganisations;
    console.log(
      `seed ${seed}: reorganisations: ${agreed} agreed, ${judged} judged by a second lbrycrd, ${refused} refused by it`,
    );
  }

  /** What this node returns about the chain and every name. */
  async function answersOf(us: RegtestNode): Promise<unknown[]> {
    const answers: unknown[] = [await us.rpc('getbestblockhash')];
    for (const name of NAMES) answers.push(await us.rpc('getclaimsforname', [name]));
    return answers;
  }

  const chains = Array.from({ length: CHAINS }, (_, n) => n);
  it.for(chains)('are valid, chain %i', { timeout: HANG_MS }, async (n, { skip }) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'fork-load-'));
    const args = ['-compat=lbrycrd', '-supportdelay=proportional'];
    let us = await startRegtest({ dataDir, args });
    closers.push(async () => {
      await us.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    try {
      await compare(FIRST_SEED + n, us);
      compared++;
      const before = await answersOf(us);
      for (const option of ['-reindex-chainstate', '-reindex']) {
        await us.stop();
        us = await startRegtest({ dataDir, args: [...args, option] });
        expect(await answersOf(us), `seed ${FIRST_SEED + n}, after ${option}`).toEqual(before);
      }
    } catch (error) {
      if (!(error instanceof ReferenceEnded)) throw error;
      skipped++;
      // Both have compared the tip after each step, so the blocks until then are equal.
      skip(`${error.message}, after block ${await us.rpc<number>('getblockcount')}`);
    }
  });
});
