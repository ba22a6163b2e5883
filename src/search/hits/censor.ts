/**
 * Blocking and filtering of claims: what the reposts of listed channels censor. Each live repost with a valid signature of a
 * listed channel censors its target and all reposts of the target. If the target is a channel, all claims of this channel
 * are censored too. Documents do not store censorship; it is computed from the lists and the index for each search. Source:
 * lbryio/hub hub/db/db.py `get_streams_and_channels_reposted_by_channel_hashes`, hub/elastic_sync/db.py.
 */
import type { CensorSet } from '../query/conditionSql.js';

/** Level of censorship: 0 for none, 1 for filtered from searches, 2 for blocked. */
export type CensorType = 0 | 1 | 2;

/** Claim ids of the listed channels, hex in display order. A result names the first listed channel that censors a claim. */
export interface CensorLists {
  readonly blocking: readonly string[];
  readonly filtering: readonly string[];
}

/** A repost by a listed channel, which censors its target. */
export interface CensoringRepost {
  readonly channelId: string;
  readonly targetId: string;
  readonly isTargetChannel: boolean;
}

export interface Censorship {
  readonly type: CensorType;
  readonly channelId: string | null;
}

const NONE: Censorship = { type: 0, channelId: null };

export interface CensorableClaim {
  readonly claimId: string;
  readonly channelId: string | null;
  readonly repostedId: string | null;
}

/** Censored claims and channels, computed from the channel lists and their reposts. */
export class Censor {
  /**
   * Censoring channel by target id, for each set: one for all targets, including channels, and one for targets that are
   * channels.
   */
  readonly sets: Readonly<Record<CensorSet, ReadonlyMap<string, string>>>;

  constructor(lists: CensorLists, reposts: readonly CensoringRepost[]) {
    const sets = {
      blockedClaims: new Map<string, string>(),
      blockedChannels: new Map<string, string>(),
      filteredClaims: new Map<string, string>(),
      filteredChannels: new Map<string, string>(),
    };
    const byChannel = groupByChannel(reposts);
    const read = (channels: readonly string[], claims: Map<string, string>, targets: Map<string, string>) => {
      for (const channel of channels) {
        for (const { targetId, isTargetChannel } of byChannel.get(channel) ?? []) {
          if (!claims.has(targetId)) claims.set(targetId, channel);
          if (isTargetChannel && !targets.has(targetId)) targets.set(targetId, channel);
        }
      }
    };
    read(lists.blocking, sets.blockedClaims, sets.blockedChannels);
    read(lists.filtering, sets.filteredClaims, sets.filteredChannels);
    this.sets = sets;
  }

  get isEmpty(): boolean {
    return this.sets.blockedClaims.size === 0 && this.sets.filteredClaims.size === 0;
  }

  /** Returns the censorship of a claim. Blocking has priority over filtering. */
  of(claim: CensorableClaim): Censorship {
    const { blockedClaims, blockedChannels, filteredClaims, filteredChannels } = this.sets;
    const blocking = censoring(claim, blockedClaims, blockedChannels);
    if (blocking !== undefined) return { type: 2, channelId: blocking };
    const filtering = censoring(claim, filteredClaims, filteredChannels);
    return filtering === undefined ? NONE : { type: 1, channelId: filtering };
  }
}

function censoring(
  { claimId, channelId, repostedId }: CensorableClaim,
  claims: ReadonlyMap<string, string>,
  channels: ReadonlyMap<string, string>,
): string | undefined {
  return (
    claims.get(claimId) ??
    (repostedId === null ? undefined : claims.get(repostedId)) ??
    (channelId === null ? undefined : channels.get(channelId))
  );
}

function groupByChannel(reposts: readonly CensoringRepost[]): Map<string, CensoringRepost[]> {
  const groups = new Map<string, CensoringRepost[]>();
  for (const repost of reposts) {
    const group = groups.get(repost.channelId);
    if (group === undefined) groups.set(repost.channelId, [repost]);
    else group.push(repost);
  }
  return groups;
}

/** Counts the censored rows of a page by the channel that censors them. Several rows of one transaction count once. */
export function countBlocked(
  rows: readonly (CensorableClaim & { readonly transaction: string })[],
  censor: Censor,
): { readonly channelId: string; readonly count: number }[] {
  const transactions = new Map<string, Set<string>>();
  for (const row of rows) {
    const { channelId } = censor.of(row);
    if (channelId === null) continue;
    const seen = transactions.get(channelId);
    if (seen === undefined) transactions.set(channelId, new Set([row.transaction]));
    else seen.add(row.transaction);
  }
  return [...transactions].map(([channelId, seen]) => ({ channelId, count: seen.size }));
}
