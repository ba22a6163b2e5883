/**
 * Compares claim answers with lbrycrd: blocks with many claims of one name, reorganisations, queries about the past. The
 * answers of lbrycrd also depend on its history (after some reorganisations it refuses blocks that it made). If the two differ,
 * the query is repeated on a new lbrycrd that only received the active chain.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { ClaimLoad } from './support/claimLoad.js';
import { OPEN_ADDRESS } from './support/network.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { referenceBinary, startReference, type ReferenceNode } from './support/reference.js';

const binary = referenceBinary();
/** From this height on the coinbases of the first blocks are mature. */
const FIRST_HEIGHT = 130;
/** Above the forks for normalization and for all claims in the root hash, and above both expirations. */
const LAST_HEIGHT = 900;
const SEEDS = [1, 2];
const NAMES = ['a', 'A', 'ab', 'é', 'É', 'abc'];
const ARGS = ['-txindex', '-deprecatedrpc=getclaimsintrie'];

interface Rpc {
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
}

type Question = readonly [method: string, ...params: unknown[]];

/** The value with the fields of each object in alphabetical order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, inOrder(entry)]));
}

/**
 * lbrycrd's answer without names of claims that are not live at the tip and that our answer leaves out. If one block creates and
 * spends a claim, lbrycrd keeps the id in its index. This happens when a reorganisation puts transactions of several blocks into
 * one.
 */
function withoutDeadNames(ours: unknown, theirs: unknown): unknown {
  if (Array.isArray(theirs) && Array.isArray(ours))
    return theirs.map((entry: unknown, n) => withoutDeadNames(ours[n], entry));
  if (theirs === null || typeof theirs !== 'object' || ours === null || typeof ours !== 'object')
    return theirs;
  const known = ours as Record<string, unknown>;
  const entries = Object.entries(theirs)
    .filter(([key]) => key !== 'name' || !('claimId' in known) || 'name' in known)
    .map(([key, entry]) => [key, withoutDeadNames(known[key], entry)]);
  return Object.fromEntries(entries);
}

async function ask(node: Rpc, [method, ...params]: Question): Promise<unknown> {
  try {
    return inOrder(await node.rpc(method, params));
  } catch (error) {
    return { error: (error as Error).message };
  }
}

class Comparison {
  readonly load: ClaimLoad;
  height = 0;
  asked = 0;
  renewed = 0;
  readonly differences: unknown[] = [];
  private readonly us: RegtestNode;
  them: ReferenceNode;

  constructor(us: RegtestNode, them: ReferenceNode, seed: number) {
    this.us = us;
    this.them = them;
    this.load = new ClaimLoad(seed, NAMES);
  }

  /** Mines blocks and submits them to lbrycrd. */
  async mine(blocks: number, address = OPEN_ADDRESS): Promise<void> {
    await this.us.rpc('generatetoaddress', [blocks, address]);
    const tip = await this.us.rpc<number>('getblockcount');
    for (let height = this.height + 1; height <= tip; height++) {
      const verdict = await this.submit(height);
      if (verdict === null || verdict === 'inconclusive' || verdict === 'duplicate') continue;
      await this.renew();
      break;
    }
    this.height = tip;
    expect(await this.them.rpc('getbestblockhash')).toBe(await this.us.rpc('getbestblockhash'));
  }

  private async submit(height: number): Promise<unknown> {
    const hash = await this.us.rpc<string>('getblockhash', [height]);
    return this.them.rpc('submitblock', [await this.us.rpc<string>('getblock', [hash, 0])]);
  }

  /** Replaces lbrycrd by a new instance that only receives the active chain. */
  private async renew(): Promise<void> {
    this.renewed++;
    await this.them.stop();
    this.them = await startReference(binary!, ARGS);
    const tip = await this.us.rpc<number>('getblockcount');
    for (let height = 1; height <= tip; height++) expect(await this.submit(height)).toBeNull();
  }

  /** Replaces the last blocks by a longer branch with the same transactions in other blocks. */
  async reorganise(): Promise<void> {
    const back = 1 + this.load.random(Math.min(8, this.height - FIRST_HEIGHT));
    this.height -= back;
    await this.us.rpc('invalidateblock', [await this.us.rpc('getblockhash', [this.height + 1])]);
    // Pays to another address, because otherwise the block would equal the disconnected one.
    await this.us.rpc('generatetoaddress', [1, ADDRESS]);
    await this.mine(back);
  }

  async fund(height: number): Promise<void> {
    const hash = await this.us.rpc<string>('getblockhash', [height]);
    const { tx } = await this.us.rpc<{ tx: string[] }>('getblock', [hash]);
    const { value } = await this.us.rpc<{ value: number }>('gettxout', [tx[0], 0]);
    this.load.addCoin(tx[0]!, BigInt(Math.round(value * 1e8)));
  }

  async compare(): Promise<void> {
    for (const question of await this.questions()) {
      this.asked++;
      const ours = await ask(this.us, question);
      let theirs = await ask(this.them, question);
      if (JSON.stringify(ours) === JSON.stringify(theirs)) continue;
      await this.renew();
      theirs = await ask(this.them, question);
      if (JSON.stringify(ours) === JSON.stringify(withoutDeadNames(ours, theirs))) continue;
      this.differences.push({ height: this.height, question, ours, theirs });
    }
  }

  private async questions(): Promise<Question[]> {
    const { load } = this;
    const name = (): string => NAMES[load.random(NAMES.length)]!;
    const recent = (list: readonly string[], of: number): string =>
      list[Math.max(0, list.length - 1 - load.random(of))]!;
    const id = (): string => recent(load.claimIds, 120);
    const part = (least: number): string => id().slice(0, least + load.random(41 - least));
    const past: string[] = [];
    for (let n = 0; n < 12; n++)
      past.push(await this.us.rpc<string>('getblockhash', [this.height - load.random(60)]));
    const block = (): string => past.pop()!;
    return [
      ['getclaimsforname', name()],
      ['getclaimsforname', name(), block()],
      ['getvalueforname', name()],
      ['getvalueforname', name(), block()],
      ['getvalueforname', name(), block(), part(1)],
      ['getclaimbyid', id()],
      ['getclaimbyid', part(3)],
      ['getclaimbybid', name(), load.random(30)],
      ['getclaimbybid', name(), load.random(30), block()],
      ['getclaimbyseq', name(), load.random(30)],
      ['getclaimbyseq', name(), load.random(30), block()],
      ['getnameproof', name(), block()],
      ['getnameproof', name(), block(), part(1)],
      ['getclaimproofbybid', name(), load.random(20), block()],
      ['getclaimproofbyseq', name(), load.random(20), block()],
      ['getclaimsfortx', recent(load.txids, 30)],
      ['getnamesintrie', block()],
      ['getclaimsintrie', block()],
      ['gettotalclaimednames'],
      ['gettotalclaims'],
      ['gettotalvalueofclaims', load.random(2) === 0],
      ['getchangesinblock', block()],
    ];
  }
}

describe.runIf(binary)('claim answers beside the reference', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  it.each(SEEDS)('are the same about the tip and about past blocks, seed %i', async (seed) => {
    const us = await startRegtest({
      args: [...ARGS, '-supportdelay=proportional', '-compat=lbrycrd', '-limitancestorcount=1000', '-limitdescendantcount=1000'], // prettier-ignore
    });
    closers.push(() => us.stop());
    const run = new Comparison(us, await startReference(binary!, ARGS), seed);
    closers.push(() => run.them.stop());
    const { load } = run;
    await run.mine(FIRST_HEIGHT);
    for (let height = 1; height < 20; height++) await run.fund(height);
    for (let step = 0; run.height < LAST_HEIGHT; step++) {
      for (const hex of load.block(1 + load.random(3))) await us.rpc('sendrawtransaction', [hex, true]);
      await run.mine(1 + load.random(3));
      if (load.random(8) === 0) await run.reorganise();
      if (step % 3 === 0) await run.compare();
    }
    console.log(`seed ${seed}: ${run.asked} answers, ${run.renewed} new lives of the reference`);
    expect(run.differences).toEqual([]);
  });
});
