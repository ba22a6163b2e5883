import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { on } from 'node:events';
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { serveDatabase } from '../../../../src/daemon/base/threadCalls.js';
import { openContentDatabase } from '../../../../src/daemon/content/contentDatabase.js';
import { openStore } from '../../../../src/daemon/ledger/store/openStore.js';

let folder = '';
const started: Worker[] = [];
const onWorker = (worker: Worker): void => void started.push(worker);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-databases-'));
  process.on('worker', onWorker);
});
afterEach(() => {
  process.off('worker', onWorker);
  started.length = 0;
  rmSync(folder, { recursive: true, force: true });
});

const content = () => openContentDatabase({ dataDir: folder, nowSec: 1 }, () => undefined);
const ledger = (path = join(folder, 'ledger.sqlite')) =>
  openStore({ path, ledgerId: 'lbc_regtest' }, () => undefined);

test('the databases share one thread, which ends after the last of them', async () => {
  const [files, wallet] = [content(), ledger()];
  expect(await files.fileCount()).toBe(0);
  expect((await wallet.balance([])).total).toBe(0n);
  expect(started).toHaveLength(1);
  const exited = new Promise((resolve) => started[0]!.once('exit', resolve));
  await files.close();
  await expect(files.fileCount()).rejects.toThrow('The content database is closed');
  // SQLite deletes the write-ahead log when it closes the file.
  expect(readdirSync(folder).filter((name) => name.startsWith('lbrynet.sqlite'))).toEqual(['lbrynet.sqlite']);
  expect((await wallet.balance([])).total).toBe(0n);
  await wallet.close();
  expect(await exited).toBe(0);

  const again = content();
  expect(await again.fileCount()).toBe(0);
  expect(started).toHaveLength(2);
  await again.close();
});

test('a call does not wait for all earlier calls of the other database', async () => {
  const order: string[] = [];
  const serve = (name: string): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    serveDatabase(
      () => ({ note: () => void order.push(name), close: () => undefined }),
      (error) => error,
      port2,
    );
    return port1;
  };
  const [wallet, files] = [serve('wallet'), serve('files')];
  const call = (port: MessagePort, id: number, method = 'note'): void =>
    port.postMessage([['call', id, method, []]]);
  for (let id = 0; id < 50; id++) call(wallet, id);
  call(files, 0);
  call(wallet, 50, 'close');
  const answers = on(wallet, 'message');
  for await (const [[answer]] of answers) if (answer[1] === 50) break;
  expect(order.filter((name) => name === 'wallet')).toHaveLength(50);
  expect(order.indexOf('files')).toBeLessThan(5);
  files.close();
});

test('a database that cannot be opened does not affect the other', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  const [files, wallet] = [content(), ledger(join(path, 'ledger.sqlite'))];
  await expect(wallet.balance([])).rejects.toThrow(path);
  expect(await files.fileCount()).toBe(0);
  await Promise.all([files.close(), wallet.close()]);
});

test('an error of the thread rejects the calls of all databases', async () => {
  const [files, wallet] = [content(), ledger()];
  await Promise.all([files.fileCount(), wallet.balance([])]);
  const calls = [files.fileCount(), wallet.balance([])];
  const outcomes = Promise.allSettled(calls);
  await started[0]!.terminate();
  await outcomes;
  await expect(files.fileCount()).rejects.toThrow('The content database is closed');
  await expect(wallet.balance([])).rejects.toThrow("The wallet's database is closed");
  const again = content();
  expect(await again.fileCount()).toBe(0);
  await again.close();
});
