/**
 * Distributes the available file descriptors between files and sockets, so that neither peers nor callers ever prevent a
 * block file from being opened. Source: Core init.cpp (`nMinFD`, `MIN_CORE_FILEDESCRIPTORS`).
 */
import { readFileSync } from 'node:fs';
import { OptionError } from './optionArgs.js';

/** Descriptors reserved for files: blocks, database, logs. Source: `MIN_CORE_FILEDESCRIPTORS`. */
const CORE_DESCRIPTORS = 150;
/** Descriptors for -addnode connections, in addition to the other peers. Source: `MAX_ADDNODE_CONNECTIONS`. */
const ADDNODE_DESCRIPTORS = 8;
/** Number of the database's table files in the core's share of descriptors. */
const DATABASE_IN_CORE = 100;
/**
 * Maximum number of table files that LevelDB keeps open; it also uses at most a fifth of the system's limit (its
 * env_posix.cc).
 */
const DATABASE_DESCRIPTORS = 1010;
const DATABASE_SHARE = 5;
/** Minimum number of HTTP connections, however few descriptors there are; the core's share can spare them. */
const LEAST_HTTP_CONNECTIONS = 8;

type Warn = (message: string) => void;

/** The descriptor limit of this process, which Node.js raises at its start as far as possible; Infinity if unknown. */
export function systemDescriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+([0-9]+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/**
 * Maximum number of peers: the requested number, limited by the descriptors. Throws `OptionError` when there are too few for
 * a node.
 */
export function peerConnections(wanted: number, limit: number, warn: Warn): number {
  const room = limit - CORE_DESCRIPTORS - ADDNODE_DESCRIPTORS;
  if (room < 0) throw new OptionError('Not enough file descriptors available.');
  if (wanted > room)
    warn(`Reducing -maxconnections from ${wanted} to ${room}, because of system limitations.`);
  return Math.max(0, Math.min(wanted, room));
}

/** Users of descriptors besides files and peers. */
export interface WantedConnections {
  /** HTTP connections on each port. */
  readonly http: number;
  /** Ports that serve HTTP: the node's, and that of -walletrpcport. */
  readonly httpServers: number;
  readonly webSockets: number;
  readonly hub: number;
}

export interface SharedConnections {
  /** Maximum number of connections of each HTTP port. */
  readonly httpPerServer: number;
  readonly webSockets: number;
  readonly hub: number;
}

/**
 * Distributes the descriptors left by files and this many peers: first HTTP, then WebSocket clients, then the hub. HTTP
 * leaves half of them to the other two if these are enabled.
 */
export function shareConnections(
  wanted: WantedConnections,
  limit: number,
  peers: number,
  warn: Warn,
): SharedConnections {
  const database = Math.min(DATABASE_DESCRIPTORS, Math.floor(limit / DATABASE_SHARE));
  const files = CORE_DESCRIPTORS + Math.max(0, database - DATABASE_IN_CORE);
  const { httpServers } = wanted;
  const room = Math.max(LEAST_HTTP_CONNECTIONS, limit - files - ADDNODE_DESCRIPTORS - peers);
  const others = Math.min(wanted.webSockets + wanted.hub, Math.floor(room / 2));
  const cut = (option: string, from: number, to: number): number => {
    if (from > to) warn(`Reducing -${option} from ${from} to ${to}, because of system limitations.`);
    return Math.min(from, to);
  };
  const httpPerServer =
    httpServers === 0
      ? 0
      : cut('rpcmaxconnections', wanted.http, Math.max(1, Math.floor((room - others) / httpServers)));
  let left = room - httpPerServer * httpServers;
  // If both are enabled, each gets a share.
  const forWebSockets = wanted.hub === 0 ? left : Math.max(Math.floor(left / 2), left - wanted.hub);
  const webSockets = cut('wsmaxclients', wanted.webSockets, Math.max(1, forWebSockets));
  left -= webSockets;
  const hub = wanted.hub === 0 ? 0 : cut('hubmaxsessions', wanted.hub, Math.max(1, left));
  return { httpPerServer, webSockets, hub };
}
