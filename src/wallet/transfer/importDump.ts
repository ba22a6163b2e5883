/** Imports the lines of a wallet dump. Source: lbrycrd wallet/rpcdump.cpp `importwallet`. */
import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { hash160 } from '../../crypto/hash.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { toHex } from '../../util/bytes.js';
import { plainMetadata } from '../keys/keyRecords.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { parseDumpLine } from './dumpText.js';
import { addressText, publicKeyOf } from './imports.js';

const CHUNK_BYTES = 1 << 16;

export interface DumpImport {
  /** Creation time in seconds since 1970 of the oldest imported key, at most the time of the tip; 0 if unknown. */
  readonly oldestSec: number;
  /** Whether all keys and scripts in the file that the wallet did not have were imported. */
  readonly isComplete: boolean;
}

/** Imports all lines of a file. When the promise resolves, the imported data is on disk. */
export async function importDump(wallet: Wallet, file: FileHandle): Promise<DumpImport> {
  const { chain } = wallet.node;
  let oldestSec = chain.height < 0 ? 0 : chain.timeSecAt(chain.height);
  let isComplete = true;
  let batch = new WalletBatch();
  let since = performance.now();
  for await (const lines of linesOf(file)) {
    for (const line of lines) {
      const birthSec = importLine(wallet, batch, line);
      if (birthSec === 'failed') isComplete = false;
      else if (birthSec !== null) oldestSec = Math.min(oldestSec, birthSec);
      const pause = yieldIfDue(since);
      if (typeof pause === 'number') continue;
      // Changes that were applied to memory are passed to the writer before other code runs.
      await wallet.write(batch);
      batch = new WalletBatch();
      since = await pause;
    }
    await wallet.write(batch, { isLast: false });
    batch = new WalletBatch();
  }
  return { oldestSec, isComplete };
}

/** Reads the lines of a file in batches. */
async function* linesOf(file: FileHandle): AsyncGenerator<string[]> {
  const decoder = new StringDecoder('utf8');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest = '';
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
    const lines = (rest + decoder.write(chunk.subarray(0, bytesRead))).split('\n');
    // The buffer is overwritten, because it may have contained private keys.
    chunk.fill(0);
    if (bytesRead === 0) {
      yield lines;
      return;
    }
    rest = lines.pop()!;
    yield lines;
  }
}

/**
 * Imports one line of a dump. Returns the creation time of the imported key or script; null if the wallet already has it or
 * the line contains none.
 */
function importLine(wallet: Wallet, batch: WalletBatch, text: string): number | 'failed' | null {
  const { keyring, book, node, logName } = wallet;
  const line = parseDumpLine(text, wallet.prefixes);
  if (line === null) return null;
  const { timeSec } = line;
  if (line.kind === 'script') {
    const { script } = line;
    if (keyring.script(hash160(script)) !== null) {
      node.log.debug('db', `${logName} Skipping import of ${toHex(script)} (script already present)`);
      return null;
    }
    if (!keyring.addScript(batch, script)) {
      node.log.info(`${logName} Error importing script ${toHex(script)}`);
      return 'failed';
    }
    if (timeSec <= 0) return null;
    keyring.noteScriptTime(batch, script, timeSec);
    return timeSec;
  }
  const { secret, label } = line;
  const publicKey = publicKeyOf(secret);
  const keyId = hash160(publicKey);
  const address = addressText(wallet, { type: 'pubkeyhash', hash: keyId });
  const isKnown = keyring.hasKey(keyId);
  if (isKnown) node.log.debug('db', `${logName} Skipping import of ${address} (key already present)`);
  else if (!wallet.isLocked) {
    node.log.debug('db', `${logName} Importing ${address}...`);
    keyring.addKey(batch, secret.privateKey, publicKey, plainMetadata(timeSec));
    if (label !== null) book.set(batch, address, label, 'receive');
  }
  secret.privateKey.fill(0);
  if (isKnown) return null;
  // The wallet may have been locked during the wait, in which case the key was not added.
  return keyring.hasKey(keyId) ? timeSec : 'failed';
}
