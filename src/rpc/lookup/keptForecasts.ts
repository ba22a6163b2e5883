/** Forecasts of names, cached until a block changes the name. */
import type { Foreseen } from '../../claimtrie/forecast.js';
import { lastForeseen, MAX_DELAY } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { pointKey, type Item } from '../../claimtrie/item.js';
import type { NameInfo, OutputInfo } from '../../store/claims/query/claimQueries.js';
import { FORESEEN_BLOCKS_BEHIND } from '../../store/claims/query/upcoming.js';
import { toLatin1 } from '../../util/bytes.js';
import type { ItemForecaster } from './pastNames.js';

/**
 * Number of blocks by which a forecast extends beyond the requested range, so that it can be reused for later blocks.
 * Arbitrary.
 */
const SPARE_BLOCKS = 64;

/** Cached forecast of a name for the blocks `height` to `until`. */
interface Kept {
  readonly height: number;
  readonly until: number;
  readonly coming: Promise<Foreseen | null>;
}

/**
 * Converts the items stored under a name to the form that the forecast of takeovers needs. Items that wait for activation
 * get the height for which they are queued.
 */
function itemsOf({ name, claims, supportsWithoutClaim }: NameInfo): Item[] {
  const filed = toLatin1(name);
  const items: Item[] = [];
  const add = (output: OutputInfo, kind: Item['kind']): void => {
    const { txid, n, claimId, amount, height, txOffset, validAtHeight, active, name: rawName } = output;
    items.push({
      name: filed,
      since: height,
      point: pointKey(txid, n),
      kind,
      claimId: toLatin1(claimId),
      amount,
      height,
      txOffset,
      dueHeight: validAtHeight,
      activated: active ? validAtHeight : 0,
      removed: 0,
      removal: 0,
      rawName: toLatin1(rawName),
      ordinal: 0,
      isNew: false,
    });
  };
  for (const claim of claims) {
    add(claim, 'update');
    for (const support of claim.supports) add(support, 'support');
  }
  for (const support of supportsWithoutClaim) add(support, 'support');
  return items;
}

export class KeptForecasts {
  private readonly rules: ClaimRules;
  private readonly active: { readonly height: number };
  private readonly compute: ItemForecaster;
  private readonly kept = new WeakMap<NameInfo, Kept>();

  constructor(rules: ClaimRules, active: { readonly height: number }, compute: ItemForecaster) {
    this.rules = rules;
    this.active = active;
    this.compute = compute;
  }

  /**
   * Returns the upcoming events of a name after block `height`, up to the latest block in which a claim of the next block can
   * become active. Returns null if the block is too old. The cached `NameInfo` is the same object until a block changes the
   * name, so the forecast of a name with an owner is cached by this object. The forecast of a name without an owner depends
   * on other names, so it is reused only at the same height.
   */
  async foresee(info: NameInfo, height: number): Promise<Foreseen | null> {
    const { rules, active } = this;
    const until = Math.min(lastForeseen(rules, height), height + 1 + MAX_DELAY);
    let known = this.kept.get(info);
    const isOfBlock = known?.height === height;
    const isHeld = info.claims[0]?.active === true;
    // The same object at two heights means that no block between them changed the name, so the forecast still applies.
    const isNear = height >= active.height - FORESEEN_BLOCKS_BEHIND;
    const serves =
      known && (isOfBlock || (isHeld && isNear && known.height <= height && until <= known.until));
    if (!known || !serves) {
      const reach = height < rules.normalizationForkHeight ? until : until + SPARE_BLOCKS;
      const of = { name: toLatin1(info.name), items: itemsOf(info), isHeld };
      known = { height, until: reach, coming: this.compute(of, { height, until: reach }) };
      this.kept.set(info, known);
    }
    const coming = await known.coming;
    return (
      coming && {
        events: coming.events.filter((event) => event.height > height && event.height <= until),
        ownerAt: (at) => coming.ownerAt(at),
      }
    );
  }
}
