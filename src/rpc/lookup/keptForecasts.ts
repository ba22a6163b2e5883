/** Forecasts of names, cached until a block changes the name. */
import type { Foreseen } from '../../claimtrie/forecast.js';
import { lastForeseen, MAX_DELAY } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { NameInfo } from '../../store/claims/query/claimQueries.js';
import { FORESEEN_BLOCKS_BEHIND } from '../../store/claims/query/upcoming.js';

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

/** Computes a forecast of a name after block `height` up to block `until`; null if the block is too old. */
export type Forecaster = (info: NameInfo, height: number, until: number) => Promise<Foreseen | null>;

export class KeptForecasts {
  private readonly rules: ClaimRules;
  private readonly active: { readonly height: number };
  private readonly compute: Forecaster;
  private readonly kept = new WeakMap<NameInfo, Kept>();

  constructor(rules: ClaimRules, active: { readonly height: number }, compute: Forecaster) {
    this.rules = rules;
    this.active = active;
    this.compute = compute;
  }

  /**
   * See `ClaimReader.foresee`. The cached `NameInfo` is the same object until a block changes the name, so the forecast of a
   * name with an owner is cached by this object. The forecast of a name without an owner depends on other names, so it is
   * reused only at the same height.
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
      known = { height, until: reach, coming: this.compute(info, height, reach) };
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
