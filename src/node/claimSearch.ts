/** Search in the node: opens the index beside the chain's folder, follows the claim index, closes both. */
import { join } from 'node:path';
import type { ChainReader } from '../chain/chainReader.js';
import type { ClaimIndexReader } from '../index/claims/claimReader.js';
import type { NetworkParams } from '../params/network.js';
import { addressPrefixesOf } from '../script/address.js';
import type { CensorLists } from '../search/censor.js';
import { BackedClaimSearch, type ClaimSearch } from '../search/claimSearch.js';
import { SearchFollower, type FollowedChain } from '../search/follower.js';
import { SqliteBackend } from '../search/searchWorkers.js';
import { hashToHex } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';

/** The file in the network's folder; it may be deleted while the node does not run. */
const FILE_NAME = 'claimsearch.sqlite';
/** Threads that search. Arbitrary: searches take milliseconds. */
const READERS = 2;
/** While the claim index is filled nothing is told of it; so it is asked. */
const LOOK_MS = 1000;

export interface ClaimSearchInput {
  readonly networkDir: string;
  readonly params: NetworkParams;
  readonly reader: ChainReader;
  readonly index: ClaimIndexReader;
  readonly lists: CensorLists;
  readonly log: Logger;
}

function followedChain({ chain, headers }: ChainReader): FollowedChain {
  const { active } = chain.index;
  return {
    hashAt: (height) =>
      height < 0 || height > active.height ? null : hashToHex(headers.hash(active.at(height))),
    transactionsBelow: (height) => (height === 0 ? 0 : headers.chainTxCount(active.at(height - 1))),
    timeSec: (height) => headers.timeSec(active.at(Math.min(height, active.height))),
  };
}

/** Throws `EnvironmentError` where there is no SQLite. */
export async function openClaimSearch(
  input: ClaimSearchInput,
): Promise<{ readonly search: ClaimSearch; close(): Promise<void> }> {
  const { networkDir, params, reader, index, lists, log } = input;
  const backend = await SqliteBackend.open({
    path: join(networkDir, FILE_NAME),
    chain: hashToHex(reader.headers.hash(reader.chain.index.active.at(0))),
    prefixes: addressPrefixesOf(params),
    lists,
    readers: READERS,
  });
  log.info(`Searching claims with ${backend.description}`);
  const follower = new SearchFollower(index, followedChain(reader), backend.writer, log);
  const forget = reader.chain.events.on('tipChanged', () => follower.poke());
  const looking = setInterval(() => {
    const { tip } = follower.status;
    if (tip === null || tip.height < index.height) follower.poke();
  }, LOOK_MS);
  looking.unref();
  follower.poke();
  return {
    search: new BackedClaimSearch(index, backend, follower, log),
    async close() {
      forget();
      clearInterval(looking);
      await follower.close();
      await backend.close();
    },
  };
}
