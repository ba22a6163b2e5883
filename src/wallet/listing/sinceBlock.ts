/** Finds the transactions that changed since a block. Source: lbrycrd wallet/rpcwallet.cpp `listsinceblock`. */
import { sortedInSlices, type Slices } from '../../util/slices.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';

/** Number of blocks or transactions that are processed between two yields to the event loop. */
const LOOKED_AT_ONCE = 256;

/** Compares transactions by id in wire order, as in the reference. */
export function byId(a: Entry, b: Entry): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Transactions that are not in a block or in a block above `height`, sorted by id. Height −1 selects all transactions. */
export function* entriesSince(wallet: Wallet, height: number): Slices<Entry[]> {
  return yield* sortedInSlices(yield* found(wallet, height), byId);
}

function* found({ ledger, node, followedHeight }: Wallet, height: number): Slices<Entry[]> {
  const entries: Entry[] = [];
  if (height >= 0 && followedHeight - height < ledger.size) {
    for (const entry of ledger.unsettled()) entries.push(entry);
    for (let at = height + 1; at <= followedHeight; at++) {
      const hash = node.chain.hashAt(at);
      if (hash !== null) for (const entry of ledger.inBlock(hash)) entries.push(entry);
      if (at % LOOKED_AT_ONCE === 0) yield;
    }
    return entries;
  }
  let looked = 0;
  for (const entry of ledger.all()) {
    if (entry.state !== 'confirmed' || entry.height > height) entries.push(entry);
    if (++looked % LOOKED_AT_ONCE === 0) yield;
  }
  return entries;
}
