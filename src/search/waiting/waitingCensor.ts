/**
 * Claims that the blocking and filtering channels hide, for a thread without access to the search index. They are computed
 * from the claim index again when the tip has changed. A slow computation runs in the background.
 */
import type { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import { hashFromHex, hashToHex } from '../../util/bytes.js';
import { Censor, type CensorLists, type CensoringRepost } from '../hits/censor.js';

/** Number of claims per lookup in the claim index. */
const CLAIMS_AT_ONCE = 200;
/** Duration in ms of the last computation above which callers do not wait for the next one. */
const QUICK_MS = 50;
/** Code of `@`, the first character of channel names. */
const CHANNEL_MARK = 0x40;

export class WaitingCensor {
  private readonly index: Pick<ClaimIndexQueries, 'signedBy' | 'claims'>;
  private readonly lists: CensorLists;
  private readonly channels: readonly string[];
  /** Returns a text that identifies the tip and changes with it. */
  private readonly moment: () => string;
  private censor: Censor;
  private censorOf = '';
  private tookMs = 0;
  private loading: Promise<void> | null = null;

  constructor(
    index: Pick<ClaimIndexQueries, 'signedBy' | 'claims'>,
    lists: CensorLists,
    moment: () => string,
  ) {
    this.index = index;
    this.lists = lists;
    this.channels = [...new Set([...lists.blocking, ...lists.filtering])];
    this.moment = moment;
    this.censor = new Censor(lists, []);
  }

  async get(): Promise<Censor> {
    if (this.channels.length === 0 || this.censorOf === this.moment()) return this.censor;
    const isFirst = this.censorOf === '';
    const loading = (this.loading ??= this.load().finally(() => (this.loading = null)));
    if (isFirst || this.tookMs < QUICK_MS) await loading;
    else loading.catch(() => undefined);
    return this.censor;
  }

  private async load(): Promise<void> {
    const beganMs = performance.now();
    const moment = this.moment();
    const reposts: CensoringRepost[] = [];
    for (const channelId of this.channels) {
      const ids = await this.index.signedBy(hashFromHex(channelId));
      for (let at = 0; at < ids.length; at += CLAIMS_AT_ONCE) {
        const claims = await this.index.claims(ids.slice(at, at + CLAIMS_AT_ONCE));
        const targets = claims.flatMap((claim) => claim?.repostedId ?? []);
        const found = await this.index.claims(targets);
        for (const [n, target] of targets.entries()) {
          const isTargetChannel = found[n]?.name[0] === CHANNEL_MARK;
          reposts.push({ channelId, targetId: hashToHex(target), isTargetChannel });
        }
      }
    }
    this.censor = new Censor(this.lists, reposts);
    this.censorOf = moment;
    this.tookMs = performance.now() - beganMs;
  }
}
