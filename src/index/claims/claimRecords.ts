/**
 * Claims as of the tip, assembled from the index's rows and the claim trie's (the row values of hub db/prefixes.py). An
 * instance is used for one query. It reads rows that several claims share only once. The caller must check that the tip has
 * not changed.
 */
import { isUtf8 } from 'node:buffer';
import type { Item } from '../../claimtrie/item.js';
import { pointIndex, pointTxid } from '../../claimtrie/item.js';
import { findClaim, type NameState } from '../../claimtrie/nameState.js';
import { expirationHeight } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { itemKey, nameKey } from '../../store/claims/rows/claimKeys.js';
import { parseItemRow } from '../../store/claims/rows/itemRow.js';
import type { RowReader } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { asBuffer, fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { claimKey, countsKey, groupOf, keyTag, signedCountKey, supportsKey } from './claimIndexKeys.js';
import type { ClaimRecord, PlainClaim } from './claimReader.js';
import { parseAmountRow, parseClaimRow, parseCountRow, type ClaimRow } from './claimRow.js';
import { filedNames, findPresentItem } from './filedNames.js';
import { shortDigits, type NameOrders } from './nameOrders.js';
import { NameStates } from '../../store/claims/query/nameStates.js';

/** Number of claims whose rows are read together. */
const CLAIMS_A_READ = 256;

/** The row and the claim trie output of a claim that is unspent and not expired. */
interface Found {
  readonly claimId: string;
  readonly row: ClaimRow;
  readonly item: Item;
  readonly state: NameState | null;
}

/** Removes duplicate ids and splits the rest into parts that are read together. */
function* partsOf(claimIds: readonly string[]): Generator<string[]> {
  const ids = [...new Set(claimIds)];
  for (let at = 0; at < ids.length; at += CLAIMS_A_READ) yield ids.slice(at, at + CLAIMS_A_READ);
}

/** Ids of the claims that a claim's record depends on: the channel that may have signed it, and the reposted claim. */
function referredBy({ signers, channelId, repostedId }: ClaimRow): string[] {
  return [...(signers.length > 0 ? [channelId!] : []), ...(repostedId === null ? [] : [repostedId])];
}

/** Decodes a name to text. A name that is not valid UTF-8 is decoded byte by byte. */
export function nameText(name: Bytes): string {
  return isUtf8(name) ? asBuffer(name).toString('utf8') : toLatin1(name);
}

export class ClaimRecords {
  private readonly rows: RowReader;
  private readonly rules: ClaimRules;
  private readonly height: number;
  private readonly orders: NameOrders;
  private readonly parsed: NameStates;
  private readonly claims = new Map<string, ClaimRow | null>();
  private readonly states = new Map<string, NameState | null>();
  /** Items of claims in the claim trie, by outpoint; null if the claim trie has none. */
  private readonly items = new Map<string, Item | null>();

  /**
   * Reads records of claims at the tip, whose height is `height`. `orders` has the lists of claims by name for that tip, `parsed`
   * the states of names.
   */
  constructor(
    rows: RowReader,
    rules: ClaimRules,
    height: number,
    orders: NameOrders,
    parsed = new NameStates(),
  ) {
    this.rows = rows;
    this.rules = rules;
    this.height = height;
    this.orders = orders;
    this.parsed = parsed;
  }

  /** Reads the index rows of claims; null for a claim that is spent or expired. */
  async rowsOf(claimIds: readonly string[]): Promise<(ClaimRow | null)[]> {
    const missing = [...new Set(claimIds)].filter((id) => !this.claims.has(id));
    const found = await this.rows.getMany(missing.map(claimKey));
    missing.forEach((id, i) => this.claims.set(id, found[i] ? parseClaimRow(found[i]) : null));
    return claimIds.map((id) => this.claims.get(id) ?? null);
  }

  /** Takes the index row of a claim that the caller has read. */
  note(claimId: string, row: Bytes): void {
    this.claims.set(claimId, parseClaimRow(row));
  }

  /** The index row of a claim that `rowsOf` has read before; null for a claim that is spent or expired. */
  knownRow(claimId: string): ClaimRow | null {
    return this.claims.get(claimId) ?? null;
  }

  /** Reads states of names in the claim trie. The names must have the spelling with which they are stored. */
  async statesOf(names: readonly string[]): Promise<(NameState | null)[]> {
    const missing = [...new Set(names)].filter((name) => !this.states.has(name));
    const found = await this.rows.getMany(missing.map(nameKey));
    missing.forEach((name, i) => this.states.set(name, found[i] ? this.parsed.of(name, found[i]) : null));
    return names.map((name) => this.states.get(name) ?? null);
  }

  /**
   * Reads the records of claims in the order of the ids; null for a claim that is spent or expired. Ids are latin1 strings
   * in wire order.
   */
  async load(claimIds: readonly string[]): Promise<(ClaimRecord | null)[]> {
    const records = new Map<string, ClaimRecord>();
    let since = performance.now();
    for (const part of partsOf(claimIds)) {
      for (const { found, claim } of await this.loadPart(part)) {
        records.set(found.claimId, { ...claim, ...(await this.urlsOf(found)) });
        // Yields here, because computing a short URL reads all claims of the name.
        since = await yieldIfDue(since);
      }
    }
    return claimIds.map((id) => records.get(id) ?? null);
  }

  /** Like `load`, but without URLs. */
  async loadPlain(claimIds: readonly string[]): Promise<(PlainClaim | null)[]> {
    const claims = new Map<string, PlainClaim>();
    let since = performance.now();
    for (const part of partsOf(claimIds)) {
      for (const { found, claim } of await this.loadPart(part)) claims.set(found.claimId, claim);
      since = await yieldIfDue(since);
    }
    return claimIds.map((id) => claims.get(id) ?? null);
  }

  /** Items of the claims in the claim trie; null for a claim that the trie does not contain. */
  async itemsOf(claims: readonly ClaimRow[]): Promise<(Item | null)[]> {
    const missing = claims.filter(({ point }) => !this.items.has(point));
    const likely = missing.map(({ rawName }) => filedNames(this.rules, rawName, this.height)[0]!);
    const keys = missing.map(({ height, point }, i) => itemKey(likely[i]!, height, point));
    const rows = await this.rows.getMany(keys);
    for (const [i, claim] of missing.entries()) {
      const { height, point } = claim;
      const bytes = rows[i];
      const item = bytes ? parseItemRow(likely[i]!, height, point, bytes) : null;
      const filed =
        item?.removed === 0 ? item : await findPresentItem(this.rows, this.rules, claim, this.height);
      this.items.set(point, filed);
    }
    return claims.map(({ point }) => this.items.get(point)!);
  }

  private async loadPart(claimIds: readonly string[]): Promise<{ found: Found; claim: PlainClaim }[]> {
    const alive: { claimId: string; row: ClaimRow }[] = [];
    const rows = await this.rowsOf(claimIds);
    claimIds.forEach((claimId, i) => rows[i] && alive.push({ claimId, row: rows[i] }));
    await this.rowsOf(alive.flatMap(({ row }) => referredBy(row)));
    const found = await this.findItems(alive);
    const counts = await this.rows.getMany(found.map(({ claimId }) => countsKey(claimId)));
    const sums = await this.rows.getMany(
      found.map(({ claimId, row }) => supportsKey(claimId, groupOf(row.rawName))),
    );
    const keyed = found.filter(({ row }) => row.publicKey !== null);
    const signed = await this.rows.getMany(
      keyed.map(({ claimId, row }) => signedCountKey(claimId, keyTag(row.publicKey!))),
    );
    const signedOf = new Map(keyed.map((one, i) => [one, parseCountRow(signed[i])]));
    return found.map((one, i) => {
      const supportAmountSat = parseAmountRow(sums[i]);
      const claim = {
        ...this.describe(one),
        supportAmountSat,
        repostCount: parseCountRow(counts[i]),
        claimsInChannel: signedOf.get(one) ?? 0,
      };
      return { found: one, claim };
    });
  }

  private async findItems(claims: readonly { claimId: string; row: ClaimRow }[]): Promise<Found[]> {
    const items = await this.itemsOf(claims.map(({ row }) => row));
    await this.statesOf(items.flatMap((item) => item?.name ?? []));
    const found: Found[] = [];
    for (const [i, { claimId, row }] of claims.entries()) {
      const item = items[i]!;
      // The trie lacks the item only while a block is being connected. The query is then repeated.
      if (item === null) continue;
      found.push({ claimId, row, item, state: this.states.get(item.name) ?? null });
    }
    return found;
  }

  /** Channel whose current key signed the claim; null if there is none. The row of the channel must have been read. */
  private channelOf({ signers, channelId }: ClaimRow): ClaimRow | null {
    const channel = signers.length > 0 ? this.claims.get(channelId!) : null;
    if (!channel?.publicKey) return null;
    return signers.includes(keyTag(channel.publicKey)) ? channel : null;
  }

  private describe({
    claimId,
    row,
    item,
    state,
  }: Found): Omit<PlainClaim, 'supportAmountSat' | 'repostCount' | 'claimsInChannel'> {
    const best = state?.claims[0];
    return {
      claimId: fromLatin1(claimId),
      name: fromLatin1(row.rawName),
      normalizedName: fromLatin1(groupOf(row.rawName)),
      txid: pointTxid(row.point),
      nout: pointIndex(row.point),
      height: row.height,
      position: row.position,
      amountSat: item.amount,
      creationHeight: row.creationHeight,
      creationPosition: row.creationPosition,
      creationNout: row.creationNout,
      activationHeight: item.activated === 0 ? item.dueHeight : item.activated,
      expirationHeight: expirationHeight(this.rules, item.height),
      takeoverHeight: best ? state!.takeover : 0,
      isControlling: best?.claimId === claimId,
      effectiveAmountSat: (state && findClaim(state, row.point)?.effective) ?? 0n,
      kind: row.kind,
      channelId: row.channelId === null ? null : fromLatin1(row.channelId),
      isSignatureValid: this.channelOf(row) !== null,
      repostedId: row.repostedId === null ? null : fromLatin1(row.repostedId),
      isRepostedGone: row.repostedId !== null && !this.claims.get(row.repostedId),
    };
  }

  private async urlsOf({ claimId, row }: Found): Promise<Pick<ClaimRecord, 'shortUrl' | 'canonicalUrl'>> {
    const channel = this.channelOf(row);
    const shortUrl = await this.shortUrl(claimId, row);
    if (channel === null) return { shortUrl, canonicalUrl: shortUrl };
    return { shortUrl, canonicalUrl: `${await this.shortUrl(row.channelId!, channel)}/${shortUrl}` };
  }

  private async shortUrl(claimId: string, { rawName }: ClaimRow): Promise<string> {
    const order = await this.orders.of(this.rows, groupOf(rawName));
    return `${nameText(fromLatin1(rawName))}#${shortDigits(order, fromLatin1(claimId))}`;
  }
}
