/**
 * Queries of names as of blocks before the latest one. A name with many claims and supports is read from a timeline of all its
 * items in memory. So a query takes little time for any earlier block, also the first query of that block.
 */
import type { Foreseen } from '../../claimtrie/forecast.js';
import type { Item } from '../../claimtrie/item.js';
import { lastForeseen, MAX_DELAY, newClaimDelay } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { readName, type NameInfo, type NameQuery } from '../../store/claims/query/claimQueries.js';
import { FEW_ITEMS, itemsInRows, rangeOfFew, type ItemSource } from '../../store/claims/query/itemHistory.js';
import { NameTimeline, type BidsPage } from '../../store/claims/query/nameTimeline.js';
import { readOwnership } from '../../store/claims/query/ownership.js';
import type { RowReader } from '../../store/rows/rows.js';
import { fromLatin1 } from '../../util/bytes.js';
import type { NameBids } from '../../interfaces/claimReader.js';
import type { KeptNames, TipMarks } from './keptNames.js';

/** Blocks of a forecast. `enough`: see `NameToCome`. */
export interface ForecastSpan {
  readonly height: number;
  readonly until: number;
  readonly enough?: { readonly events: number; readonly height: number };
}

/** The items of a name after a block. */
export interface ItemsOfName {
  readonly name: string;
  readonly items: readonly Item[];
  /** Whether the name has a controlling claim. */
  readonly isHeld: boolean;
}

/** Computes a forecast of a name; null if the block is too old. */
export type ItemForecaster = (of: ItemsOfName, span: ForecastSpan) => Promise<Foreseen | null>;

type Tip = TipMarks & { readonly height: number };

export class PastNames {
  private readonly rows: RowReader;
  private readonly rules: ClaimRules;
  private readonly active: Tip;
  private readonly kept: KeptNames;
  private readonly foresee: ItemForecaster;
  /** Timelines that are being read, by name. */
  private readonly reading = new Map<string, Promise<NameTimeline | null>>();

  constructor(
    { rows, rules, active }: { rows: RowReader; rules: ClaimRules; active: Tip },
    kept: KeptNames,
    foresee: ItemForecaster,
  ) {
    this.rows = rows;
    this.rules = rules;
    this.active = active;
    this.kept = kept;
    this.foresee = foresee;
  }

  /**
   * Returns the items of a name in its stored form: from its timeline, if the name has many of them. The cache of names must
   * contain the changes of the latest block.
   */
  async itemsOf(name: string): Promise<ItemSource> {
    return (await this.timelineOf(name)) ?? itemsInRows(this.rows, name);
  }

  /** Returns the timeline of a name; null if the name has too few or too many items. */
  private async timelineOf(name: string): Promise<NameTimeline | null> {
    const { kept, rows, active } = this;
    const known = kept.findTimeline(name, active);
    if (known === undefined) return this.readTimeline(name);
    if (known === null) return null;
    await known.renew(rows);
    return known.isTooLong ? null : known;
  }

  private readTimeline(name: string): Promise<NameTimeline | null> {
    // A page makes two calls at the same time. They share one read.
    const { tip, disconnects } = this.active;
    const key = `${tip} ${disconnects} ${name}`;
    let reading = this.reading.get(key);
    if (reading === undefined) {
      reading = this.read(name).finally(() => this.reading.delete(key));
      this.reading.set(key, reading);
    }
    return reading;
  }

  private async read(name: string): Promise<NameTimeline | null> {
    const { rows, active, kept } = this;
    const { tip, disconnects, height } = active;
    const few = await rows.getRange(rangeOfFew(name, height));
    if (few.length <= FEW_ITEMS) return null;
    const timeline = await NameTimeline.read(rows, name, height);
    kept.keepTimeline(name, timeline, { tip, disconnects }, active);
    return timeline;
  }

  /** Reads a whole name, whose stored form is `filed`. */
  async nameAt(query: NameQuery, filed: string): Promise<NameInfo> {
    return readName(this.rows, this.rules, query, await this.itemsOf(filed));
  }

  /**
   * Reads a page of the claims for a name in its stored form, with a forecast of at least `coming` events, or of all events if
   * there are fewer. Null if the whole name must be read.
   */
  async bidsAt(name: string, height: number, page: BidsPage, coming: number): Promise<NameBids | null> {
    const timeline = await this.timelineOf(name);
    if (timeline === null) return null;
    const { hasClaims, takeover } = await readOwnership(this.rows, name, height);
    const bids = timeline.bidsAt(height, page);
    if (bids === null) return null;
    const { items, ...found } = bids;
    const lastTakeoverHeight = hasClaims ? takeover : 0;
    const of = { name, items, isHeld: found.holder !== undefined };
    return {
      name: fromLatin1(name),
      lastTakeoverHeight,
      ...found,
      coming: await this.comingOf(of, height, lastTakeoverHeight, coming),
    };
  }

  private comingOf(
    of: ItemsOfName,
    height: number,
    takeover: number,
    events: number,
  ): Promise<Foreseen | null> {
    const until = Math.min(lastForeseen(this.rules, height), height + 1 + MAX_DELAY);
    // The forecast must include the block in which a new claim of the next block would become active.
    const valid = height + 1 + newClaimDelay(height + 1, of.isHeld ? takeover : null);
    const enough = { events, height: valid };
    return this.foresee(of, { height, until, enough });
  }
}
