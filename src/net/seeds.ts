/**
 * Seeds provide the first peer addresses: DNS seeds or, if these do not respond, a fixed list. Seed addresses get a last
 * seen time of some days ago, so that addresses from peers have priority. Source: Core net.cpp `ThreadDNSAddressSeed`,
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
/** Milliseconds to wait for connections to addresses of the address book before DNS seeds are queried. */
const PATIENCE_MS = 11_000;
/** Number of connected outbound peers with which DNS seeds are not queried. */
const ENOUGH_PEERS = 2;

export interface SeedOptions {
  /** Host names of the network's DNS seeds. */
  readonly dnsSeeds: readonly string[];
  readonly fixedSeeds: readonly SeedAddress[];
  /** Default P2P port of the network, used for addresses from DNS seeds. */
  readonly port: number;
  /** Service bits that a peer must offer. */
  readonly services: bigint;
  /** Whether to query DNS seeds even if addresses and peers are available (`-forcednsseed`). */
  readonly force: boolean;
  /** Milliseconds to wait for peers; default 11 seconds. */
  readonly patienceMs?: number;
}

export interface SeedDeps {
  readonly book: PeerAddressBook;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly nowSec: () => number;
  /** Whether a proxy resolves host names. If so, each seed is not resolved but connected once as a peer. */
  readonly hasNameProxy: () => boolean;
  /** Resolves a host name to its IP addresses. The list is empty if the name does not resolve. */
  readonly resolve: (host: string, signal: AbortSignal) => Promise<Buffer[]>;
  /** Queues a short connection to a host that only requests addresses. */
  readonly addOneShot: (name: string) => void;
  /** Number of outbound peers with a complete handshake. */
  readonly countOutboundPeers: () => number;
}

/** Queries the DNS seeds if needed. Resolves when all seeds have responded, or soon after the signal aborts. */
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

/** Queries one DNS seed. Resolves to the number of addresses that it returned. */
async function askSeed(
  seed: string,
  { services, port }: SeedOptions,
  { book, random, nowSec, resolve, addOneShot }: SeedDeps,
  signal: AbortSignal,
): Promise<number> {
  // The prefix `x<services>` asks the seed for nodes that offer these services only.
  const host = `x${services.toString(16)}.${seed}`;
  const ips = await resolve(host, signal);
  if (signal.aborted) return 0;
  if (ips.length === 0) {
    // The seed does not support the services prefix, so the node connects to the seed once as a peer.
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

/** Adds the fixed seed addresses to the address book. Host names in the list are connected once to request addresses. */
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
