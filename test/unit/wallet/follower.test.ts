import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseBlock } from '../../../src/primitives/block.js';
import { Reader } from '../../../src/util/reader.js';
import { WalletFile } from '../../../src/wallet/store/walletFile.js';
import { WalletFileError } from '../../../src/wallet/store/walletFileErrors.js';
import { Follower } from '../../../src/wallet/follower.js';
import { txRecordKey } from '../../../src/wallet/ledger/txRecord.js';
import { Wallet } from '../../../src/wallet/wallet.js';
import { atOnce } from '../../../src/util/slices.js';
import { txid } from '../../../src/primitives/transaction.js';
import { FakeNode } from './support/fakeNode.js';
import { openTestWallet, WALLET_OPTIONS } from './support/openWallet.js';

describe('Follower', () => {
  it('follows a reorganisation that happens during its start', async () => {
    const node = new FakeNode();
    node.mineEmpty(3);
    const open = await openTestWallet(node);
    const script = await open.script();
    node.mine([{ value: 5n, script }]);
    await open.follower.stop();
    await open.wallet.close();
    const file = await WalletFile.open(open.path);
    const wallet = new Wallet('', { node: node.port, file, options: WALLET_OPTIONS });
    atOnce(wallet.load());
    const follower = new Follower(wallet);
    const started = follower.start();
    await Promise.resolve();
    await Promise.resolve();
    expect(wallet.followedHeight).toBe(3);
    node.disconnect();
    node.mine([{ value: 7n, script }]);
    node.mineEmpty(1);
    await started;
    const entries = [...wallet.ledger.all()].map(({ state, height }) => ({ state, height }));
    expect(entries).toEqual([
      { state: 'unconfirmed', height: -1 },
      { state: 'confirmed', height: 3 },
    ]);
    await follower.stop();
    await open.close();
  });

  it('reports its progress while it catches up, in the log once a minute', async () => {
    const node = new FakeNode();
    node.mineEmpty(3);
    const open = await openTestWallet(node);
    await open.follower.stop();
    await open.wallet.close();
    node.mineEmpty(7);
    const file = await WalletFile.open(open.path);
    const wallet = new Wallet('', { node: node.port, file, options: WALLET_OPTIONS });
    atOnce(wallet.load());
    node.lines.length = 0;
    // A block takes 20 seconds.
    const follower = new Follower(wallet, () => wallet.followedHeight * 20_000);
    await follower.start();
    expect(node.lines).toEqual([
      '[default wallet] Rescanning last 7 blocks (from block 3)...',
      '[default wallet] Still rescanning. At block 5. Progress=0.555556',
      '[default wallet] Still rescanning. At block 8. Progress=0.888889',
    ]);
    expect(node.startStatuses).toEqual(
      [3, 4, 5, 6, 7, 8, 9].map((height) => `Rescanning... (block ${height} of 9)`),
    );
    await follower.stop();
    await open.close();
  });

  it('stops the node, without an exception, if its file cannot be read', async () => {
    const node = new FakeNode();
    node.mineEmpty(3);
    const { wallet, path, script, close } = await openTestWallet(node);
    const block = node.mine([{ value: 5n, script: await script() }]);
    const [coinbase] = parseBlock(new Reader(block.raw)).transactions;
    node.disconnect();
    const inputs = coinbase!.inputs.map((input) => ({ ...input, witness: [Buffer.of(1)] }));
    const witnessed = { ...coinbase!, inputs };
    node.addToMempool(witnessed);
    await wallet.keys.topUp(7);
    const row = wallet.file.get(txRecordKey(txid(coinbase!)))!;
    const fd = openSync(path, 'r+');
    writeSync(fd, Buffer.of(0xff), 0, 1, readFileSync(path).indexOf(row) + 60);
    closeSync(fd);
    node.mine(undefined, [witnessed]);
    expect(node.failures).toEqual([expect.any(WalletFileError)]);
    await close();
  });
});
