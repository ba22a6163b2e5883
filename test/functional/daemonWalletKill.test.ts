/** Kills a process repeatedly while it writes a wallet. No acknowledged change is lost, and no change is partly stored. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../src/daemon/base/clock.js';
import { parseWalletText } from '../../src/daemon/wallet/walletContents.js';
import { DaemonWallets } from '../../src/daemon/wallet/wallets.js';
import type { LoadedWallet } from '../../src/daemon/wallet/loadedWallet.js';
import { FakeLedger } from '../support/fakeLedger.js';

const WRITER = fileURLToPath(new URL('support/walletWriter.mjs', import.meta.url));
const KILLS = 6;
/** Number of lines after which the writer is killed, different for each kill. */
const linesBefore = (kill: number): number => 3 + ((kill * 37) % 53);

interface Done {
  readonly account?: string;
  readonly key?: string;
  readonly value?: string;
  readonly channelKeys?: number;
}

let folder: string;
/** Process ids in the order of the starts. */
const writers: number[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-kill-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The changes that were acknowledged before the kill. */
async function writeUntilKilled(lines: number): Promise<Done[]> {
  const child = spawn(process.execPath, [WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  writers.push(child.pid!);
  const exited = once(child, 'exit');
  const done: Done[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    done.push(JSON.parse(line) as Done);
    if (done.length === lines) child.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  expect(signal).toBe('SIGKILL');
  return done;
}

async function open(): Promise<LoadedWallet> {
  const wallets = await DaemonWallets.open(['w'], {
    folder,
    ledger: new FakeLedger().ledger,
    tools: { clock: systemClock, random: systemRandom },
    warn: (text) => expect.unreachable(text),
  });
  return wallets.default;
}

it('loses no acknowledged change', async () => {
  const accounts = new Set<string>();
  const preferences = new Map<string, string>();
  let channelKeys = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    for (const done of await writeUntilKilled(linesBefore(kill))) {
      if (done.account !== undefined) accounts.add(done.account);
      if (done.key !== undefined) preferences.set(done.key, done.value!);
      channelKeys = done.channelKeys ?? channelKeys;
    }
    const wallet = await open();
    if (wallet.isLocked) expect(wallet.unlock('secret')).toBe(true);
    expect(wallet.accountIds).toEqual(expect.arrayContaining([...accounts]));
    for (const account of wallet.accounts) expect(account.account.root.privateKey).not.toBeNull();
    for (const [key, value] of preferences)
      expect(
        [key, `other ${key}`].map((name) => isThatOrLater(wallet.wallet.preference(name) as string, value)),
        key,
      ).toEqual([true, true]);
    expect(wallet.account().account.channelKeys.size).toBeGreaterThanOrEqual(channelKeys);
    // Complete files that had not replaced the wallet file at the kill remain.
    for (const name of readdirSync(folder).filter((one) => one !== 'w')) {
      expect(name).toMatch(/^w\.tmp\.[0-9]+$/);
      expect(parseWalletText(readFileSync(join(folder, name), 'utf8')).has('accounts')).toBe(true);
    }
    expect(existsSync(join(folder, 'w'))).toBe(true);
  }
  expect(accounts.size).toBeGreaterThan(5);
});

/** The value that was being set at the kill may be in the file or not. */
function isThatOrLater(found: string, done: string): boolean {
  const rankOf = (value: string): number[] => {
    const [writer, n] = value.split(' ').map(Number);
    return [writers.indexOf(writer!), n!];
  };
  const [at, n] = rankOf(found);
  const [lastAt, last] = rankOf(done);
  return at! > lastAt! || (at === lastAt && n! >= last!);
}
