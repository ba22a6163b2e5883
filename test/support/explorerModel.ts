/**
 * A naive model of the history of a name and of lists of names: it compares the states of two blocks. It shares only the states
 * of the naive claim model with the tested queries, and applies random operations with reorganisations to them.
 */
import { createHash } from 'node:crypto';
import type { ClaimBlock, ClaimEvent, ClaimRules } from '../../src/claimtrie/types.js';
import { ClaimStore } from '../../src/store/claims/claimStore.js';
import { ClaimLife, LIFE_NAMES } from './claimLife.js';
import { ClaimModel, claimsOf, pointOf, type ModelItem, type ModelState } from './claimModel.js';
import { MemoryRows } from './memoryRows.js';

/** Number of past blocks for which nodes of the trie are stored. */
export const PROOF_WINDOW = 100;

/** A claim store and the model, to which the same operations are applied. */
export class TwoLives {
  readonly rules: ClaimRules;
  readonly life: ClaimLife;
  /** Null if only the store is tested, because the model takes most of the time. */
  readonly model: ClaimModel | null;
  readonly rows = new MemoryRows();
  readonly store: ClaimStore;
  /** The blocks of the active chain, by height. */
  readonly blocks: ClaimBlock[] = [];
  height = 0;

  constructor(
    seed: number,
    rules: ClaimRules,
    { names = LIFE_NAMES, withModel = true }: { names?: readonly Buffer[]; withModel?: boolean } = {},
  ) {
    this.rules = rules;
    this.life = new ClaimLife(seed, names);
    this.model = withModel ? new ClaimModel(rules) : null;
    this.store = new ClaimStore({ rules, proofWindow: PROOF_WINDOW });
  }

  stateAt(height: number): ModelState {
    return this.model!.states[height]!;
  }

  /** Connects a block. Returns its changes. */
  async connect(block: ClaimBlock): Promise<readonly ClaimEvent[]> {
    this.model?.connect(block);
    this.height = block.height;
    this.blocks[block.height] = block;
    const rows = this.rows.begin();
    const { events } = (await this.store.connect(rows, block)).report;
    rows.commit();
    return events;
  }

  async disconnect(): Promise<void> {
    const rows = this.rows.begin();
    await this.store.disconnect(rows, this.height);
    rows.commit();
    this.height--;
    this.model?.disconnect();
    this.life.disconnect();
  }

  /** Connects blocks up to `height`, with reorganisations. */
  async liveTo(height: number, transactions = 4): Promise<void> {
    while (this.height < height) {
      if (this.life.chance(6)) {
        const depth = Math.min(1 + this.life.pick(this.life.chance(15) ? 60 : 6), this.height);
        for (let i = 0; i < depth; i++) await this.disconnect();
      }
      await this.connect(this.life.block(this.height + 1, transactions));
    }
  }
}

/** Whether it was created by a claim and not by an update. */
function isOriginal({ point, claimId }: ModelItem): boolean {
  const inner = createHash('sha256').update(Buffer.from(point, 'hex')).digest();
  return createHash('ripemd160').update(inner).digest('hex') === claimId;
}

/** One block of the history of a name, as text. */
export interface NaiveBlock {
  height: number;
  events: string[];
  owner: string | null;
  claims: number;
  takeover: number;
  amounts: Record<string, string>;
}

/** The changes of block `height` to the claims and supports under `name`; null if there are none. */
export function naiveBlock(two: TwoLives, name: string, height: number): NaiveBlock | null {
  const before = two.stateAt(height - 1);
  const after = two.stateAt(height);
  const spent = new Set<string>();
  for (const tx of two.blocks[height]!.transactions) {
    for (const { txid, n } of tx.spends) spent.add(pointOf(Buffer.from(txid), n));
  }
  const [oldItems, newItems] = [before, after].map(
    ({ items }) => new Map(items.map((item) => [item.point, item])),
  );
  const events: string[] = [];
  for (const item of after.items.filter((other) => other.name === name)) {
    const old = oldItems!.get(item.point);
    const replaced = before.items.find(
      (other) =>
        !item.support &&
        !other.support &&
        other.claimId === item.claimId &&
        other.name === name &&
        spent.has(other.point),
    );
    if (!old) {
      const type = item.support ? 'support' : isOriginal(item) ? 'claim' : 'update';
      const replaces = type === 'update' && replaced ? ` for ${replaced.point}` : '';
      events.push(`${type} ${item.point} ${item.active}${replaces}`);
    } else {
      if (old.name !== name) events.push(`arrival ${item.point} from ${hex(old.name)}`);
      if (!old.active && item.active) events.push(`activation ${item.point}`);
    }
  }
  for (const item of before.items.filter((other) => other.name === name)) {
    const now = newItems!.get(item.point);
    if (now?.name === name) continue;
    const point = item.point;
    const successor = after.items.find(
      (other) => !other.support && other.claimId === item.claimId && other.height === height,
    );
    if (now) events.push(`departure ${point} to ${hex(now.name)}`);
    else if (!spent.has(item.point)) events.push(`expiration ${point}`);
    else if (item.support || !successor) events.push(`abandon ${point}`);
    else if (successor.name !== name) events.push(`departure ${point} to ${hex(successor.name)}`);
  }
  const [was, is] = [claimsOf(before, name), claimsOf(after, name)];
  if (was[0]?.item.claimId !== is[0]?.item.claimId) {
    events.push(`takeover ${is[0]?.item.claimId ?? '-'} ${was[0]?.item.claimId ?? '-'}`);
  }
  if (events.length === 0) return null;
  const amounts: Record<string, string> = {};
  for (const id of new Set([...was, ...is].map(({ item }) => item.claimId))) {
    const amountOf = (list: typeof was): bigint | undefined =>
      list.find(({ item }) => item.claimId === id)?.effective;
    const [old, now] = [amountOf(was), amountOf(is)];
    if (old !== now) amounts[id] = String(now ?? 0n);
  }
  const best = is[0];
  return {
    height,
    events: events.sort(),
    owner: best ? `${best.item.claimId} ${best.item.amount} ${best.effective}` : null,
    claims: is.length,
    takeover: after.owners.get(name)?.takeover ?? 0,
    amounts,
  };
}

export function hex(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('hex');
}
