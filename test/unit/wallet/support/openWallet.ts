/** A wallet on a fake node, in a folder of its own that `close` removes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { destinationForKey, type OutputType } from '../../../../src/signing/outputType.js';
import { inSlices } from '../../../../src/scheduler/slices.js';
import { Follower } from '../../../../src/wallet/follower.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';
import { WalletFile } from '../../../../src/wallet/store/walletFile.js';
import { Wallet } from '../../../../src/wallet/wallet.js';
import type { WalletOptions } from '../../../../src/wallet/walletOptions.js';
import type { FakeNode } from './fakeNode.js';

/** The defaults, with few keys. */
export const WALLET_OPTIONS: WalletOptions = {
  addressType: 'legacy',
  changeType: null,
  avoidsPartialSpends: false,
  discardFeeRatePerKb: 10_000n,
  fallbackFeeRatePerKb: 20_000n,
  minTxFeeRatePerKb: 1000n,
  payTxFeeRatePerKb: 0n,
  maxTxFeeSat: 50_000_000n,
  keypoolSize: 5,
  confirmTarget: 6,
  spendsUnconfirmedChange: true,
  signalsReplacement: false,
  broadcasts: true,
  rejectsLongChains: false,
};

export interface TestWallet {
  readonly wallet: Wallet;
  readonly follower: Follower;
  readonly path: string;
  /** A script that pays to a new key of the wallet. */
  script(type?: OutputType): Promise<Buffer>;
  /** Closes it and opens it from its file again. */
  reopen(options?: Partial<WalletOptions>): Promise<TestWallet>;
  close(): Promise<void>;
}

export async function openTestWallet(
  node: FakeNode,
  options: Partial<WalletOptions> = {},
  { privateKeys = true, folder = mkdtempSync(join(tmpdir(), 'wallet-')) } = {},
): Promise<TestWallet> {
  const path = join(folder, 'wallet.lbc');
  const isNew = !WalletFile.isOne(path);
  const file = isNew ? await WalletFile.create(path) : await WalletFile.open(path);
  const wallet = new Wallet('', { node: node.port, file, options: { ...WALLET_OPTIONS, ...options } });
  if (isNew) {
    const batch = new WalletBatch();
    await inSlices(wallet.begin(batch, { privateKeys }));
    await wallet.write(batch);
  } else await inSlices(wallet.load());
  const follower = new Follower(wallet);
  await follower.start({ isNew });
  const shut = async (): Promise<void> => {
    await follower.stop();
    await wallet.close();
  };
  return {
    wallet,
    follower,
    path,
    async script(type = 'legacy') {
      const key = await wallet.keys.take(false);
      return scriptForDestination(destinationForKey(key!, type));
    },
    async reopen(other = {}) {
      await shut();
      return openTestWallet(node, { ...options, ...other }, { folder });
    },
    async close() {
      await shut();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
