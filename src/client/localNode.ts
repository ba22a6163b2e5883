/**
 * Default location of a node on this machine: the data folder, the folder and RPC port of each network, and the cookie file
 * for callers of the same user.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { refuseSpecialFile } from '../util/files/specialFile.js';

export type LocalNetwork = 'main' | 'test' | 'regtest';

export const LOCAL_NETWORKS: Readonly<Record<LocalNetwork, { rpcPort: number; folder: string }>> = {
  main: { rpcPort: 9245, folder: '' },
  test: { rpcPort: 19245, folder: 'testnet3' },
  regtest: { rpcPort: 29245, folder: 'regtest' },
};

/** Name of the data folder in the user's home folder, and of the cookie file in a network's folder. */
const DATA_FOLDER = '.lbcnode';
export const COOKIE_NAME = '.cookie';

/** Path of the cookie file of a network below a data folder, by default `~/.lbcnode`. */
export function localCookieFile(network: LocalNetwork, dataDir?: string): string {
  return resolve(dataDir ?? join(homedir(), DATA_FOLDER), LOCAL_NETWORKS[network].folder, COOKIE_NAME);
}

/** Reads the text `user:password` in a cookie file. Throws the system's error if the file cannot be read. */
export function readCookie(file: string): string {
  refuseSpecialFile(file);
  return readFileSync(file, 'utf8').split('\n', 1)[0] ?? '';
}
