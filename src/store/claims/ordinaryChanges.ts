/** Decodes the changes of an ordinary block, as the addon describes them (`native/claims/blockWorkChanges.cpp`). */
import type { Item, ItemKind, Removal } from '../../claimtrie/item.js';
import { ActiveClaim } from '../../claimtrie/nameState.js';
import type { Bytes } from '../../util/bytes.js';
import type { TrieChanges, LoggedEvent, StateAfter } from './connect.js';
import type { FleetingClaim } from './lbcd/lbcdFleeting.js';
import { RowDecoder } from './rows/rowCodec.js';

const KINDS: readonly ItemKind[] = ['claim', 'update', 'support'];
const KIND_MASK = 3;
const FLAG_OTHER_NAME = 4;
const OPS: Readonly<Record<number, 'create' | 'spend' | 'activate'>> = {
  0: 'create',
  1: 'spend',
  3: 'activate',
};
const ID_BYTES = 20;
const POINT_BYTES = 36;

export function readChanges(bytes: Bytes, height: number): TrieChanges {
  const input = new RowDecoder(bytes);
  const totals = {
    names: input.number(),
    claims: input.number(),
    amount: input.amount(),
    controllingAmount: input.amount(),
  };
  const log: LoggedEvent[] = [];
  for (let left = input.number(); left > 0; left--) log.push(readEvent(input));
  const fleeting: FleetingClaim[] = [];
  for (let left = input.number(); left > 0; left--) {
    const claimId = input.raw(ID_BYTES);
    const name = input.string();
    fleeting.push({ claimId, name, since: height, point: input.raw(POINT_BYTES) });
  }
  const names = new Map<string, { readonly state: StateAfter }>();
  for (let left = input.number(); left > 0; left--) names.set(input.string(), { state: readState(input) });
  return { log, names, fleeting, totals };
}

function readEvent(input: RowDecoder): LoggedEvent {
  const op = OPS[input.byte()];
  return op === undefined ? { op: 'takeover', name: input.string() } : { op, item: readItem(input) };
}

function readItem(input: RowDecoder): Item {
  const flags = input.byte();
  const name = input.string();
  return {
    name,
    since: input.number(),
    point: input.raw(POINT_BYTES),
    kind: KINDS[flags & KIND_MASK]!,
    claimId: input.raw(ID_BYTES),
    amount: input.amount(),
    height: input.number(),
    txOffset: input.number(),
    dueHeight: input.number(),
    activated: input.number(),
    removed: input.number(),
    removal: input.number() as Removal | 0,
    ordinal: input.number(),
    rawName: flags & FLAG_OTHER_NAME ? input.string() : name,
    isNew: false,
  };
}

function readState(input: RowDecoder): StateAfter {
  const alive = input.number();
  const claims: ActiveClaim[] = [];
  for (let left = input.number(); left > 0; left--) claims.push(readClaim(input));
  const dangling = new Map<string, bigint>();
  for (let left = input.number(); left > 0; left--) dangling.set(input.raw(ID_BYTES), input.amount());
  return { alive, claims, dangling, index: null };
}

function readClaim(input: RowDecoder): ActiveClaim {
  const point = input.raw(POINT_BYTES);
  const claimId = input.raw(ID_BYTES);
  const amount = input.amount();
  const height = input.number();
  const since = input.number();
  const effective = input.amount();
  return new ActiveClaim(point, input.byte() !== 0, claimId, amount, height, since, effective);
}
