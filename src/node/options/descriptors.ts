/**
 * Divides the available file descriptors among files and sockets, so that sockets of peers and RPC clients never prevent the
 * node from opening a block file. Source: Core init.cpp (`nFD`, `MIN_CORE_FILEDESCRIPTORS`).
 */
import { readFileSync } from 'node:fs';
import { OptionError } from './optionArgs.js';

/** Number of descriptors reserved for files: blocks, database, logs. Source: `MIN_CORE_FILEDESCRIPTORS`. */
const CORE_DESCRIPTORS = 150;
/**
 * Number of descriptors for `-addnode` connections, which the limit of peers does not include. Source:
 * `MAX_ADDNODE_CONNECTIONS`.
 */
const ADDNODE_DESCRIPTORS = 8;
/** Number of database table files that are included in `CORE_DESCRIPTORS`. */
const DATABASE_IN_CORE = 100;
/**
 * Maximum number of table files that LevelDB keeps open. LevelDB itself uses at most a fifth of the limit of the operating
 * system (env_posix.cc).
 */
const DATABASE_DESCRIPTORS = 1010;
const DATABASE_SHARE = 5;
/** Minimum number of HTTP connections even with few descriptors. Their descriptors may be taken from the reserve for files. */
const LEAST_HTTP_CONNECTIONS = 8;

type Warn = (message: string) => void;

/**
 * Returns the descriptor limit of this process; Infinity if unknown. Node.js raises the limit as far as possible when it
 * starts.
 */
export function systemDescriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+([0-9]+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/**
 * Returns the maximum number of peers: the requested number, reduced if there are not enough descriptors. Throws
 * `OptionError` if there are too few descriptors for a node.
 */
export function peerConnections(wanted: number, limit: number, warn: Warn): number {
  const room = limit - CORE_DESCRIPTORS - ADDNODE_DESCRIPTORS;
  if (room < 0) throw new OptionError('Not enough file descriptors available.');
  if (wanted > room)
    warn(`Reducing -maxconnections from ${wanted} to ${room}, because of system limitations.`);
  return Math.max(0, Math.min(wanted, room));
}

/** Numbers of client connections that the options request. Each connection needs a descriptor. */
export interface WantedConnections {
  /** Number of HTTP connections for each HTTP port. */
  readonly http: number;
  /** Number of HTTP ports: 1, or 2 with `-walletrpcport`. */
  readonly httpServers: number;
  readonly webSockets: number;
  readonly hub: number;
}

export interface SharedConnections {
  /** Maximum number of connections for each HTTP port. */
  readonly httpPerServer: number;
  readonly webSockets: number;
  readonly hub: number;
}

/**
 * Distributes the descriptors that remain after files and `peers`: first to HTTP, then to WebSocket clients, then to the
 * hub. If WebSocket or hub clients are enabled, HTTP leaves up to half of the descriptors to them.
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
  // If WebSocket clients and the hub are both enabled, each gets a share.
  const forWebSockets = wanted.hub === 0 ? left : Math.max(Math.floor(left / 2), left - wanted.hub);
  const webSockets = cut('wsmaxclients', wanted.webSockets, Math.max(1, forWebSockets));
  left -= webSockets;
  const hub = wanted.hub === 0 ? 0 : cut('hubmaxsessions', wanted.hub, Math.max(1, left));
  return { httpPerServer, webSockets, hub };
}
