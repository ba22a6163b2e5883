/** Results of URLs and searches in `scenarios/resolvingLives.ts`, on a node with claim index and search. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Step } from './scenarios/claimLives.js';
import { RESOLVING, type Look, type ResolvingLife } from './scenarios/resolvingLives.js';
import { ClaimActor, FundingCoins } from './support/claimActor.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

interface Answer {
  readonly claim_id: string;
  readonly signing_channel?: { readonly claim_id: string };
  readonly [field: string]: unknown;
}

/** A fee delta in satoshis that is so low that no block includes the transaction. */
const KEPT_OUT = -100_000_000;

let node: RegtestNode;
let funding: FundingCoins;
beforeAll(async () => {
  node = await startRegtest({
    args: ['-claimsearch', '-supportdelay=proportional', '-forkheight=normalization@1'],
  });
  funding = new FundingCoins(node);
  await funding.fill();
});
afterAll(() => node.stop());

class LifeRun {
  private readonly actor: ClaimActor;
  private readonly serial: number;
  /** Height of the block of each row. The first row is 1. */
  private readonly heights = [0];

  constructor(serial: number) {
    this.serial = serial;
    this.actor = new ClaimActor(funding, `life${serial}`);
  }

  /** The template with names and ids in place of its placeholders. */
  private filled<T>(template: T): T {
    const text = JSON.stringify(template)
      .replaceAll('~', `-${this.serial}`)
      .replace(/"\{row:(\d+)\}"/g, (_, row: string) => String(this.heights[Number(row)]))
      .replace(/\{(\w+)(?::(\d+))?\}/g, (_, label: string, digits?: string) =>
        this.actor.idOf(label).slice(0, digits === undefined ? 40 : Number(digits)),
      );
    return JSON.parse(text) as T;
  }

  async run({ rows }: ResolvingLife): Promise<void> {
    for (const row of rows) {
      for (const step of row) await this.act(this.filledStep(step));
      await node.rpc('generatetoaddress', [1, ADDRESS]);
      this.heights.push(await node.rpc<number>('getblockcount'));
      for (const look of row) await this.look(look, `row ${this.heights.length - 1}`);
    }
  }

  private filledStep(step: Step | Look): Step | Look {
    return 'as' in step && step.do !== 'shows' ? this.filled(step) : step;
  }

  private async act(step: Step | Look): Promise<void> {
    switch (step.do) {
      case 'claim':
      case 'update':
      case 'support':
      case 'abandon':
        return this.actor.act(step);
      case 'reorganise':
        return this.reorganise(step.from, step.without);
      case 'admit':
        for (const label of step.claims) await this.prioritise(label, -KEPT_OUT);
        return;
      default:
      // Looks do not act.
    }
  }

  private async prioritise(label: string, delta: number): Promise<void> {
    const txid = Buffer.from(this.actor.of(label).txid).reverse().toString('hex');
    await node.rpc('prioritisetransaction', [txid, 0, delta]);
  }

  private async reorganise(from: number, without: readonly string[]): Promise<void> {
    const tip = await node.rpc<number>('getblockcount');
    await node.rpc('invalidateblock', [await node.rpc('getblockhash', [this.heights[from]])]);
    for (const label of without) await this.prioritise(label, KEPT_OUT);
    const back = tip - (await node.rpc<number>('getblockcount'));
    await node.rpc('generatetoaddress', [back, ADDRESS]);
  }

  private async look(look: Step | Look, row: string): Promise<void> {
    if (look.do === 'leads') {
      const { url } = this.filled(look);
      const claim = await resolve(url);
      expect(claim.claim_id, `${row}: ${url}`).toBe(this.actor.idOf(look.to));
      if (look.by === undefined) return;
      const signer = look.by === null ? undefined : this.actor.idOf(look.by);
      expect(claim.signing_channel?.claim_id, `${row}: ${url}`).toBe(signer);
    } else if (look.do === 'lost') {
      const { url } = this.filled(look);
      const text = `Could not find ${look.what === 'channel' ? 'channel in' : 'claim at'} "${url}".`;
      expect(await resolve(url), row).toEqual({ error: { name: 'NOT_FOUND', text } });
    } else if (look.do === 'finds') {
      const { constraints } = this.filled(look);
      const ids = look.claims.map((label) => this.actor.idOf(label));
      const found = await search(constraints, this.heights.at(-1)!);
      expect(found.map(({ claim_id }) => claim_id).sort(), row).toEqual(ids.sort());
    } else if (look.do === 'shows') {
      const { values } = this.filled(look);
      expect(await node.rpc('getclaim', [this.actor.idOf(look.as)]), row).toMatchObject(values);
    }
  }
}

async function resolve(url: string): Promise<Answer> {
  const answer = await node.rpc<Record<string, Answer>>('resolve', [[url], true]);
  return answer[url]!;
}

/** Results of a search when its index is built and at the tip. */
async function search(constraints: object, height: number): Promise<Answer[]> {
  for (;;) {
    try {
      const page = await node.rpc<{ height: number; claims: Answer[] }>('searchclaims', [
        { confirmed_only: true, ...constraints },
      ]);
      if (page.height === height) return page.claims;
    } catch (error) {
      if ((error as Error).message !== 'The search index is being built') throw error;
    }
  }
}

it.each(RESOLVING.map((life, n) => [life.title, n] as const))('%s', async (_, n) => {
  await new LifeRun(n).run(RESOLVING[n]!);
});
