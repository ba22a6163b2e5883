/**
 * The sequences of claim operations of the reference's tests (`scenarios/claimLives.ts`), on a node with claim index and
 * search.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXPIRATION, EXPIRING, TAKEOVERS, type Step, type TakeoverLife } from './scenarios/claimLives.js';
import { ClaimActor, FundingCoins } from './support/claimActor.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

interface Claim {
  claim_id: string;
  name: string;
  txid: string;
  nout: number;
  height: number;
  amount: number;
  effective_amount: number;
  support_amount: number;
  activation_height: number;
  takeover_height: number;
  is_controlling: boolean;
  error?: { name: string; text: string };
}

/** A claim in the answers of lbrycrd, which come from the claim trie. */
interface TrieClaim {
  claimId: string;
  txId: string;
  n: number;
  height: number;
  validAtHeight: number;
  amount: number;
  effectiveAmount: number;
  supports: { amount: number; validAtHeight: number }[];
}

const COIN = 100_000_000;
const sat = (coins: number): number => Math.round(coins * COIN);

class Lives {
  readonly failures = new Map<string, unknown>();
  private readonly node: RegtestNode;
  private base = 0;

  constructor(node: RegtestNode) {
    this.node = node;
  }

  /** Runs all lives in parallel, and records the first failure of each. */
  async run(lives: readonly TakeoverLife[], funding: FundingCoins): Promise<void> {
    this.base = await this.node.rpc<number>('getblockcount');
    const actors = lives.map((_, n) => new ClaimActor(funding, `life-${n}`));
    const blocks = new Set(lives.flatMap(({ life }) => life.map(([block]) => block)));
    let height = 0;
    for (const block of [...blocks].sort((one, other) => one - other)) {
      const steps = lives.map(({ life }) => life.filter(([at]) => at === block).flatMap(([, ...all]) => all));
      if (block - height > 1) await this.node.rpc('generatetoaddress', [block - height - 1, ADDRESS]);
      for (const [n, all] of steps.entries())
        await this.keep(lives[n]!, async () => {
          for (const step of all) if (isAction(step)) await actors[n]!.act(step);
        });
      await this.node.rpc('generatetoaddress', [1, ADDRESS]);
      height = block;
      for (const [n, all] of steps.entries())
        await this.keep(lives[n]!, async () => {
          if (all.length === 0) return;
          const answers = await this.checkName(actors[n]!.name, block);
          for (const step of all) this.expectStep(step, actors[n]!, answers, block);
        });
    }
  }

  private async keep({ title }: TakeoverLife, work: () => Promise<void>): Promise<void> {
    if (this.failures.has(title)) return;
    await work().catch((error: unknown) => this.failures.set(title, error));
  }

  /** Results of a search when its index is at the tip. The index is first built after the start of the node. */
  private async search(constraints: object, height: number): Promise<Claim[]> {
    for (;;) {
      const page = await this.node
        .rpc<{ height: number; claims: Claim[] }>('searchclaims', [constraints])
        .catch((error: unknown) => {
          if (String(error).includes('is being built')) return null;
          throw error;
        });
      if (page?.height === height) return page.claims;
    }
  }

  private async trie(name: string): Promise<{ claims: TrieClaim[]; lastTakeoverHeight: number }> {
    const body = JSON.stringify({ id: 1, method: 'getclaimsforname', params: [name] });
    const { text } = await this.node.post(body, '/lbrycrd');
    return (JSON.parse(text) as { result: { claims: TrieClaim[]; lastTakeoverHeight: number } }).result;
  }

  /**
   * Compares the answers of index and search about each claim of the name with those of the claim trie, which is independent
   * of them. Returns all claims by id, and the claim to which the plain name resolves.
   */
  private async checkName(name: string, block: number): Promise<Map<string, Claim>> {
    const { claims, lastTakeoverHeight } = await this.trie(name);
    const found = await this.search({ name, limit: 50 }, this.base + block);
    const urls = [name, ...claims.map(({ claimId }) => `${name}#${claimId}`)];
    const resolved = await this.node.rpc<Record<string, Claim>>('resolve', [urls]);
    const answers = new Map([['', resolved[name]!]]);
    for (const expected of claims) {
      const claim = resolved[`${name}#${expected.claimId}`]!;
      expect(claim).toMatchObject({
        claim_id: expected.claimId,
        txid: expected.txId,
        nout: expected.n,
        height: expected.height,
        activation_height: expected.validAtHeight,
        takeover_height: lastTakeoverHeight,
      });
      expect(sat(claim.amount)).toBe(expected.amount);
      expect(sat(claim.effective_amount)).toBe(expected.effectiveAmount);
      const supports = expected.supports.reduce((sum, { amount }) => sum + amount, 0);
      expect(sat(claim.support_amount)).toBe(supports);
      answers.set(claim.claim_id, claim);
    }
    const byId = (one: Claim, other: Claim): number => (one.claim_id < other.claim_id ? -1 : 1);
    expect(found.sort(byId)).toEqual(claims.map(({ claimId }) => answers.get(claimId)!).sort(byId));
    return answers;
  }

  private expectStep(step: Step, actor: ClaimActor, answers: Map<string, Claim>, block: number): void {
    const where = `block ${block}`;
    if (isAction(step)) return;
    if (step.do === 'noWinner') {
      expect(answers.get(''), where).toHaveProperty('error.name', 'NOT_FOUND');
      expect(answers.size, where).toBe(1);
      return;
    }
    const claim = answers.get(actor.idOf(step.as))!;
    if (step.do === 'wins') {
      expect(answers.get(''), where).toEqual(claim);
      expect(claim, where).toMatchObject({ is_controlling: true, takeover_height: this.base + step.since });
      return;
    }
    const since = step.do === 'waits' ? step.until : step.since;
    expect(claim, where).toMatchObject({ is_controlling: false, activation_height: this.base + since });
    expect(claim.effective_amount > 0, where).toBe(step.do === 'active');
  }
}

function isAction(step: Step): step is Extract<Step, { do: 'claim' | 'update' | 'support' | 'abandon' }> {
  return ['claim', 'update', 'support', 'abandon'].includes(step.do);
}

/** Only ends a test that hangs. All lives take some seconds. */
const HANG_MS = 600_000;
/** Height at which the coins that pay for transactions are mined. */
const FILLED = 113;

describe.each([
  { what: 'takeovers', lives: TAKEOVERS, args: [] as string[] },
  {
    what: 'expiration',
    lives: EXPIRING,
    args: [
      `-claimexpiration=${EXPIRATION.original},${EXPIRATION.extended}`,
      `-forkheight=extendedexpiration@${FILLED + EXPIRATION.forkBlock}`,
    ],
  },
])('$what', ({ lives, args }) => {
  let node: RegtestNode;
  let run: Lives;
  beforeAll(async () => {
    node = await startRegtest({ args: ['-claimsearch', '-supportdelay=proportional', ...args] });
    const funding = new FundingCoins(node);
    await funding.fill();
    expect(await node.rpc('getblockcount')).toBe(FILLED);
    run = new Lives(node);
    await run.run(lives, funding);
  }, HANG_MS);
  afterAll(() => node.stop());

  it.each(lives.map(({ title }) => title))('%s', (title) => {
    if (run.failures.has(title)) throw run.failures.get(title) as Error;
  });
});
