/**
 * Converts files of the predecessor wallet (lbryum, a fork of Electrum) to the current format. A copy of the old file stays
 * on disk. Source: lbry-sdk lbry/wallet/manager.py `migrate_lbryum_to_torba`.
 */
import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { badValue } from '../base/daemonError.js';
import { writePythonJson } from '../base/pythonJson.js';
import { readWalletFile, writeWalletFile } from './walletFile.js';

const MASTER = 'x/';

/** Public keys (33 bytes, hex) of the addresses that were used. */
export interface LbryumAddresses {
  readonly receiving: readonly string[];
  readonly change: readonly string[];
}

export const isLbryumWallet = (wallet: JsonObject): boolean => wallet.has('master_public_keys');

function required(object: JsonObject, key: string): JsonValue {
  const value = object.get(key);
  if (value === undefined) throw badValue(`The old wallet file has no '${key}'.`);
  return value;
}

function masterKey(wallet: JsonObject, field: string): JsonValue {
  const keys = required(wallet, field);
  if (!(keys instanceof JsonObject)) throw badValue(`'${field}' of the old wallet file is not an object.`);
  return required(keys, MASTER);
}

function keysIn(wallet: JsonObject, chain: 'receiving' | 'change'): string[] {
  const accounts = wallet.get('accounts');
  const lists = accounts instanceof JsonObject ? accounts.entries.map(([, account]) => account) : [];
  const keys = lists.flatMap((account) => (account instanceof JsonObject ? (account.get(chain) ?? []) : []));
  return [...new Set(keys.filter((key) => typeof key === 'string'))].sort();
}

/**
 * Converts a wallet to the current format, and returns the keys of used addresses. With `keepsInUse`, the gaps of the new
 * wallet are so long that all used addresses are derived. Throws `ValueError`.
 */
export function convertLbryumWallet(
  wallet: JsonObject,
  keepsInUse = false,
): { json: JsonObject; addresses: LbryumAddresses } {
  const addresses = { receiving: keysIn(wallet, 'receiving'), change: keysIn(wallet, 'change') };
  const inUse = (chain: 'receiving' | 'change'): number => (keepsInUse ? addresses[chain].length : 0);
  const gap = (count: number): JsonObject =>
    new JsonObject([
      ['gap', count],
      ['maximum_uses_per_address', 1],
    ]);
  const account = new JsonObject([
    ['version', 1],
    ['name', 'Main Account'],
    ['ledger', 'lbc_mainnet'],
    ['encrypted', required(wallet, 'use_encryption')],
    ['seed', required(wallet, 'seed')],
    ['seed_version', required(wallet, 'seed_version')],
    ['private_key', masterKey(wallet, 'master_private_keys')],
    ['public_key', masterKey(wallet, 'master_public_keys')],
    ['certificates', wallet.get('claim_certificates') ?? new JsonObject()],
    [
      'address_generator',
      new JsonObject([
        ['name', 'deterministic-chain'],
        ['receiving', gap(Math.max(20, inUse('receiving')))],
        ['change', gap(Math.max(6, inUse('change')))],
      ]),
    ],
  ]);
  const json = new JsonObject([
    ['version', 1],
    ['name', 'My Wallet'],
    ['accounts', [account]],
  ]);
  return { json, addresses };
}

async function keepOldFile(path: string): Promise<void> {
  for (let n = 1; ; n++)
    try {
      await copyFile(path, join(dirname(path), `old_lbryum_wallet_${n}`), constants.COPYFILE_EXCL);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
}

/**
 * Converts a file of lbryum; returns null for another file. If the process is killed during the conversion, the old file
 * stays. If it is killed before the ledger stores the addresses, the next start derives as many addresses, because of the
 * gaps in the new file.
 */
export async function takeOverLbryumFile(path: string): Promise<LbryumAddresses | null> {
  const wallet = await readWalletFile(path);
  if (wallet === null || !isLbryumWallet(wallet)) return null;
  const { json, addresses } = convertLbryumWallet(wallet, true);
  await keepOldFile(path);
  await writeWalletFile(path, writePythonJson(json, { indent: 4, sortKeys: true }));
  return addresses;
}
