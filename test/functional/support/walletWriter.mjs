/**
 * Changes a wallet repeatedly until it is killed: preferences, accounts, encryption, accounts of another wallet. Prints a line
 * after each change. Usage:
 *   node walletWriter.mjs <folder>
 */
import { systemClock, systemRandom } from '../../../dist/daemon/base/clock.js';
import { ledgerParams } from '../../../dist/daemon/base/ledgerParams.js';
import { DaemonWallets } from '../../../dist/daemon/wallet/wallets.js';

/** A ledger without a chain. */
const ledger = {
  params: ledgerParams('lbc_regtest'),
  height: 0,
  add: () => Promise.resolve(),
  ensureGap: () => Promise.resolve([]),
  remove: () => undefined,
};
const done = (what) => new Promise((resolve) => process.stdout.write(`${JSON.stringify(what)}\n`, resolve));

const wallets = await DaemonWallets.open(['w'], {
  folder: process.argv[2],
  ledger,
  tools: { clock: systemClock, random: systemRandom },
  warn: (text) => process.stderr.write(`${text}\n`),
});
const wallet = wallets.default;
if (wallet.isLocked && !wallet.unlock('secret')) throw new Error('the password is wrong');
await done({ account: wallet.account().id });
for (let n = 0; ; n++) {
  const key = `key${n % 40}`;
  const value = `${process.pid} ${n}`;
  await Promise.all([wallet.setPreference(key, value), wallet.setPreference(`other ${key}`, value)]);
  await done({ key, value });
  if (n % 10 === 3) await done({ account: (await wallet.createAccount(`A${n}`, 'deterministic-chain')).id });
  if (n % 10 === 5) {
    wallet.account().channelKeys.import(systemRandom.bytes(32));
    await wallet.save();
    await done({ channelKeys: wallet.account().account.channelKeys.size });
  }
  if (n % 20 === 7) await wallet.encrypt('secret');
  if (n % 20 === 17) await wallet.decrypt();
}
