/**
 * The row with the current state of a name: its claims in their order, with the fields that are needed for hashes and order,
 * and sums and counters.
 */
import { pointIndex } from '../../../claimtrie/item.js';
import { ActiveClaim, emptyNameState, type NameState } from '../../../claimtrie/nameState.js';
import type { Bytes } from '../../../util/bytes.js';
import { RowDecoder, RowEncoder } from './rowCodec.js';

const FLAG_ORIGINAL = 1;
/** Flag: a `since` field follows the height. */
export const FLAG_REFILED = 2;
/** Flag: after the outpoint the row contains the claim id. */
export const FLAG_HAS_ID = 4;
/**
 * Number of claims of a name from which on the row stores claim ids that could be computed from the outpoint, because
 * hashing many ids takes time.
 */
const MANY_CLAIMS = 16;

const encoder = new RowEncoder();

/** Writes an outpoint: the txid and the output number. */
export function writePoint(out: RowEncoder, point: string): void {
  out.raw(point.slice(0, 32)).number(pointIndex(point));
}

export function readPoint(input: RowDecoder): string {
  const txid = input.raw(32);
  const n = input.number();
  return txid + String.fromCharCode(n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255);
}

export function formatNameRow(state: NameState): Buffer {
  encoder.number(state.takeover).number(state.alive).number(state.sinceSnapshot);
  encoder.number(state.claims.length);
  for (const claim of state.claims) {
    const withId = !claim.isOriginal || state.claims.length >= MANY_CLAIMS;
    encoder.byte(
      (claim.isOriginal ? FLAG_ORIGINAL : 0) |
        (claim.since === claim.height ? 0 : FLAG_REFILED) |
        (withId ? FLAG_HAS_ID : 0),
    );
    encoder.number(claim.height);
    if (claim.since !== claim.height) encoder.number(claim.since);
    writePoint(encoder, claim.point);
    if (withId) encoder.raw(claim.claimId);
    encoder.amount(claim.amount).amount(claim.effective - claim.amount);
  }
  if (state.dangling.size + state.pending.size > 0) {
    encoder.number(state.dangling.size);
    for (const id of [...state.dangling.keys()].sort()) encoder.raw(id).amount(state.dangling.get(id)!);
    for (const due of [...state.pending.keys()].sort((a, b) => a - b)) {
      encoder.number(due).number(state.pending.get(due)!);
    }
  }
  return encoder.finish();
}

export function parseNameRow(row: Bytes): NameState {
  const input = new RowDecoder(row);
  const state = emptyNameState();
  state.takeover = input.number();
  state.alive = input.number();
  state.sinceSnapshot = input.number();
  for (let left = input.number(); left > 0; left--) state.claims.push(readClaim(input));
  if (input.done) return state;
  for (let left = input.number(); left > 0; left--) {
    const id = input.raw(20);
    state.dangling.set(id, input.amount());
  }
  while (!input.done) {
    const due = input.number();
    state.pending.set(due, input.number());
  }
  return state;
}

/** Parses the claim at offset `start` of a name's row. */
export function parseClaimAt(row: Bytes, start: number): ActiveClaim {
  return readClaim(new RowDecoder(row.subarray(start)));
}

function readClaim(input: RowDecoder): ActiveClaim {
  const flags = input.byte();
  const height = input.number();
  const since = flags & FLAG_REFILED ? input.number() : height;
  const point = readPoint(input);
  const id = flags & FLAG_HAS_ID ? input.raw(20) : null;
  const amount = input.amount();
  const effective = amount + input.amount();
  return new ActiveClaim(point, (flags & FLAG_ORIGINAL) !== 0, id, amount, height, since, effective);
}

/**
 * The first fields of a name's row: the takeover height, the number of stored claims and supports, the number of active
 * claims, and the best claim.
 */
export interface NameHead {
  takeover: number;
  alive: number;
  claims: number;
  best: ActiveClaim | null;
}

/** Parses only the first fields of a name's row, so the time does not depend on the number of claims. */
export function parseNameHead(row: Bytes): NameHead {
  const input = new RowDecoder(row);
  const takeover = input.number();
  const alive = input.number();
  input.number();
  const claims = input.number();
  return { takeover, alive, claims, best: claims > 0 ? readClaim(input) : null };
}

/** Whether the name has active claims. Reads only the name's row. */
export function rowHasClaims(row: Bytes): boolean {
  const input = new RowDecoder(row);
  input.number();
  input.number();
  input.number();
  return input.number() > 0;
}
