/** The effects of one block on claims and supports, grouped as the claim index needs them. */
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import type { Item } from '../../claimtrie/item.js';
import type { FleetingClaim } from '../../store/claims/lbcd/lbcdFleeting.js';
import type { NamesAfter } from '../../store/claims/claimStore.js';
import type { Bytes } from '../../util/bytes.js';
import { wasSpent, type BlockItems, type CreatedItem } from './blockItems.js';
import { groupOf } from './claimIndexKeys.js';
import type { ClaimOutputInBlock } from './claimOutputs.js';
import type { ClaimRow } from './claimRow.js';
import type { EffectiveAmounts } from './effectiveAmounts.js';
import type { SignedSupport } from './signedSupports.js';

/** A block, and its data from the claim trie. */
export interface WorkBlock {
  readonly block: LoadedBlock;
  readonly height: number;
  readonly items: BlockItems;
  /** Whether the rows of the claim trie are those immediately after this block. */
  readonly isPresent: boolean;
  /** States of names after the block, if the block is being connected; null otherwise. Rows of these names need not be read. */
  readonly names: NamesAfter | null;
  /** The claims and updates that the block created and spent. */
  readonly fleeting: readonly FleetingClaim[];
  /** Whether undo rows of the block are stored. */
  readonly keepsUndo: boolean;
}

/** A claim that the block created or updated. `row.signers` is empty until the signatures are verified. */
export interface NewClaim {
  readonly claimId: string;
  readonly former: ClaimRow | null;
  readonly row: ClaimRow & { signers: readonly string[] };
}

/** A claim that ended in the block, with its row before the block. */
export type EndedClaim = readonly [claimId: string, row: ClaimRow];

/** Changes of the supports of one claim in one name group (see `groupOf`). */
export interface SupportChange {
  readonly claimId: string;
  readonly group: string;
  /** Change of the sum of all unspent supports, in satoshis. */
  sumSat: bigint;
  /**
   * Changes of the sums of active supports, by the name in the claim trie. A support under a name that differs from the
   * claim's name does not count.
   */
  readonly activeSat: Map<string, bigint>;
  /** Whether a support was created or spent. False if supports only became active or expired. */
  isMoved: boolean;
}

/** A claim whose effective amount the block may have changed: its rows before and after the block. */
export interface WeighedClaim {
  readonly claimId: string;
  readonly former: ClaimRow | null;
  readonly row: ClaimRow;
  readonly support: SupportChange | undefined;
}

/** A signed claim output, and the key of the channel that it names, as of the end of the block; null without a key. */
export interface SignedClaim {
  readonly claim: NewClaim;
  readonly output: ClaimOutputInBlock;
  readonly publicKey: Bytes | null;
}

export class BlockEvents {
  readonly of: WorkBlock;
  readonly created = new Map<string, CreatedItem>();
  readonly removed = new Map<string, Item>();
  readonly activated = new Set<string>();
  readonly supports = new Map<string, SupportChange>();
  readonly createdSupports: Item[] = [];
  readonly removedSupports: Item[] = [];
  /** Whether the block has no effect on claims and supports, the most frequent case while the chain is little used. */
  readonly isEmpty: boolean;
  // The following fields are set in this order by the steps of `BlockWork`.
  /** Outputs of the claims in `created`, in their order. */
  found: readonly ClaimOutputInBlock[] = [];
  claims: readonly NewClaim[] = [];
  ended: readonly EndedClaim[] = [];
  /** Keys that channels lost or received in the block. Each entry is a channel id followed by a key tag. */
  rekeyed: readonly string[] = [];
  signedClaims: readonly SignedClaim[] = [];
  signedSupports: readonly SignedSupport[] = [];
  weighed: readonly WeighedClaim[] = [];
  /** Effective amounts after the block. */
  after: EffectiveAmounts | null = null;
  /** Effective amounts before the block; only for the block of the normalization fork. */
  before: EffectiveAmounts | null = null;

  constructor(of: WorkBlock) {
    this.of = of;
    const { created, removed, activated, takeovers } = of.items;
    this.isEmpty = created.length + removed.length + activated.length + takeovers.length === 0;
    for (const made of created) {
      const { item, isActive } = made;
      if (item.kind === 'support') {
        this.createdSupports.push(item);
        this.addSupport(item, 1n, isActive, true);
      } else this.created.set(item.claimId, made);
    }
    for (const item of removed) {
      if (item.kind === 'support') {
        this.removedSupports.push(item);
        this.addSupport(item, -1n, item.activated !== 0, wasSpent(item));
      } else this.removed.set(item.claimId, item);
    }
    for (const item of activated) {
      if (item.kind !== 'support') this.activated.add(item.claimId);
      else addActive(this.supportOf(item), item.name, item.amount);
    }
  }

  private supportOf({ claimId, name }: Item): SupportChange {
    const group = groupOf(name);
    const key = claimId + group;
    let change = this.supports.get(key);
    if (!change) {
      change = { claimId, group, sumSat: 0n, activeSat: new Map(), isMoved: false };
      this.supports.set(key, change);
    }
    return change;
  }

  private addSupport(item: Item, sign: bigint, isActive: boolean, isMoved: boolean): void {
    const change = this.supportOf(item);
    change.sumSat += sign * item.amount;
    if (isActive) addActive(change, item.name, sign * item.amount);
    change.isMoved ||= isMoved;
  }
}

function addActive({ activeSat }: SupportChange, name: string, amountSat: bigint): void {
  activeSat.set(name, (activeSat.get(name) ?? 0n) + amountSat);
}
