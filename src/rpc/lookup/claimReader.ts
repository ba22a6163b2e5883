/** Implements `ClaimReader` with the node's claim store. */
import { foreseeName } from '../../claimtrie/forecast.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { claimIdKey } from '../../store/claims/rows/claimKeys.js';
import { findClaimById, readChanges, readNames, readTotals } from '../../store/claims/query/claimQueries.js';
import { describePastNames, describePresentNames, namesBehind } from '../../store/claims/query/nameList.js';
import { readNameHistory } from '../../store/claims/query/nameHistory.js';
import { readNewestClaims } from '../../store/claims/query/newestClaims.js';
import { FORESEEN_BLOCKS_BEHIND, readDueNames, readUpcoming } from '../../store/claims/query/upcoming.js';
import { readLbcdChanges } from '../../store/claims/lbcd/lbcdSchedule.js';
import { readLbcdName } from '../../store/claims/lbcd/lbcdView.js';
import { isNodeAfter, readProof } from '../../store/claims/query/proofQueries.js';
import { readPastEvents } from '../../store/claims/query/pastEvents.js';
import { readClaimOutputs, readPresentStandings, readStandings } from '../../store/claims/query/standings.js';
import { oldestProvable, type ProofWindow } from '../../store/claims/versions.js';
import { readAtHand } from '../../store/rows/rowsAtHand.js';
import type { RowReader } from '../../store/rows/rows.js';
import { fromLatin1, toLatin1 } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import { whenResolved } from '../../util/maybePromise.js';
import type { ItemForecaster } from './pastNames.js';
import {
  LONGEST_FILED_BYTES,
  longFiledName,
  longProofQuery,
  PresentClaims,
  type TipView,
} from './presentClaims.js';

import type { ClaimReader } from '../../interfaces/claimReader.js';
type Outputs = Pick<ClaimReader, 'standings' | 'outputStates' | 'outputsOf' | 'findClaim' | 'aliveNames'>;

function outputs(claims: PresentClaims): Outputs {
  const { rows, rules, active } = claims;
  return {
    standings: (query) =>
      claims.prefer(
        query.height,
        () => readPresentStandings(rows, rules, query, claims.heads()),
        () => readStandings(rows, rules, query),
      ),
    outputStates: (query) => claims.outputStates(query),
    outputsOf: (name, claimIds) => readClaimOutputs(rows, rules, { name, height: active.height, claimIds }),
    findClaim: (idDigits) => findClaimById(rows, idDigits),
    aliveNames: (claimIds) =>
      readAtHand(rows, (atHand) => {
        const found = atHand.getMany(claimIds.map((id) => claimIdKey(toLatin1(id))));
        // Missing rows are holes in the array. They are converted to null here, because `map` would skip holes.
        return claimIds.map((_, i) => found[i] ?? null);
      }),
  };
}

type Blocks = Pick<
  ClaimReader,
  'changesIn' | 'eventsOf' | 'newestClaims' | 'lbcdChangesIn' | 'lbcdNameAt' | 'totals'
>;

function blocks({ rows, rules, active }: PresentClaims): Blocks {
  return {
    changesIn: (height) => readChanges(rows, height),
    eventsOf: (block) => readPastEvents(rows, rules, block),
    newestClaims: (place, count) => readNewestClaims(rows, place, count),
    lbcdChangesIn: (height) => readLbcdChanges(rows, rules, height),
    async lbcdNameAt(asked, height) {
      const isLong = asked.length > LONGEST_FILED_BYTES;
      const name = isLong ? await longFiledName(rules, asked, height) : asked;
      if (name.length > LONGEST_FILED_BYTES) return null;
      return readLbcdName(rows, rules, { name, height, tipHeight: active.height });
    },
    totals: () => readTotals(rows),
  };
}

type Names = Pick<ClaimReader, 'namesAt' | 'listNames' | 'historyOf' | 'latestHistoryOf'>;

function names(claims: PresentClaims): Names {
  const { rows, rules } = claims;
  return {
    namesAt: (height) => readNames(rows, height),
    async listNames({ height, prefix, after, count }) {
      const start = await claims.filed(prefix, height);
      if (start === null || (after !== null && after.length > LONGEST_FILED_BYTES))
        return { names: [], next: null };
      const behind = after === null ? null : toLatin1(after);
      const found = await namesBehind(rows, { height, prefix: start, after: behind, count });
      const wanted = found.slice(0, count);
      const listed = await claims.prefer(
        height,
        () => describePresentNames(rows, wanted),
        () => describePastNames(rows, rules, wanted, height),
      );
      return { names: listed, next: found.length > count ? listed.at(-1)!.name : null };
    },
    async historyOf(asked, span) {
      const name = await claims.filed(asked, span.to);
      if (name === null) return { name: asked, blocks: [], next: null };
      return { name: fromLatin1(name), ...(await readNameHistory(rows, { name, ...span })) };
    },
    async latestHistoryOf(asked, span) {
      const name = await claims.filed(asked, span.to);
      if (name === null) return { name: asked, blocks: [], next: null };
      return { name: fromLatin1(name), ...(await claims.latestHistory(name, span)) };
    },
  };
}

type Forecasts = Pick<ClaimReader, 'oldestForeseeing' | 'upcoming'> & { readonly foresee: ItemForecaster };

function forecasts(
  rows: RowReader,
  { rules, proofWindow }: { rules: ClaimRules; proofWindow: ProofWindow },
  active: TipView,
): Forecasts {
  const oldestForeseeing = async (): Promise<number> => {
    const provable = await oldestProvable(rows, proofWindow, active.height);
    return Math.max(provable, active.height - FORESEEN_BLOCKS_BEHIND);
  };
  const isNode = (name: string, height: number): Promise<boolean> =>
    isNodeAfter(rows, rules, proofWindow, { name, height, tipHeight: () => active.height });
  return {
    oldestForeseeing,
    async foresee({ isHeld, ...of }, span) {
      if (span.height < (await oldestForeseeing())) return null;
      const isParting = !isHeld && (await isNode(of.name, span.height));
      return inSlices(foreseeName(rules, { ...of, ...span, isParting }));
    },
    async upcoming(query) {
      const { tip, disconnects } = active;
      const { height } = query;
      if (height > active.height) return null;
      const due = await readDueNames(rows, query, active.height);
      if (active.tip !== tip || active.disconnects !== disconnects) return null;
      return readUpcoming(rows, rules, query, due, (name) => isNode(name, height));
    },
  };
}

/**
 * Creates a `ClaimReader` for the node's claim store. `rows` are the committed rows; they change together with the tip of
 * `active`.
 */
export function claimReader(
  rows: RowReader,
  { rules, proofWindow }: { rules: ClaimRules; proofWindow: ProofWindow },
  active: TipView,
): ClaimReader & { refresh(): Promise<void> } {
  const { oldestForeseeing, foresee, upcoming } = forecasts(rows, { rules, proofWindow }, active);
  const claims = new PresentClaims(rows, rules, active, foresee);
  return {
    rules,
    refresh: () => claims.refresh(),
    textOf: (query) => claims.textOf(query),
    caches: () => claims.caches(),
    nameAt: (query) => claims.nameAt(query),
    bidsAt: (query) => claims.bidsAt(query),
    claimAt: (query, choice) => claims.claimAt(query, choice),
    proofAt(asked) {
      const isLong = asked.name.length > LONGEST_FILED_BYTES;
      return whenResolved(isLong ? longProofQuery(rules, asked) : asked, (query) =>
        claims.prefer(
          query.height,
          () => claims.presentProof(query),
          () => readProof(rows, rules, proofWindow, query),
        ),
      );
    },
    ...outputs(claims),
    ...blocks(claims),
    ...names(claims),
    oldestForeseeing,
    upcoming,
  };
}
