/**
 * Checks whether a backup may replace an existing file. It may replace older backups of the same wallet, and files that are
 * not wallets. The file is only read.
 */
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import { EnvironmentError } from '../../util/text/environmentError.js';
import { ReadError, Reader } from '../../util/reader.js';
import { inSlices } from '../../scheduler/slices.js';
import type { Slices } from '../../util/slices.js';
import { isMine, MINE } from '../keys/isMine.js';
import { bytesKey, idOf, parseKeyMetadata } from '../keys/keyRecords.js';
import type { Keyring } from '../keys/keyring.js';
import { kindPrefix, recordKey, type RecordKind } from '../store/records.js';
import { WalletFile } from '../store/walletFile.js';
import type { WalletRows } from '../store/walletFileReader.js';
import { isForeignWallet } from './foreignWallet.js';

const KEY_KINDS = ['key', 'wkey', 'ckey'] as const;
/** Number of rows that are read between two yields to the event loop. */
const ROWS_AT_ONCE = 64;

/** Reason why a backup of this wallet must not overwrite the file at `path`; null if it may overwrite it. */
export async function refusalToReplace(path: string, keyring: Keyring): Promise<string | null> {
  if (isForeignWallet(path)) return 'there is already a wallet of lbrycrd';
  if (!WalletFile.isOne(path)) return null;
  try {
    const holdsMore = await WalletFile.look(path, (file) => inSlices(hasMore(file, keyring)));
    return holdsMore ? 'there is already another wallet' : null;
  } catch (error) {
    if (error instanceof EnvironmentError || error instanceof ReadError)
      return 'there is already a wallet that cannot be read';
    throw error;
  }
}

/**
 * Whether a file contains a key or script that the wallet does not contain and that cannot be derived from a seed of the
 * wallet.
 */
function* hasMore(file: WalletRows, keyring: Keyring): Slices<boolean> {
  let count = 0;
  const isUnknown: Record<string, (rest: Buffer) => boolean> = {
    cscript: (rest) => keyring.script(rest) === null,
    watchs: (rest) => isMine(keyring, new Reader(rest).varBytes()) === MINE.no,
  };
  for (const kind of KEY_KINDS) isUnknown[kind] = (rest) => !isKnownKey(file, keyring, rest);
  for (const [kind, test] of Object.entries(isUnknown)) {
    const prefix = kindPrefix(kind as RecordKind);
    for (const key of file.eachKey(prefix)) {
      if (test(fromLatin1(key.slice(prefix.length)))) return true;
      if (++count % ROWS_AT_ONCE === 0) yield;
    }
  }
  return false;
}

function isKnownKey(file: WalletRows, keyring: Keyring, rest: Buffer): boolean {
  const publicKey: Bytes = new Reader(rest).varBytes();
  if (keyring.hasKey(idOf(publicKey))) return true;
  const origin = file.get(recordKey('keymeta', bytesKey(publicKey)));
  if (origin === undefined) return false;
  const { path, seedId } = parseKeyMetadata(origin);
  return path !== '' && keyring.hasKey(seedId);
}
