/**
 * How the files and sockets that the process may have open are shared out, so that neither peers nor callers ever keep a
 * block file from being opened. Source: Core init.cpp (`nMinFD`, `MIN_CORE_FILEDESCRIPTORS`).
 */
import { readFileSync } from 'node:fs';
import { OptionError } from './optionArgs.js';

/** Kept for files: blocks, database, logs. Source: `MIN_CORE_FILEDESCRIPTORS`. */
const CORE_DESCRIPTORS = 150;
/** Places for -addnode beside the other peers. Source: `MAX_ADDNODE_CONNECTIONS`. */
const ADDNODE_DESCRIPTORS = 8;
/** Number of the database's table files in the core's share of descriptors. */
const DATABASE_IN_CORE = 100;
/** LevelDB keeps no more table files open, nor more than a fifth of what the system allows (its env_posix.cc). */
const DATABASE_DESCRIPTORS = 1010;
const DATABASE_SHARE = 5;
/** HTTP connections that are left however few descriptors there are; the core's share can spare them. */
const LEAST_HTTP_CONNECTIONS = 8;

type Warn = (message: string) => void;

/** The limit of this process, which Node.js raises at its start as far as it may; Infinity where it is not known. */
export function systemDescriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+([0-9]+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** Most peers: those wanted, as far as there are descriptors. Throws `OptionError` when there are too few for a node. */
export function peerConnections(wanted: number, limit: number, warn: Warn): number {
  const room = limit - CORE_DESCRIPTORS - ADDNODE_DESCRIPTORS;
  if (room < 0) throw new OptionError('Not enough file descriptors available.');
  if (wanted > room)
    warn(`Reducing -maxconnections from ${wanted} to ${room}, because of system limitations.`);
  return Math.max(0, Math.min(wanted, room));
}

/** Users of descriptors other than files and peers. */
export interface WantedConnections {
  /** HTTP connections on each port. */
  readonly http: number;
  /** Ports that answer HTTP: the node's, and that of -walletrpcport. */
  readonly httpServers: number;
  readonly webSockets: number;
  readonly hub: number;
}

export interface SharedConnections {
  /** Largest number of connections of each HTTP port. */
  readonly httpPerServer: number;
  readonly webSockets: number;
  readonly hub: number;
}

/**
 * Shares what files and this many peers leave: HTTP first, WebSocket clients next, and the hub has the rest. HTTP leaves the
 * other two, where they are wanted, half of the room.
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
  // Where both are wanted each has a part.
  const forWebSockets = wanted.hub === 0 ? left : Math.max(Math.floor(left / 2), left - wanted.hub);
  const webSockets = cut('wsmaxclients', wanted.webSockets, Math.max(1, forWebSockets));
  left -= webSockets;
  const hub = wanted.hub === 0 ? 0 : cut('hubmaxsessions', wanted.hub, Math.max(1, left));
  return { httpPerServer, webSockets, hub };
}
