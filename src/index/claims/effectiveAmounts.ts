/**
 * What claims weighed after a block, from the claim trie's rows: those of the present where the block is the tip, else the
 * history of the name, since a background fill may be far behind. For one block at a time.
 */
import type { Item } from '../../claimtrie/item.js';
import { findClaim, type NameState } from '../../claimtrie/nameState.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { nameKey } from '../../store/claims/claimKeys.js';
import { aliveItems } from '../../store/claims/itemHistory.js';
import { parseNameRow } from '../../store/claims/nameRow.js';
import type { RowReader } from '../../store/rows.js';
import { filedNames } from './filedNames.js';

export interface ClaimWeight {
  /** Own amount; null while it is not active. */
  readonly amountSat: bigint | null;
  /** Active supports. */
  readonly supportSat: bigint;
}

const NO_WEIGHT: ClaimWeight = { amountSat: null, supportSat: 0n };

export class EffectiveAmounts {
  private readonly rows: RowReader;
  private readonly rules: ClaimRules;
  private readonly height: number;
  private readonly isPresent: boolean;
  private readonly states = new Map<string, NameState | null>();
  private readonly items = new Map<string, readonly Item[]>();

  /** After block `height`; `isPresent` when the rows are those of after that block. */
  constructor(rows: RowReader, rules: ClaimRules, height: number, isPresent: boolean) {
    this.rows = rows;
    this.rules = rules;
    this.height = height;
    this.isPresent = isPresent;
  }

  /** Of the claim whose output is at `point`. */
  async weightOf(claimId: string, point: string, rawName: string): Promise<ClaimWeight> {
    let pending = NO_WEIGHT;
    for (const name of filedNames(this.rules, rawName, this.height)) {
      const weight = await (this.isPresent
        ? this.presentWeight(name, claimId, point)
        : this.pastWeight(name, claimId, point));
      if (weight.amountSat !== null) return weight;
      if (weight.supportSat > 0n) pending = weight;
    }
    return pending;
  }

  private async presentWeight(name: string, claimId: string, point: string): Promise<ClaimWeight> {
    let state = this.states.get(name);
    if (state === undefined) {
      const row = await this.rows.get(nameKey(name));
      this.states.set(name, (state = row === undefined ? null : parseNameRow(row)));
    }
    if (state === null) return NO_WEIGHT;
    const claim = findClaim(state, point);
    if (claim) return { amountSat: claim.amount, supportSat: claim.effective - claim.amount };
    return { amountSat: null, supportSat: state.dangling.get(claimId) ?? 0n };
  }

  private async pastWeight(name: string, claimId: string, point: string): Promise<ClaimWeight> {
    let items = this.items.get(name);
    if (items === undefined) {
      const filed = await aliveItems(this.rows, name, this.height);
      items = filed.filter(({ activated }) => activated !== 0 && activated <= this.height);
      this.items.set(name, items);
    }
    let amountSat: bigint | null = null;
    let supportSat = 0n;
    for (const item of items) {
      if (item.kind === 'support') {
        if (item.claimId === claimId) supportSat += item.amount;
      } else if (item.point === point) amountSat = item.amount;
    }
    return { amountSat, supportSat };
  }
}
