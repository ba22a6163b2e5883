/**
 * Sums of supports by the supporting channels. A wallet does not have the supports of other users, so a hub computes the
 * sums with a method that only lbcnode's hubs have (docs/hub.md). The sums cannot be verified.
 */
import { formatLbc } from '../../metadata/amounts.js';
import { DaemonError } from '../base/daemonError.js';
import type { HubPort } from '../ledger/ledger.js';

const METHOD = 'lbcnode.claimtrie.support_sum';
const UNKNOWN_METHOD = /unknown method/i;

/** Sum of the supports that one channel signed. */
export interface HubSupportSum {
  /** Claim id of the channel in the hex form that programs print. */
  readonly channelId: string;
  readonly channelName: string;
  /** URL of the channel without `lbry://`. */
  readonly shortUrl: string;
  /** Amount in LBC, as a decimal text. */
  readonly amount: string;
  readonly count: number;
}

export interface SupportSumQuery {
  readonly claimId: string;
  readonly includesChannelContent: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** Sums in descending order. Throws `DaemonError` `RPCError` if the hub does not support the method. */
export async function supportSums(
  hub: Pick<HubPort, 'call'>,
  { claimId, includesChannelContent, offset, limit }: SupportSumQuery,
): Promise<HubSupportSum[]> {
  const rows = await ask(hub, [claimId, includesChannelContent, offset, limit]);
  if (!Array.isArray(rows)) throw unreadable();
  return rows.map(readRow);
}

async function ask(hub: Pick<HubPort, 'call'>, params: readonly unknown[]): Promise<unknown> {
  try {
    return await hub.call(METHOD, params);
  } catch (error) {
    if (!(error instanceof Error) || !UNKNOWN_METHOD.test(error.message)) throw error;
    throw new DaemonError(
      'RPCError',
      `The hub does not support sums of supports: it has no method ${METHOD}.`,
    );
  }
}

const unreadable = (): DaemonError => new DaemonError('RPCError', 'The hub returned invalid sums.');

function readRow(row: unknown): HubSupportSum {
  const { channel_id, name, short_url, amount, supports } = (row ?? {}) as Record<string, unknown>;
  if (
    typeof channel_id !== 'string' ||
    typeof name !== 'string' ||
    typeof short_url !== 'string' ||
    typeof amount !== 'string' ||
    !/^\d{1,20}$/.test(amount) ||
    typeof supports !== 'number'
  )
    throw unreadable();
  const shown = formatLbc(BigInt(amount));
  return { channelId: channel_id, channelName: name, shortUrl: short_url, amount: shown, count: supports };
}
