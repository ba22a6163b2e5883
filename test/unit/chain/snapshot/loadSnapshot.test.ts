/** A folder that starts from a snapshot, and the background validation of its blocks, without a process or a network. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { snapshotRules, type DumpedSnapshot } from '../../../../src/chain/snapshot/dumpSnapshot.js';
import type { SnapshotSource } from '../../../../src/chain/snapshot/loadSnapshot.js';
import { snapshotFolders } from '../../../../src/chain/snapshot/snapshotRecord.js';
import { CLAIM_INDEX_NAME } from '../../../../src/index/claims/claimIndex.js';
import { snapshotSections } from '../../../../src/node/services/snapshotService.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { txidAt } from '../../../../src/primitives/blockView.js';
import { getTxOutSetInfo } from '../../../../src/rpc/methods/blockchain/getTxOutSetInfo.js';
import { buildClaimPrefix } from '../../../../src/script/claimScript.js';
import { longIt } from '../../../support/long.js';
import { dumpOf } from '../../../support/snapshots.js';
import { startValidation, type Validation } from '../../../support/snapshotValidation.js';
import {
  ADDRESS_SCRIPT,
  OPEN_SCRIPT,
  spend,
  TestChain,
  type TestChainOptions,
} from '../../../support/testChain.js';

/** Heights of the snapshot and of the chain that wrote it. */
const HEIGHT = 104;
const TIP = 107;

/** Those of a `TestChain`. */
const RULES = snapshotRules({
  network: 'regtest',
  supportDelay: '100',
  claimRules: JSON.stringify(regtestParams.claimForks),
  proofWindow: '5000',
});

let source: TestChain;
let dump: DumpedSnapshot;
let file: string;
const folders: string[] = [];

beforeAll(async () => {
  source = await TestChain.open({ claimIndex: true });
  await source.mine(101);
  const { parsed } = await source.blockAt(1);
  const script = Buffer.concat([buildClaimPrefix(Buffer.from('name'), Buffer.from('value')), OPEN_SCRIPT]);
  source.pending.push(spend([{ txid: Buffer.from(txidAt(parsed, 0)), n: 0 }], [{ value: 10n, script }]));
  await source.mine(TIP - 101);
  dump = await dumpOf(source, 'snapshot', HEIGHT, RULES);
  file = join(source.folder, 'snapshot');
});
afterAll(async () => {
  await source.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const sourceOf = (hash = dump.hash): SnapshotSource => ({
  path: file,
  hash,
  known: [],
  sections: snapshotSections(() => []),
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-load-'));
  folders.push(folder);
  return folder;
}

const load = (folder: string, options: TestChainOptions = {}): Promise<TestChain> =>
  TestChain.open({ claimIndex: true, snapshot: sourceOf(), folder, timeSec: source.timeSec, ...options });

const messageOf = (opening: Promise<TestChain>): Promise<string> =>
  opening.then(
    () => 'it was opened',
    (error: unknown) => (error as Error).message,
  );

/** Headers of a chain from height 1 on. */
async function headersOf(chain: TestChain): Promise<Buffer[]> {
  const headers: Buffer[] = [];
  for (let height = 1; height <= chain.opened.chain.height; height++)
    headers.push((await chain.blockAt(height)).raw.subarray(0, 112));
  return headers;
}

/** A folder that knows only headers. */
async function folderWithHeaders(headers: readonly Buffer[]): Promise<string> {
  const folder = newFolder();
  const chain = await TestChain.open({ claimIndex: true, folder, timeSec: source.timeSec });
  expect(chain.opened.chain.acceptHeaders(headers).error).toBeNull();
  await chain.opened.close();
  return folder;
}

async function feed(chain: TestChain, from: number, to: number): Promise<void> {
  for (let height = from; height <= to; height++) {
    const { error } = await chain.opened.chain.processBlock(await source.blockAt(height), true);
    expect(error).toBeNull();
  }
}

it('has the coins of the snapshot at once, continues, and becomes an ordinary folder', async () => {
  let chain = await load(newFolder());
  expect(chain.opened.chain.height).toBe(HEIGHT);
  expect(chain.opened.snapshot).toMatchObject({ height: HEIGHT, hash: dump.hash, state: 'assumed' });
  expect(chain.fill.statuses()).toMatchObject([
    { name: 'txindex', synced: false },
    { name: CLAIM_INDEX_NAME, synced: true },
  ]);
  await expect(dumpOf(chain, 'again')).rejects.toThrow(`started from a snapshot of block ${HEIGHT}`);
  await feed(chain, HEIGHT + 1, TIP);
  const coins = await source.call(getTxOutSetInfo);
  expect(coins.error).toBeUndefined();
  const same = ['hash_serialized_2', 'txouts', 'total_amount', 'bestblock'] as const;
  const shown = (answer: typeof coins): unknown[] =>
    same.map((name) => (answer.result as Record<string, unknown>)[name]);
  expect(shown(await chain.call(getTxOutSetInfo))).toEqual(shown(coins));
  const { passed, validation } = await startValidation(chain);
  await feed(chain, 1, HEIGHT);
  await passed;
  expect(validation.status).toBeNull();
  await validation.stop();
  chain = await chain.reopen({ claimIndex: true });
  expect(chain.opened.snapshot).toBeNull();
  expect((await dumpOf(chain, 'again', HEIGHT, RULES)).hash).toBe(dump.hash);
  await chain.opened.close();
});

it('is completed or removed if loading is interrupted', async () => {
  for (const [point, height] of [
    ['snapshot:filled', 0],
    ['snapshot:loaded', HEIGHT],
  ] as const) {
    const folder = newFolder();
    const onPoint = (name: string): void => {
      if (name === point) throw new Error('cut off');
    };
    expect(await messageOf(load(folder, { onPoint }))).toContain('cut off');
    const chain = await TestChain.open({ claimIndex: true, folder, timeSec: source.timeSec });
    expect(chain.opened.chain.height, point).toBe(height);
    await chain.opened.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('chainstate.'))).toEqual([]);
  }
});

it('stops without another error after a failure of the chain', async () => {
  const chain = await load(newFolder(), { onFatal: () => undefined });
  const { validation, passed } = await startValidation(chain);
  let reported = false;
  passed.catch(() => (reported = true));
  await feed(chain, 1, 60);
  const failing = chain.opened.chain.change(() => Promise.reject(new Error('the disk is full')));
  await expect(failing).rejects.toThrow('the disk is full');
  await validation.stop();
  expect(reported).toBe(false);
  await chain.opened.close();
});

it('is refused for another hash, a cut file, and a block outside the best chain of headers', async () => {
  const folder = newFolder();
  const wrong = 'ab'.repeat(32);
  expect(await messageOf(load(folder, { snapshot: sourceOf(wrong) }))).toContain(`but ${wrong} was expected`);
  const cut = join(folder, 'cut');
  writeFileSync(cut, readFileSync(file).subarray(0, -1));
  expect(await messageOf(load(folder, { snapshot: { ...sourceOf(), path: cut } }))).toContain(
    'is corrupt near byte',
  );
  expect(readdirSync(folder).filter((name) => name.startsWith('chainstate'))).toEqual([]);

  const other = await TestChain.open({ timeSec: source.timeSec });
  await other.mine(TIP + 1, ADDRESS_SCRIPT);
  const branch = await folderWithHeaders(await headersOf(other));
  await other.close();
  expect(await messageOf(load(branch))).toContain('not in the chain with the most work that this node knows');
  const kept = await TestChain.open({ claimIndex: true, folder: branch, timeSec: source.timeSec });
  expect(kept.opened.chain.index.headers.count).toBe(TIP + 2);
  await kept.opened.close();

  const chain = await load(await folderWithHeaders(await headersOf(source)));
  expect(chain.opened.chain.height).toBe(HEIGHT);
  expect(chain.opened.chain.index.headers.height(chain.opened.chain.index.bestHeader)).toBe(TIP);
  await chain.opened.close();
});

it('warns of a branch with more work that does not contain the block of the snapshot', async () => {
  const other = await TestChain.open({ timeSec: source.timeSec });
  await other.mine(TIP + 1, ADDRESS_SCRIPT);
  const headers = await headersOf(other);
  await other.close();
  const chain = await load(newFolder());
  const { validation, warnings } = await startValidation(chain);
  expect(chain.opened.chain.acceptHeaders(headers.slice(0, HEIGHT - 1)).error).toBeNull();
  expect(validation.warning).toBe('');
  expect(chain.opened.chain.acceptHeaders(headers.slice(HEIGHT - 1)).error).toBeNull();
  expect(validation.warning).toContain(`does not contain the snapshot's block ${dump.block}`);
  expect(warnings).toEqual([validation.warning]);
  await feed(chain, HEIGHT + 1, TIP);
  // The branch of the snapshot still has less work.
  expect(validation.warning).not.toBe('');
  await validation.stop();
  await chain.opened.close();
});

longIt('restarts the validation if its database is corrupt', async () => {
  const folder = newFolder();
  const reached = async (chain: TestChain, height: number): Promise<Validation> => {
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    let connected = 0;
    const outcome = await startValidation(chain, (name) => {
      if (name === 'validation:connected' && ++connected === height) arrive();
    });
    await feed(chain, 1, height);
    await arrived;
    return outcome;
  };
  let chain = await load(folder);
  const first = await reached(chain, 60);
  await first.validation.stop();
  const { validation: path } = snapshotFolders(join(folder, 'chainstate'));
  const corrupt = readdirSync(path).filter((name) => /^MANIFEST|^CURRENT$|\.(?:ldb|log)$/.test(name));
  expect(corrupt.length).toBeGreaterThan(2);
  for (const name of corrupt) {
    const bytes = readFileSync(join(path, name));
    bytes.fill(0x5a, bytes.length >> 1);
    writeFileSync(join(path, name), bytes);
  }
  chain = await chain.reopen({ claimIndex: true });
  const second = await startValidation(chain);
  expect(second.warnings.join()).toContain('The database of the background validation cannot be used');
  await feed(chain, 61, HEIGHT);
  await second.passed;
  expect(existsSync(path)).toBe(false);
  await second.validation.stop();
  await chain.opened.close();
});
