/**
 * Writes a wallet dump to a file. The file must not exist before, only its owner can read it, and it is removed if the dump
 * is not completed.
 */
import { open, rm } from 'node:fs/promises';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Wallet } from '../wallet.js';
import { dumpLines } from './dumpWallet.js';

/** Number of characters in one write. Arbitrary. */
const CHUNK_CHARS = 1 << 16;

/**
 * Writes the dump of a wallet to a new file. Rejects with the system's error (`EEXIST` if the file exists), or with
 * `DumpLockedError`.
 */
export async function dumpToFile(wallet: Wallet, path: string, createdBy: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    let chunk = '';
    let since = performance.now();
    for (const line of dumpLines(wallet, createdBy)) {
      if (line !== null) chunk += line;
      if (chunk.length >= CHUNK_CHARS) {
        await file.appendFile(chunk);
        chunk = '';
      }
      since = await yieldIfDue(since);
    }
    await file.appendFile(chunk);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
  await file.close();
}
