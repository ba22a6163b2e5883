/**
 * How the files and sockets that the process may have open are shared out, so that neither peers nor RPC callers ever keep a
 * block file from being opened. Source: Core init.cpp (`nMinFD`, `MIN_CORE_FILEDESCRIPTORS`).
 */
import { readFileSync } from 'node:fs';
import { OptionError } from './optionArgs.js';

/** Kept for files: blocks, database, logs. Source: `MIN_CORE_FILEDESCRIPTORS`. */
const CORE_DESCRIPTORS = 150;
/** Places for -addnode beside the other peers. Source: `MAX_ADDNODE_CONNECTIONS`. */
const ADDNODE_DESCRIPTORS = 8;
/** Of the core's share: so many table files of the database. */
const DATABASE_IN_CORE = 100;
/** LevelDB keeps no more table files open, nor more than a fifth of what the system allows (its env_posix.cc). */
const DATABASE_DESCRIPTORS = 1010;
const DATABASE_SHARE = 5;
/** HTTP connections that are left however few descriptors there are; the core's share can spare them. */
const LEAST_HTTP_CONNECTIONS = 8;

/** Kept beside the clients of the hub. */
const BESIDE_HUB_DESCRIPTORS = 350;

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

/** Most HTTP connections beside so many peers. */
export function httpConnections(wanted: number, limit: number, peers: number, warn: Warn): number {
  const database = Math.min(DATABASE_DESCRIPTORS, Math.floor(limit / DATABASE_SHARE));
  const files = CORE_DESCRIPTORS + Math.max(0, database - DATABASE_IN_CORE);
  const room = Math.max(LEAST_HTTP_CONNECTIONS, limit - files - ADDNODE_DESCRIPTORS - peers);
  if (wanted > room)
    warn(`Reducing -rpcmaxconnections from ${wanted} to ${room}, because of system limitations.`);
  return Math.max(1, Math.min(wanted, room));
}

/** Most clients of the hub, which leave so many for all else. Source: `max_sessions` of lbryio/hub herald/env.py. */
export function hubSessions(wanted: number, limit: number, warn: Warn): number {
  const room = Math.max(1, limit - BESIDE_HUB_DESCRIPTORS);
  if (wanted > room)
    warn(`Reducing -hubmaxsessions from ${wanted} to ${room}, because of system limitations.`);
  return Math.min(wanted, room);
}
