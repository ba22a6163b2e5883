/**
 * Seeds: the first addresses of peers, from DNS seeds or, if these do not respond, from a fixed list. They are stored with a
 * time some days ago, so that addresses from peers have priority. Source: Core net.cpp `ThreadDNSAddressSeed`,
 * `ThreadOpenConnections` (fixed seeds), `convertSeed6`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeedAddress } from '../params/network.js';
import { joinHostPort } from '../util/network/hostPort.js';
import type { Logger } from '../util/logging.js';
import type { PeerAddressBook } from './addressBook/peerAddressBook.js';
import type { AddressEntry } from './messages/addr.js';
import { internalAddress, parseHost } from './netAddress.js';
import type { RandomSource } from './messageHandler.js';

const DAY_SEC = 86_400;
/** Time that connections get if the book has addresses, before DNS seeds are queried. */
const PATIENCE_MS = 11_000;
/** Number of outbound peers with which DNS seeds are not needed. */
const ENOUGH_PEERS = 2;

export interface SeedOptions {
  /** Names of the network's seeds. */
  readonly dnsSeeds: readonly string[];
  readonly fixedSeeds: readonly SeedAddress[];
  /** The network's port, for addresses from DNS seeds. */
  readonly port: number;
  /** Services that a peer must offer. */
  readonly services: bigint;
  /** Whether to query them even with addresses and peers (`-forcednsseed`). */
  readonly force: boolean;
  /** Time to wait for peers; 11 seconds by default. */
  readonly patienceMs?: number;
}

export interface SeedDeps {
  readonly book: PeerAddressBook;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly nowSec: () => number;
  /** Whether a proxy resolves names: then the seeds are connected once as peers. */
  readonly hasNameProxy: () => boolean;
  /** The IP addresses of a name; none if it does not resolve. */
  readonly resolve: (host: string, signal: AbortSignal) => Promise<Buffer[]>;
  /** Connects to a name once to request addresses. */
  readonly addOneShot: (name: string) => void;
  /** Number of outbound peers with a complete handshake. */
  readonly countOutboundPeers: () => number;
}

/** Queries the DNS seeds if needed. Resolves when all have responded, or soon after the signal aborts. */
export async function seedFromDns(options: SeedOptions, deps: SeedDeps, signal: AbortSignal): Promise<void> {
  const { book, log } = deps;
  if (options.dnsSeeds.length === 0) return;
  if (book.size > 0 && !options.force) {
    await sleep(options.patienceMs ?? PATIENCE_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    if (deps.countOutboundPeers() >= ENOUGH_PEERS) {
      log.info('P2P peers available. Skipped DNS seeding.');
      return;
    }
  }
  log.info('Loading addresses from DNS seeds (could take a while)');
  let found = 0;
  for (const seed of options.dnsSeeds) {
    if (signal.aborted) return;
    if (deps.hasNameProxy()) deps.addOneShot(seed);
    else found += await askSeed(seed, options, deps, signal);
  }
  log.info(`${found} addresses found from DNS seeds`);
}

/** Returns the number of addresses from the seed. */
async function askSeed(
  seed: string,
  { services, port }: SeedOptions,
  { book, random, nowSec, resolve, addOneShot }: SeedDeps,
  signal: AbortSignal,
): Promise<number> {
  // The seed returns only nodes with these services.
  const host = `x${services.toString(16)}.${seed}`;
  const ips = await resolve(host, signal);
  if (signal.aborted) return 0;
  if (ips.length === 0) {
    // A seed that does not support the filter by services: it is connected as a peer.
    addOneShot(seed);
    return 0;
  }
  const entries = ips.map((ip): AddressEntry => {
    const ageSec = 3 * DAY_SEC + random.int(4 * DAY_SEC);
    return { address: { ip, port }, services, timeSec: nowSec() - ageSec };
  });
  book.add(entries, internalAddress(host));
  return ips.length;
}

/** Adds the fixed addresses of the network. Names among them are connected once to request addresses. */
export function addFixedSeeds({ fixedSeeds, services }: SeedOptions, deps: SeedDeps): void {
  if (fixedSeeds.length === 0) return;
  deps.log.info("Adding fixed seed nodes as DNS doesn't seem to be available.");
  const entries = fixedSeeds.flatMap(({ host, port }): AddressEntry[] => {
    const ip = parseHost(host);
    if (ip === null) deps.addOneShot(joinHostPort({ host, port }));
    const ageSec = 7 * DAY_SEC + deps.random.int(7 * DAY_SEC);
    return ip === null ? [] : [{ address: { ip, port }, services, timeSec: deps.nowSec() - ageSec }];
  });
  deps.book.add(entries, internalAddress('fixedseeds'));
}
