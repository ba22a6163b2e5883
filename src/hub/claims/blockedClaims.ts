/**
 * Claims that the hub does not resolve (`-hubblockingchannels`). Each live repost (unspent and not expired) with a valid
 * signature of a listed channel blocks the reposted claim. If the target is a channel, the claims of that channel are
 * blocked too. The list is recomputed when the tip changes; a slow computation runs in the background. Source: lbryio/hub
 * hub/db/db.py `get_streams_and_channels_reposted_by_channel_hashes`.
 */
import type { ClaimIndexReader, ClaimRecord, ResolvedUrl } from '../../index/claims/claimReader.js';
import { decodeClaim } from '../../metadata/claim.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { decodeUtf8 } from '../../util/json/jsonParse.js';

/** Maximum number of claims per read from the index. */
const CLAIMS_AT_ONCE = 200;
/** Duration in ms of the last computation above which requests do not wait for a new list, but use the old list. */
const QUICK_MS = 50;
/** Number of digits of a claim id in the error text. */
const SHOWN_DIGITS = 10;
/** Character code of `@`, the first character of channel names. */
const CHANNEL_MARK = 0x40;

export interface BlockingSource extends ClaimIndexReader {
  /** Ids of the live claims (unspent and not expired) with a valid signature of the channel. */
  signedBy(channelId: Bytes): Promise<Bytes[]>;
}

/** Reason why a URL is not resolved. */
export interface ClaimBlocking {
  readonly text: string;
  readonly channel: ClaimRecord;
}

interface Ban {
  readonly channel: ClaimRecord;
  readonly repost: ClaimRecord;
  readonly isOfChannel: boolean;
}

export class BlockedClaims {
  private readonly index: BlockingSource;
  private readonly channelIds: readonly Bytes[];
  /** Returns a text that changes whenever the tip of the chain changes. */
  private readonly snapshot: () => string;
  /**
   * Blocking reposts by the id of the blocked claim or channel; null before the first computation. `bansOf` identifies the
   * tip for which they were computed.
   */
  private bans: ReadonlyMap<string, Ban> | null = null;
  private bansOf = '';
  private tookMs = 0;
  private loading: Promise<void> | null = null;

  constructor(index: BlockingSource, channelIds: readonly Bytes[], snapshot: () => string) {
    this.index = index;
    this.channelIds = channelIds;
    this.snapshot = snapshot;
  }

  /** Resolves to the reason why a claim is blocked; null if it is not blocked. */
  async of({ claim, channel, reposted, repostedChannel }: ResolvedUrl): Promise<ClaimBlocking | null> {
    if (claim === null) return null;
    // A computation that is running may have started for an earlier tip, so up to two are awaited. The second is for the
    // current tip.
    for (let round = 0; round < 2 && this.bansOf !== this.snapshot(); round++) {
      const loading = (this.loading ??= this.load().finally(() => (this.loading = null)));
      if (this.bans === null || this.tookMs < QUICK_MS) await loading;
      // The error is ignored at this point, because the next request repeats the failed computation.
      else loading.catch(() => undefined);
    }
    const ban =
      this.find(claim, false) ??
      this.find(reposted, false) ??
      this.find(claim, true) ??
      this.find(repostedChannel, true) ??
      this.find(channel, true);
    return ban && { text: await this.textOf(claim, ban), channel: ban.channel };
  }

  private find(claim: ClaimRecord | null, asChannel: boolean): Ban | null {
    const ban = claim && this.bans?.get(toLatin1(claim.claimId));
    return ban && (!asChannel || ban.isOfChannel) ? ban : null;
  }

  private async load(): Promise<void> {
    const beganMs = performance.now();
    const snapshot = this.snapshot();
    const bans = new Map<string, Ban>();
    for (const channel of await this.index.claims(this.channelIds)) {
      if (channel === null) continue;
      const ids = await this.index.signedBy(channel.claimId);
      for (let at = 0; at < ids.length; at += CLAIMS_AT_ONCE) {
        const claims = await this.index.claims(ids.slice(at, at + CLAIMS_AT_ONCE));
        const reposts = claims.filter(
          (claim) => claim !== null && claim.repostedId !== null,
        ) as ClaimRecord[];
        const targets = await this.index.claims(reposts.map(({ repostedId }) => repostedId!));
        for (const [n, repost] of reposts.entries()) {
          const target = targets[n];
          const key = target && toLatin1(target.claimId);
          // If several channels block a claim, the error text contains the first of them in the option's list.
          if (!key || bans.has(key)) continue;
          bans.set(key, { channel, repost, isOfChannel: target.name[0] === CHANNEL_MARK });
        }
      }
    }
    this.bans = bans;
    this.bansOf = snapshot;
    this.tookMs = performance.now() - beganMs;
  }

  /** Error text for a blocked URL. It includes a superfluous apostrophe, like the reference. */
  private async textOf({ canonicalUrl, shortUrl }: ClaimRecord, { channel, repost }: Ban): Promise<string> {
    const by = `${shown(channel)}/${shown(repost)}`;
    const reason = await this.reasonOf(repost);
    return `Resolve of 'lbry://${canonicalUrl || shortUrl}' was blocked by lbry://${by}'. Reason given: ${reason}`;
  }

  private async reasonOf({ claimId }: ClaimRecord): Promise<string> {
    const value = await this.index.value(claimId);
    try {
      return value === null ? '' : decodeClaim(value).claim.description;
    } catch (error) {
      if (error instanceof MetadataError) return '';
      throw error;
    }
  }
}

function shown({ name, claimId }: ClaimRecord): string {
  const text = decodeUtf8(name) ?? Buffer.from(name).toString('latin1');
  return `${text}#${hashToHex(claimId).slice(0, SHOWN_DIGITS)}`;
}
