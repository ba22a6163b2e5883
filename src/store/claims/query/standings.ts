/**
 * The state in the trie of the claims and supports of one transaction. After the latest block it is read from one row for
 * each output and the row of each name, independent of the number of other claims. Stores no rows.
 */
import { pointIndex, pointKey, pointTxid } from '../../../claimtrie/item.js';
import type { ClaimRules } from '../../../claimtrie/types.js';
import { fromLatin1, toLatin1, type Bytes } from '../../../util/bytes.js';
import type { MaybePromise } from '../../../util/maybePromise.js';
import type { RowReader } from '../../rows/rows.js';
import { readAtHand } from '../../rows/rowsAtHand.js';
import { filedName, readName } from './claimQueries.js';
import { itemKey, nameKey } from '../rows/claimKeys.js';
import { parseItemStanding } from '../rows/itemRow.js';
import { readHeads, type KnownHeads } from './nameHeads.js';
import { NamePlaces } from '../namePlaces.js';

/** An output of the transaction that is a claim or a support. */
export interface MadeOutput {
  /** The name as spelled in the script. */
  readonly name: Bytes;
  readonly n: number;
}

export interface StandingsQuery {
  /** Height of the block after which the state is queried. */
  readonly height: number;
  /** Transaction id in wire order. */
  readonly txid: Bytes;
  /** Height of the block that contains the transaction. */
  readonly madeAt: number;
  readonly outputs: readonly MadeOutput[];
  /**
   * Whether to search the outputs under the name without normalization. The controlling claim is always searched under the
   * normalized name.
   */
  readonly exact?: boolean;
}

export interface Standing {
  readonly active: boolean;
  /** Height at which the output becomes active or became active. */
  readonly validAtHeight: number;
  /** Whether the claim controls its name. */
  readonly controls: boolean;
}

/** `filed`: the name under which an output is searched. `normalized`: the name whose controlling claim is read. */
interface Names {
  readonly filed: string;
  readonly normalized: string;
}

function namesOf(rules: ClaimRules, { height, outputs, exact }: StandingsQuery): Names[] {
  return outputs.map(({ name }) => {
    const normalized = filedName(rules, name, height);
    return { filed: exact === true ? toLatin1(name) : normalized, normalized };
  });
}

/**
 * Reads states after the latest block; null for an output that is not in the claim trie. The result is invalid if a block is
 * connected or disconnected during the call.
 */
export function readPresentStandings(
  rows: RowReader,
  rules: ClaimRules,
  query: StandingsQuery,
  known?: KnownHeads,
): MaybePromise<(Standing | null)[]> {
  const { txid, madeAt, outputs } = query;
  const names = namesOf(rules, query);
  const points = outputs.map(({ n }) => pointKey(txid, n));
  // A claim or support has a row for its own block, and a second row for the fork if normalization moved it.
  const fork = rules.normalizationForkHeight;
  const filedSince = madeAt < fork && fork <= query.height ? [madeAt, fork] : [madeAt];
  const keys = filedSince.flatMap((since) => names.map(({ filed }, i) => itemKey(filed, since, points[i]!)));
  const distinct = [...new Set(names.map(({ normalized }) => normalized))];
  return readAtHand(rows, (atHand) => {
    const found = atHand.getMany(keys);
    const heads = readHeads(atHand, distinct, known);
    return names.map(({ normalized }, i) => {
      for (const [k, since] of filedSince.entries()) {
        const row = found[k * names.length + i];
        const item = row ? parseItemStanding(since, row) : null;
        if (item === null) continue;
        const active = item.activated !== 0;
        return {
          active,
          validAtHeight: active ? item.activated : item.dueHeight,
          controls: active && heads.get(normalized)?.best?.point === points[i],
        };
      }
      return null;
    });
  });
}

/** Reads states after any block, from all claims and supports under the names. */
export async function readStandings(
  rows: RowReader,
  rules: ClaimRules,
  query: StandingsQuery,
): Promise<(Standing | null)[]> {
  const { height, txid } = query;
  const known = new Map<string, { items: Map<string, Standing>; best: string | undefined }>();
  const read = async (name: string): Promise<{ items: Map<string, Standing>; best: string | undefined }> => {
    const before = known.get(name);
    if (before) return before;
    const info = await readName(rows, rules, { name: fromLatin1(name), height, exact: true });
    const items = new Map<string, Standing>();
    const [first] = info.claims;
    for (const claim of info.claims) {
      for (const { txid: id, n, active, validAtHeight } of [claim, ...claim.supports])
        items.set(pointKey(id, n), { active, validAtHeight, controls: false });
    }
    for (const { txid: id, n, active, validAtHeight } of info.supportsWithoutClaim)
      items.set(pointKey(id, n), { active, validAtHeight, controls: false });
    const entry = { items, best: first?.active === true ? pointKey(first.txid, first.n) : undefined };
    known.set(name, entry);
    return entry;
  };
  const standings: (Standing | null)[] = [];
  for (const [i, { filed, normalized }] of namesOf(rules, query).entries()) {
    const point = pointKey(txid, query.outputs[i]!.n);
    const standing = (await read(filed)).items.get(point);
    const controls = standing?.active === true && (await read(normalized)).best === point;
    standings.push(standing ? { ...standing, controls } : null);
  }
  return standings;
}

export interface PresentOutput {
  /** Transaction id in wire order. */
  readonly txid: Bytes;
  readonly n: number;
}

/**
 * The outpoints of a name's claims after the latest block, by claim id (latin1). They are read from the name row or, if the
 * name has pending claims, from the rows of all items.
 */
export async function readClaimOutputs(
  rows: RowReader,
  rules: ClaimRules,
  query: { readonly name: Bytes; readonly height: number; readonly claimIds: readonly Bytes[] },
): Promise<Map<string, PresentOutput>> {
  const { name, height, claimIds } = query;
  const outputs = new Map<string, PresentOutput>();
  const wanted = new Set(claimIds.map(toLatin1));
  const row = await rows.get(nameKey(filedName(rules, name, height)));
  if (row === undefined) return outputs;
  const places = new NamePlaces(row);
  for (let bid = 0; bid < places.count && outputs.size < wanted.size; bid++) {
    const claimId = places.idAt(bid);
    if (!wanted.has(claimId) || outputs.has(claimId)) continue;
    const { point } = places.claim(bid);
    outputs.set(claimId, { txid: pointTxid(point), n: pointIndex(point) });
  }
  if (outputs.size === wanted.size || places.pending === 0) return outputs;
  for (const claim of (await readName(rows, rules, { name, height })).claims) {
    const id = toLatin1(claim.claimId);
    if (wanted.has(id) && !outputs.has(id)) outputs.set(id, { txid: claim.txid, n: claim.n });
  }
  return outputs;
}
