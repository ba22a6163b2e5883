/**
 * Claim search of the node: opens the search index in a file or in PostgreSQL, updates it from the claim index, and closes
 * both.
 */
import { join } from 'node:path';
import type { ChainReader } from '../../chain/chainReader.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import type { WaitingClaims } from '../../index/waiting/waitingClaims.js';
import { WaitingClaimIndex } from '../../index/waiting/waitingIndex.js';
import { WaitingCensor } from '../../search/waiting/waitingCensor.js';
import { WaitingSearch } from '../../search/waiting/waitingSearch.js';
import type { NetworkParams } from '../../params/network.js';
import { addressPrefixesOf } from '../../script/address.js';
import type { CensorLists } from '../../search/hits/censor.js';
import { BackedClaimSearch, type ClaimSearch, type WaitingParts } from '../../search/claimSearch.js';
import type { MirroredChain } from '../../search/follow/chainMirror.js';
import { SearchFollower } from '../../search/follow/follower.js';
import { RemoteFollower, type ClaimFollower } from '../../search/sqlite/remoteFollower.js';
import type { SearchBackend } from '../../search/searchBackend.js';
import { SharedSearch } from '../../search/sqlite/sharedSearch.js';
import { SqliteBackend } from '../../search/sqlite/searchWorkers.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';

/** Name of the index file in the network's folder. The file may be deleted while the node is stopped; it is then rebuilt. */
const FILE_NAME = 'claimsearch.sqlite';
/** Number of search threads. Arbitrary: most searches take milliseconds. */
const READERS = 2;
/** Milliseconds between checks of the claim index while it is built, during which it sends no notifications. */
const LOOK_MS = 1000;
/**
 * Milliseconds between two steps in which the index file is checked for corruption. Each step reads 4 MiB, so that 1 GiB
 * (some million claims) takes about four minutes. Arbitrary.
 */
const SCRUB_MS = 1000;

export interface ClaimSearchInput {
  readonly networkDir: string;
  readonly params: NetworkParams;
  readonly reader: ChainReader;
  readonly index: ClaimIndexQueries;
  readonly rules: ClaimRules;
  readonly lists: CensorLists;
  /** PostgreSQL settings; null for an SQLite file. */
  readonly postgres: PostgresOptions | null;
  /** Option that enabled the claim search, in the form in which the operator typed it. Used in error messages. */
  readonly wantedBy: string;
  /** Time limit of one search in ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Claims in the mempool; null if the search does not include them. */
  readonly waiting: WaitingClaims | null;
}

/** Values of `-claimsearchurl` and related options. */
export interface PostgresOptions {
  readonly url: string;
  /** Name of the PostgreSQL schema; if empty, a name derived from the chain is used. */
  readonly schema: string;
  readonly connections: number;
}

/** Number of hex digits of the genesis block hash in the default schema name. */
const SCHEMA_DIGITS = 12;

/** Returns the view of the chain that the index follower uses, in whatever thread it runs. */
export function followedChain({ chain, headers }: ChainReader): MirroredChain {
  const { active } = chain.index;
  const { store } = chain.deps;
  return {
    get height() {
      return active.height;
    },
    get tip() {
      return active.tip;
    },
    get commits() {
      return store.mustFlush ? null : store.commits;
    },
    forkHeight: (tip) => {
      const fork = active.findFork(tip);
      return fork === NO_HEADER ? -1 : headers.height(fork);
    },
    factsAt: (tip, height) => {
      const block = active.ancestorOf(tip, height);
      if (block === NO_HEADER) return [null, 0, 0];
      const before = headers.prev(block);
      const below = before === NO_HEADER ? 0 : headers.chainTxCount(before);
      return [hashToHex(headers.hash(block)), headers.timeSec(block), below];
    },
    exclusively: (task) => chain.exclusively(task),
    get disconnects() {
      return active.disconnects;
    },
    hashAt: (height) =>
      height < 0 || height > active.height ? null : hashToHex(headers.hash(active.at(height))),
    transactionsBelow: (height) => (height === 0 ? 0 : headers.chainTxCount(active.at(height - 1))),
    timeSec: (height) => headers.timeSec(active.at(Math.min(height, active.height))),
  };
}

/** Opens the backend of the claim search, and the component that updates its index. */
async function openBackend(input: ClaimSearchInput): Promise<{
  readonly backend: SearchBackend;
  readonly follower: ClaimFollower;
  readonly shared: SharedSearch | null;
}> {
  const { networkDir, params, reader, index, rules, lists, postgres, timeoutMs, log } = input;
  const followedView = followedChain(reader);
  const chain = hashToHex(reader.headers.hash(reader.chain.index.active.at(0)));
  const prefixes = addressPrefixesOf(params);
  if (postgres === null) {
    const path = join(networkDir, FILE_NAME);
    const rows = reader.chain.deps.store.share();
    const remote =
      rows &&
      new RemoteFollower(
        {
          rows,
          rules,
          chain: followedView,
          index,
          values: (places) => index.valuesAt(places),
          release: () => backend.release(),
          logger: log,
        },
        (status) => shared?.tell(status),
      );
    const searching = { path, lists, readers: READERS, timeoutMs };
    const opened = {
      ...searching,
      chain,
      prefixes,
      warn: (text: string): void => log.warn(text),
      ...(remote && { followed: remote }),
    };
    const backend: SqliteBackend = await SqliteBackend.open(opened, input.wantedBy);
    const shared = remote && new SharedSearch(searching, remote, (release) => backend.onRelease(release));
    return {
      backend,
      follower: remote ?? new SearchFollower(index, followedView, backend.writer, log),
      shared,
    };
  }
  const schema = postgres.schema === '' ? `lbcnode_${chain.slice(0, SCHEMA_DIGITS)}` : postgres.schema;
  // Loaded dynamically, so that a node with an SQLite file does not load the PostgreSQL client.
  const { PostgresBackend } = await import('../../search/postgres/postgresBackend.js');
  const { backend, away } = await PostgresBackend.open({
    ...postgres,
    schema,
    chain,
    prefixes,
    lists,
    timeoutMs,
    warn: (text) => log.warn(text),
  });
  if (away !== null) log.warn(`${away}. Claim search is not available until it can be reached`);
  return { backend, follower: new SearchFollower(index, followedView, backend.writer, log), shared: null };
}

/** Creates the components that search mempool claims. Null if the search does not include the mempool. */
function waitingParts({ waiting, index, reader, lists, params }: ClaimSearchInput): WaitingParts | null {
  if (waiting === null) return null;
  const { headers } = reader;
  const { active } = reader.chain.index;
  const censor = new WaitingCensor(index, lists, () => `${active.tip} ${active.disconnects}`);
  return {
    shown: new WaitingClaimIndex(index, waiting),
    search: new WaitingSearch({
      waiting,
      index,
      tip: () => ({ height: active.height, tip: active.tip, disconnects: active.disconnects }),
      timesOf: async (heights) => heights.map((height) => headers.timeSec(active.at(height))),
      censor: () => censor.get(),
      prefixes: addressPrefixesOf(params),
    }),
  };
}

/** Opens claim search. Throws `EnvironmentError` if SQLite is missing or PostgreSQL rejects the index. */
export async function openClaimSearch(
  input: ClaimSearchInput,
): Promise<{ readonly search: ClaimSearch; close(): Promise<void> }> {
  const { reader, index, log } = input;
  const { backend, follower, shared } = await openBackend(input);
  log.info(`Claim search uses ${backend.description}`);
  const forget = reader.chain.events.on('tipChanged', () => follower.pokeSoon());
  const looking = setInterval(() => {
    const { tip } = follower.status;
    if (tip === null || tip.height < index.height) follower.poke();
  }, LOOK_MS);
  looking.unref();
  const scrubbing = setInterval(() => void follower.scrub(), SCRUB_MS);
  scrubbing.unref();
  follower.poke();
  return {
    search: new BackedClaimSearch(index, backend, follower, log, shared, waitingParts(input)),
    async close() {
      forget();
      clearInterval(looking);
      clearInterval(scrubbing);
      await follower.close();
      await backend.close();
    },
  };
}
