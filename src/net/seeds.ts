/**
 * The first addresses: from name servers run for that purpose, or, when they do not answer, from a fixed list. What they
 * tell is booked as heard of some days ago, so that what peers report comes first. Source: Core net.cpp
 * `ThreadDNSAddressSeed`, `ThreadOpenConnections` (fixed seeds), `convertSeed6`.
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
/** With addresses in the book, connections get so long to come about before name servers are asked. */
const PATIENCE_MS = 11_000;
/** The number of outbound peers that are enough to do without. */
const ENOUGH_PEERS = 2;

export interface SeedOptions {
  /** Names of the network's seeds. */
  readonly dnsSeeds: readonly string[];
  readonly fixedSeeds: readonly SeedAddress[];
  /** The network's port, for what name servers report. */
  readonly port: number;
  /** Services that a peer must offer. */
  readonly services: bigint;
  /** Ask even when there are addresses and peers (`-forcednsseed`). */
  readonly force: boolean;
  /** How long to wait for peers; 11 seconds by default. */
  readonly patienceMs?: number;
}

export interface SeedDeps {
  readonly book: PeerAddressBook;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly nowSec: () => number;
  /** Whether names are a proxy's business: then the seeds are peers to be asked once. */
  readonly hasNameProxy: () => boolean;
  /** The IP addresses of a name; none when it does not resolve. */
  readonly resolve: (host: string, signal: AbortSignal) => Promise<Buffer[]>;
  /** Connects to a name once, for the addresses it knows. */
  readonly addOneShot: (name: string) => void;
  /** Peers that we chose and that completed the handshake. */
  readonly countOutboundPeers: () => number;
}

/** Asks the name servers if there is need. Resolves when all have answered, or soon after the signal aborts. */
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

/** Returns how many addresses the seed told. */
async function askSeed(
  seed: string,
  { services, port }: SeedOptions,
  { book, random, nowSec, resolve, addOneShot }: SeedDeps,
  signal: AbortSignal,
): Promise<number> {
  // The seed answers with nodes that offer these services.
  const host = `x${services.toString(16)}.${seed}`;
  const ips = await resolve(host, signal);
  if (signal.aborted) return 0;
  if (ips.length === 0) {
    // One that cannot choose by services: what is behind it is asked as a peer.
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

/** Books the fixed addresses, where the network has any. Those that are names are asked once for addresses. */
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
