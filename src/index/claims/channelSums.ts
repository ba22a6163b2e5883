/** Sums of the supports of claims by the channels that signed them, from the rows of the claim index. */
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { prefixEnd } from '../../store/rows/rows.js';
import {
  groupOf,
  ID_LENGTH,
  keyTag,
  signedByPrefix,
  signedCountKey,
  supportSumsPrefix,
  turned,
} from './claimIndexKeys.js';
import type { ClaimRecord } from './claimReader.js';
import { parseCountRow, parseSupportSumRow } from './claimRow.js';
import type { ResolveScope } from './resolveUrl.js';
import { forEachRow } from './rowWalk.js';

/** Sum of the unspent supports that a live channel signed with its current key. "Live" means unspent and not expired. */
export interface ChannelSum {
  readonly channel: ClaimRecord;
  readonly amountSat: bigint;
  readonly count: number;
}

/**
 * Ids of the live claims that the channel signed with its current key; empty if the channel is not live. "Live" means
 * unspent and not expired.
 */
export async function readSignedBy({ rows, records }: ResolveScope, channelId: string): Promise<Bytes[]> {
  const ids: Bytes[] = [];
  const [channel] = await records.rowsOf([channelId]);
  if (!channel?.publicKey) return ids;
  await forEachRow(rows, signedByPrefix(channelId, keyTag(channel.publicKey)), (_key, row) => ids.push(row));
  return ids;
}

/** A page of the claims of a channel. Its cursor is the key of the last row without the prefix of the channel and its key. */
export interface SignedPage {
  readonly ids: readonly Bytes[];
  /** Number of all claims of the channel. */
  readonly total: number;
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null;
}

/**
 * A page of the live claims that the channel signed with its current key, in the order of their rows (`signedByPrefix`). Empty for a
 * claim of another kind; null if the claim is not live. A cursor stays valid when the channel changes its key.
 */
export async function readSignedPage(
  { rows, records }: ResolveScope,
  channelId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<SignedPage | null> {
  const [channel] = await records.rowsOf([channelId]);
  if (!channel) return null;
  if (!channel.publicKey) return { ids: [], total: 0, next: null };
  const tag = keyTag(channel.publicKey);
  const prefix = signedByPrefix(channelId, tag);
  const gte = after === '' ? prefix : `${prefix}${after}\0`;
  // One row more than the page has shows whether another page follows.
  const found = await rows.getRange({ gte, lt: prefixEnd(prefix), limit: limit + 1 });
  const total = parseCountRow(await rows.get(signedCountKey(channelId, tag)));
  const page = found.slice(0, limit);
  const next = found.length > limit ? page.at(-1)![0].slice(prefix.length) : null;
  return { ids: page.map(([, row]) => row), total, next };
}

/**
 * Sums of the supports of all these claims together, by supporting channel, in no particular order. Ids are latin1 strings
 * in wire order; ids of claims that are not live are ignored. `yieldIfDue` is called between claims.
 */
export async function readChannelSums(
  { rows, records }: ResolveScope,
  claimIds: readonly string[],
  yieldIfDue: () => Promise<void> | null,
): Promise<ChannelSum[]> {
  const sums = new Map<string, { count: number; amountSat: bigint }>();
  const claims = await records.rowsOf(claimIds);
  for (const [i, claim] of claims.entries()) {
    if (claim === null) continue;
    const prefix = supportSumsPrefix(claimIds[i]!, groupOf(claim.rawName));
    await forEachRow(rows, prefix, (key, row) => {
      const { count, amountSat } = parseSupportSumRow(row);
      const signer = key.slice(prefix.length);
      const sum = sums.get(signer);
      if (!sum) sums.set(signer, { count, amountSat });
      else {
        sum.count += count;
        sum.amountSat += amountSat;
      }
    });
    const pause = yieldIfDue();
    if (pause !== null) await pause;
  }
  const signers = [...sums].map(([key, sum]) => {
    return { id: turned(key.slice(0, ID_LENGTH)), tag: key.slice(ID_LENGTH), ...sum };
  });
  const channels = await records.rowsOf(signers.map(({ id }) => id));
  const present = signers.filter(({ tag }, i) => {
    const key = channels[i]?.publicKey;
    return key && keyTag(key) === tag;
  });
  const found = await records.load(present.map(({ id }) => id));
  return present.flatMap(({ amountSat, count }, i) => {
    const channel = found[i] ?? null;
    return channel === null ? [] : [{ channel, amountSat, count }];
  });
}

/**
 * Returns the id of the claim and, with `withContent`, also the ids of the claims that it signed as a channel. Null if the
 * claim is not live.
 */
export async function withSigned(
  scope: ResolveScope,
  claimId: Bytes,
  withContent: boolean,
): Promise<string[] | null> {
  const id = toLatin1(claimId);
  const [claim] = await scope.records.rowsOf([id]);
  if (!claim) return null;
  return withContent ? [id, ...(await readSignedBy(scope, id)).map(toLatin1)] : [id];
}
