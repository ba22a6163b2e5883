import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { txid, type OutPoint, type Transaction, type TxOutput } from '../../../src/primitives/transaction.js';
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { buildClaimPrefix } from '../../../src/script/claimScript.js';
import { ecdsaBackend } from '../../../src/crypto/ecdsa.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { toHex, toLatin1 } from '../../../src/util/bytes.js';
import { balance } from '../../../src/wallet/ledger/balances.js';
import type { Entry } from '../../../src/wallet/ledger/entry.js';
import { MINE, MINE_ALL } from '../../../src/wallet/keys/isMine.js';
import { plainMetadata } from '../../../src/wallet/keys/keyRecords.js';
import { WalletBatch } from '../../../src/wallet/store/records.js';
import { WalletFile } from '../../../src/wallet/store/walletFile.js';
import { salvageWallet } from '../../../src/wallet/store/salvage.js';
import { imagePath } from '../../../src/wallet/store/walletImage.js';
import type { Wallet } from '../../../src/wallet/wallet.js';
import { randomOf } from '../../support/claimLife.js';
import { FakeNode } from './support/fakeNode.js';
import { openTestWallet, type TestWallet } from './support/openWallet.js';
import { IS_LONG } from '../../support/long.js';

const FOREIGN = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, 9) });
const open: TestWallet[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** All answers about an entry, as plain values. */
function entryAnswer(wallet: Wallet, entry: Entry): unknown {
  const { ledger } = wallet;
  const { tx: _tx, ...row } = ledger.record(entry);
  return {
    id: toHex(Buffer.from(entry.key, 'latin1')),
    row: { ...row, blockHash: toHex(row.blockHash), notes: [...row.notes] },
    place: [entry.orderPos, toHex(entry.blockHash), entry.blockIndex],
    state: [entry.state, entry.height, ledger.depth(entry), entry.isCoinbase, entry.hasWitness],
    shape: [entry.lockTime, entry.outputCount, entry.hasForeignStake],
    inputs: entry.inputs.map((input) => [
      input,
      ledger.isSpent(input),
      ledger
        .spendersOf(input)
        .map(({ key }) => key)
        .sort(),
    ]),
    outputs: entry.outputs,
    children: ledger
      .childrenOf(entry)
      .map(({ key }) => key)
      .sort(),
    conflicts: ledger
      .conflictsOf(entry)
      .map(({ key }) => key)
      .sort(),
    debit: ledger.debit(entry, MINE_ALL),
  };
}

/** All answers of a wallet. Lists without an order are sorted. */
function answers(wallet: Wallet): Record<string, unknown> {
  const { ledger, keyring, keypool } = wallet;
  const keys = [...keyring.keyIds()].sort();
  const destinations = new Set([...ledger.all()].flatMap(({ outputs }) => outputs.map(({ to }) => to)));
  const blocks = new Set([...ledger.all()].map(({ blockHash }) => toLatin1(blockHash)));
  return {
    size: ledger.size,
    order: [...ledger.inOrder()].map(({ key }) => key),
    entries: [...ledger.all()].map((entry) => entryAnswer(wallet, entry)).sort(byId),
    unspent: [...ledger.unspentOutputs()].sort(([a], [b]) => (a < b ? -1 : 1)),
    byDestination: [...destinations].sort().map((to) => [
      to,
      ledger
        .payingTo(to)
        .map(({ key }) => key)
        .sort(),
      [...ledger.unspentOutputs(new Set([to]))].map(([key]) => key).sort(),
    ]),
    byBlock: [...blocks]
      .sort()
      .map((hash) => [
        hash,
        ledger.countIn(Buffer.from(hash, 'latin1')),
        [...ledger.inBlock(Buffer.from(hash, 'latin1'))].map(({ key }) => key).sort(),
      ]),
    paidBy: ['a', 'é'].map((account) =>
      ledger
        .paidBy(account)
        .map(({ key }) => key)
        .sort(),
    ),
    unsettled: [...ledger.unsettled()].map(({ key }) => key).sort(),
    balances: [MINE.spendable, MINE.watchOnly].map((filter) =>
      balance(ledger, wallet.balanceOptions, filter),
    ),
    keys: keys.map((id) => {
      const keyId = Buffer.from(id, 'latin1');
      const signing = keyring.signingKey(keyId);
      return [id, keyring.publicKey(keyId), signing?.privateKey, keyring.metadata(keyId), keypool.has(keyId)];
    }),
    scripts: [...keyring.allScripts()].sort(([a], [b]) => (a < b ? -1 : 1)),
    firstKeySec: keyring.firstKeySec,
    pools: (['receive', 'change', 'preSplit'] as const).map((pool) => [
      keypool.count(pool),
      keypool.oldestSec(pool),
      [...keypool.lists[pool]].map(([index, key]) => [index, toHex(key.publicKey), key.createdSec]),
    ]),
    bestBlock: wallet.bestBlock?.map((hash) => toHex(hash)),
  };
}

const byId = (a: unknown, b: unknown): number =>
  (a as { id: string }).id < (b as { id: string }).id ? -1 : 1;

/**
 * Closes the wallet, opens it again from its file, and returns its answers. `image` is the image beside the file; null: none.
 */
async function opened(
  one: TestWallet,
  image: Buffer | null,
): Promise<{ next: TestWallet; found: ReturnType<typeof answers> }> {
  await one.follower.stop();
  await one.wallet.close();
  const file = readFileSync(one.path);
  if (image === null) rmSync(imagePath(one.path), { force: true });
  else writeFileSync(imagePath(one.path), image);
  const next = await one.reopen();
  // Opening may only append to the file.
  expect(readFileSync(one.path).length).toBeGreaterThanOrEqual(file.length);
  return { next, found: answers(next.wallet) };
}

/** Opens the wallet with the image that closing leaves, with `older` images and without one. All results must be equal. */
async function expectSame(
  one: TestWallet,
  older: readonly Buffer[],
): Promise<{ next: TestWallet; image: Buffer }> {
  const reopened = await one.reopen();
  const withImage = answers(reopened.wallet);
  await reopened.follower.stop();
  await reopened.wallet.close();
  const image = readFileSync(imagePath(one.path));
  const first = await opened(reopened, null);
  const expected = first.found;
  let { next } = first;
  for (const name of Object.keys(expected)) expect(withImage[name], name).toEqual(expected[name]);
  for (const before of older) {
    const again = await opened(next, before);
    next = again.next;
    for (const name of Object.keys(expected))
      expect(again.found[name], `${name}, older`).toEqual(expected[name]);
  }
  return { next, image };
}

const SECRETS = [1, 2, 3, 4].map((n) => sha256(Buffer.from(`secret ${n}`)));
const PUBLIC_KEYS = SECRETS.map((secret) => ecdsaBackend().publicKeyOf(secret, true));

function spending(serial: number, spent: readonly OutPoint[], outputs: TxOutput[]): Transaction {
  const prevouts = spent.length > 0 ? spent : [{ hash: sha256(Buffer.from(`from ${serial}`)), index: 0 }];
  return {
    version: 2,
    inputs: prevouts.map((prevout) => ({
      prevout,
      scriptSig: Buffer.of(serial & 0xff, serial >> 8),
      sequence: 0xfffffffe,
      witness: serial % 5 === 0 ? [Buffer.of(1)] : [],
    })),
    outputs,
    lockTime: serial % 7 === 0 ? 3 : 0,
  };
}

/** Random operations of a wallet: payments, connected and disconnected blocks, added keys. */
class Life {
  readonly node: FakeNode;
  readonly random: (below: number) => number;
  private readonly paid: Buffer[] = [];
  private readonly coins: OutPoint[] = [];
  private serial = 1;

  constructor(node: FakeNode, seed: number) {
    this.node = node;
    this.random = randomOf(seed);
  }

  async begin(one: TestWallet): Promise<void> {
    for (const type of ['legacy', 'legacy', 'bech32', 'p2sh-segwit', 'legacy'] as const)
      this.paid.push(await one.script(type));
    for (const key of PUBLIC_KEYS)
      this.paid.push(scriptForDestination({ type: 'pubkeyhash', hash: hash160(key) }));
    const [first] = this.paid;
    this.paid.push(Buffer.concat([buildClaimPrefix(Buffer.from('a'), Buffer.of(1)), first!]), FOREIGN);
  }

  private async pay({ wallet }: TestWallet): Promise<void> {
    const { node, random, coins, paid } = this;
    const isSent = coins.length > 2 && random(2) === 0;
    const spent = isSent ? coins.splice(random(coins.length - 1), 1 + random(2)) : [];
    // Some transactions spend an output that is already spent, and conflict.
    if (isSent && random(3) === 0) coins.push(spent[0]!);
    const script = (): Buffer => paid[random(paid.length)]!;
    const serial = this.serial++;
    const tx = spending(serial, spent, [
      { value: BigInt(1000 + serial), script: script() },
      { value: BigInt(10 + serial), script: script() },
    ]);
    coins.push({ hash: txid(tx), index: 0 }, { hash: txid(tx), index: 1 });
    if (serial % 3 === 0) {
      const fromAccount = serial % 2 === 0 ? 'a' : 'é';
      await wallet.change((batch) => wallet.ledger.add(batch, tx, null, { fromAccount }));
    }
    if (random(4) > 0) node.mine([{ value: 50n, script: script() }], [tx]);
    else node.addToMempool(tx);
  }

  /** Something happens. */
  async step(one: TestWallet): Promise<void> {
    const { wallet } = one;
    const { node, random } = this;
    const { ledger } = wallet;
    switch (random(14)) {
      case 0:
        return node.mineEmpty(random(30));
      case 1:
        for (let n = 1 + random(3); n > 0 && node.blocks.length > 2; n--) node.disconnect();
        return;
      case 2: {
        const entry = [...ledger.unsettled()].find((found) => ledger.canAbandon(found));
        return wallet
          .change((batch) => entry !== undefined && ledger.abandon(batch, entry))
          .then(() => undefined);
      }
      case 3: {
        const waiting = [...ledger.unsettled()].find(({ inMempool }) => inMempool);
        if (waiting !== undefined) node.dropFromMempool(Buffer.from(waiting.key, 'latin1'));
        return;
      }
      case 4: {
        const entry = [...ledger.all()][random(Math.max(ledger.size, 1))];
        if (entry === undefined) return;
        if (random(2) === 0) await wallet.change((batch) => ledger.remove(batch, entry));
        else
          await wallet.change((batch) => ledger.note(batch, entry, new Map([['comment', `${this.serial}`]])));
        return;
      }
      case 5: {
        const n = random(SECRETS.length * 4);
        const key = PUBLIC_KEYS[n];
        if (key === undefined) return;
        await wallet.change((batch) => {
          if (n % 2 === 0) wallet.keyring.addKey(batch, SECRETS[n]!, key, plainMetadata(n));
          else wallet.keyring.watch(batch, this.paid[5 + n]!, plainMetadata(5));
        });
        return;
      }
      case 6:
        await wallet.keys.take(random(2) === 0);
        return;
      case 7: {
        const batch = new WalletBatch();
        const reserved = wallet.keys.reserve(batch, random(2) === 0);
        if (reserved !== null) wallet.keypool.giveBack(reserved);
        return wallet.write(batch);
      }
      default:
        return this.pay(one);
    }
  }
}

describe('the image of a wallet', () => {
  it.each(IS_LONG ? [1, 2, 3] : [1])(
    'equals all rows, after any change, and is written while the wallet is open (seed %i)',
    async (seed) => {
      const node = new FakeNode();
      node.mineEmpty(1);
      let one = await openTestWallet(node, { keypoolSize: 6 });
      open.push(one);
      const life = new Life(node, seed);
      await life.begin(one);
      let images: Buffer[] = [];
      let writtenOpen = 0;
      for (let round = 0; round < 8; round++) {
        let refreshed: Buffer | null = null;
        for (let step = 0; step < 12; step++) {
          // Half of the attempts run while the wallet changes.
          const refreshing = step % 3 === 2 ? one.wallet.images.refresh() : null;
          if (step % 2 === 0) await refreshing;
          await life.step(one);
          await one.wallet.events.caughtUp();
          if ((await refreshing) !== true) continue;
          writtenOpen++;
          refreshed = readFileSync(imagePath(one.path));
        }
        if (refreshed !== null) images = [refreshed, ...images];
        // The chain may be reorganised while the wallet is closed.
        if (round % 4 === 3) {
          await one.follower.stop();
          await one.wallet.close();
          for (let n = 1 + life.random(4); n > 0 && node.blocks.length > 2; n--) node.disconnect();
          node.mineEmpty(life.random(3));
          one = await one.reopen();
        }
        const same = await expectSame(one, images);
        one = same.next;
        open[0] = one;
        images = [same.image, ...images].slice(0, 3);
      }
      expect(writtenOpen).toBeGreaterThan(3);
      expect(one.wallet.ledger.size).toBeGreaterThan(15);
      expect(node.failures).toEqual([]);
    },
    120_000,
  );

  it('is used, and later rows are added to it', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const first = await openTestWallet(node);
    open.push(first);
    for (let n = 0; n < 30; n++) node.mine([{ value: 50n, script: await first.script() }], []);
    const again = (open[0] = await first.reopen());
    const { file, ledger } = again.wallet;
    expect(file.hasImage).toBe(true);
    expect(ledger.size).toBe(30);
    // A wallet that did not change keeps its image.
    const stamp = statSync(imagePath(again.path)).mtimeMs;
    const third = (open[0] = await again.reopen());
    expect(third.wallet.file.hasImage).toBe(true);
    expect(statSync(imagePath(again.path)).mtimeMs).toBe(stamp);
  });

  it('is written in the background, so that a killed process leaves one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const node = new FakeNode();
      node.mineEmpty(1);
      const one = await openTestWallet(node);
      open.push(one);
      const { images, file, ledger } = one.wallet;
      const written = async (): Promise<void> => {
        vi.advanceTimersByTime(120_000);
        while (!existsSync(imagePath(one.path))) await new Promise((done) => setImmediate(done));
      };
      images.begin();
      await written();
      rmSync(imagePath(one.path));
      const script = await one.script();
      for (let n = 0; n < 200; n++) node.mine([{ value: 50n, script }], []);
      await file.settled();
      await written();
      for (let n = 0; n < 3; n++) node.mine([{ value: 50n, script }], []);
      await file.settled();
      // The files as a killed process leaves them.
      const copy = mkdtempSync(join(tmpdir(), 'wallet-'));
      for (const name of [one.path, imagePath(one.path)]) copyFileSync(name, join(copy, basename(name)));
      const opening = await WalletFile.open(join(copy, basename(one.path)));
      expect(opening.image?.changed.size).toBeLessThan(20);
      await opening.close();
      copyFileSync(one.path, join(copy, basename(one.path)));
      const killed = await openTestWallet(node, {}, { folder: copy });
      open.push(killed);
      expect(killed.wallet.ledger.size).toBe(203);
      expect(killed.wallet.ledger.size).toBe(ledger.size);
      const found = answers(killed.wallet);
      const full = (await opened(killed, null)).next;
      open.push(full);
      expect(found).toEqual(answers(full.wallet));
    } finally {
      vi.useRealTimers();
    }
  });

  it('is part of a backup, which then opens without reading every row', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const one = await openTestWallet(node);
    open.push(one);
    for (let n = 0; n < 30; n++) node.mine([{ value: 50n, script: await one.script() }], []);
    const folder = mkdtempSync(join(tmpdir(), 'wallet-'));
    const path = join(folder, basename(one.path));
    await one.wallet.events.use(() => one.wallet.images.backup(path));
    const bytes = readFileSync(path);
    // Two blocks that the backup does not have.
    for (let n = 0; n < 2; n++) node.mine([{ value: 50n, script: await one.script() }], []);

    const opening = await WalletFile.open(path);
    expect(opening.image?.changed.size).toBe(0);
    expect(opening.cutBytes).toBe(0);
    // The file no longer contains the image, so commits can be appended. A new image must be written.
    expect(statSync(path).size).toBe(opening.sizeBytes);
    expect(opening.hasImage).toBe(false);
    expect(opening.needsImage).toBe(true);
    await opening.close();

    const restored = async (content: Buffer): Promise<ReturnType<typeof answers>> => {
      const other = mkdtempSync(join(tmpdir(), 'wallet-'));
      writeFileSync(join(other, basename(path)), content);
      const wallet = await openTestWallet(node, {}, { folder: other });
      open.push(wallet);
      expect(wallet.wallet.ledger.size).toBe(32);
      return answers(wallet.wallet);
    };
    const expected = await restored(bytes.subarray(0, opening.sizeBytes));
    expect(await restored(bytes)).toEqual(expected);
    // A corrupt, shortened or foreign image is not used, and no row is lost.
    for (const at of [opening.sizeBytes + 9, Math.floor((opening.sizeBytes + bytes.length) / 2)]) {
      const corrupt = Buffer.from(bytes);
      corrupt[at]! ^= 1;
      expect(await restored(corrupt)).toEqual(expected);
      expect(await restored(bytes.subarray(0, at))).toEqual(expected);
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('of a backup is not searched for rows by -salvagewallet', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const one = await openTestWallet(node);
    open.push(one);
    for (let n = 0; n < 5; n++) node.mine([{ value: 50n, script: await one.script() }], []);
    const path = `${one.path}.backup`;
    await one.wallet.images.backup(path);
    const before = await WalletFile.open(path);
    const rows = [...before.rows('')];
    await before.close();
    await one.wallet.images.backup(path);
    await salvageWallet(path, node.port);
    expect(node.warnings).toEqual([]);
    const salvaged = await WalletFile.open(path);
    expect([...salvaged.rows('')].sort()).toEqual(rows.sort());
    await salvaged.close();
  });

  it('is left out of a backup if other calls use the wallet or it changes meanwhile', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const one = await openTestWallet(node);
    open.push(one);
    const path = `${one.path}.backup`;
    const { images, events, keypool } = one.wallet;
    const hasImage = async (): Promise<boolean> => {
      const copy = await WalletFile.open(path);
      const { image, cutBytes } = copy;
      await copy.close();
      expect(cutBytes).toBe(0);
      return image !== null;
    };
    await events.use(() => events.use(() => images.backup(path)));
    expect(await hasImage()).toBe(false);
    const reserved = keypool.reserve(false)!;
    await images.backup(path);
    expect(await hasImage()).toBe(false);
    keypool.giveBack(reserved);
    const script = await one.script();
    const running = images.backup(path);
    node.mine([{ value: 50n, script }], []);
    await running;
    expect(await hasImage()).toBe(false);
    await images.backup(path);
    expect(await hasImage()).toBe(true);
  });

  it('is not written while the wallet is in use, and a change aborts the attempt', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const one = await openTestWallet(node);
    open.push(one);
    const { images, events, keypool } = one.wallet;
    rmSync(imagePath(one.path), { force: true });
    await events.use(async () => expect(await images.refresh()).toBe(false));
    const reserved = keypool.reserve(false)!;
    expect(await images.refresh()).toBe(false);
    keypool.giveBack(reserved);
    const refreshing = images.refresh();
    node.mine([{ value: 50n, script: await one.script() }], []);
    expect(await refreshing).toBe(false);
    expect(existsSync(imagePath(one.path))).toBe(false);
    await one.wallet.file.settled();
    expect(await images.refresh()).toBe(true);
    expect(one.wallet.file.hasImage).toBe(true);
  });

  it('is ignored for another file, and its corruption has no effect', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const first = await openTestWallet(node);
    open.push(first);
    for (let n = 0; n < 5; n++) node.mine([{ value: 50n, script: await first.script() }], []);
    const second = (open[0] = await first.reopen());
    const expected = answers(second.wallet);
    await second.follower.stop();
    await second.wallet.close();
    const image = readFileSync(imagePath(second.path));
    let one: TestWallet = second;
    for (const at of [
      0,
      9,
      20,
      Math.floor(image.length / 3),
      Math.floor(image.length / 2),
      image.length - 40,
    ]) {
      const broken = Buffer.from(image);
      broken[at] = broken[at]! ^ 1;
      const again = await opened(one, broken);
      one = open[0] = again.next;
      expect(one.wallet.file.hasImage, `byte ${at}`).toBe(false);
      expect(again.found).toEqual(expected);
    }
    for (const length of [0, 5, 16, image.length - 1]) {
      const again = await opened(one, image.subarray(0, length));
      one = open[0] = again.next;
      expect(again.found).toEqual(expected);
    }
  });

  it('holds no private key', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const one = await openTestWallet(node);
    open.push(one);
    const { keyring } = one.wallet;
    const secrets = [...keyring.keyIds()].map((id) =>
      Buffer.from(keyring.signingKey(Buffer.from(id, 'latin1'))!.privateKey),
    );
    await one.follower.stop();
    await one.wallet.close();
    const image = readFileSync(imagePath(one.path));
    const file = readFileSync(one.path);
    expect(secrets.length).toBeGreaterThan(5);
    for (const secret of secrets) {
      expect(file.includes(secret)).toBe(true);
      expect(image.includes(secret)).toBe(false);
    }
    expect(statSync(imagePath(one.path)).mode & 0o77).toBe(0);
  });

  it('does not hide corruption of the wallet file', async () => {
    const node = new FakeNode();
    node.mineEmpty(1);
    const one = await openTestWallet(node);
    await one.follower.stop();
    await one.wallet.close();
    expect(existsSync(imagePath(one.path))).toBe(true);
    const bytes = readFileSync(one.path);
    bytes[200] = bytes[200]! ^ 1;
    writeFileSync(one.path, bytes);
    await expect(WalletFile.open(one.path)).rejects.toThrow(/is corrupt at byte/);
    rmSync(dirname(one.path), { recursive: true });
  });
});
