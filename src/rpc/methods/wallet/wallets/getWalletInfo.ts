/** `getwalletinfo`: the state of a wallet. Source: lbrycrd wallet/rpcwallet.cpp. */
import { balance, stakedSat } from '../../../../wallet/ledger/balances.js';
import { coins } from '../../../../util/json/json.js';
import { hashToHex } from '../../../../util/bytes.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from './walletOf.js';

export const getWalletInfo = defineMethod({
  name: 'getwalletinfo',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Returns an object containing various wallet state info.',
  params: [],
  result: t.object({
    walletname: t.str('the name of the wallet'),
    walletversion: t.int('the version of the wallet'),
    balance: t.coins('the confirmed balance'),
    available_balance: t.coins('the confirmed balance without claims and supports'),
    staked_claim_balance: t.coins('the sum of the claims'),
    staked_support_balance: t.coins('the sum of the supports'),
    unconfirmed_balance: t.coins('the unconfirmed balance'),
    immature_balance: t.coins('the immature balance: mined coins that cannot be spent yet'),
    txcount: t.int('number of transactions in the wallet'),
    keypoololdest: t.int('creation time of the oldest key in the pool, in seconds since 1970'),
    keypoolsize: t.int('number of unused keys for addresses'),
    keypoolsize_hd_internal: t.optional(
      t.int('number of unused keys for change'),
      'if change addresses use separate keys',
    ),
    unlocked_until: t.optional(
      t.int('time until which the wallet is unlocked, in seconds since 1970; 0 if it is locked'),
      'if the wallet is encrypted',
    ),
    paytxfee: t.coins('the fee rate set by settxfee or -paytxfee, for 1,000 virtual bytes'),
    hdseedid: t.optional(t.hex('the id of the seed, as the hash of its key'), 'if the wallet has a seed'),
    hdmasterkeyid: t.optional(t.hex('the same value under its older name'), 'if the wallet has a seed'),
    private_keys_enabled: t.bool('whether private keys are enabled'),
    scanning: t.optional(
      t.union([
        {
          when: 'while a rescan is running',
          schema: t.object({
            duration: t.int('seconds since the start of the rescan'),
            progress: t.num('progress from 0 to 1'),
          }),
        },
        { when: 'else', schema: t.bool('false') },
      ]),
      'absent in the lbrycrd profile',
    ),
  }),
  examples: [[]],
  run(ctx) {
    const wallet = walletOf(ctx);
    const { ledger, keypool, hd, balanceOptions } = wallet;
    const all = balance(ledger, balanceOptions);
    const { claims, supports } = stakedSat(ledger, balanceOptions);
    const seed = hd.state === null ? null : hashToHex(hd.state.seedId);
    return {
      walletname: wallet.name,
      walletversion: wallet.version,
      balance: coins(all.trusted),
      available_balance: coins(all.trusted - claims - supports),
      staked_claim_balance: coins(claims),
      staked_support_balance: coins(supports),
      unconfirmed_balance: coins(all.pending),
      immature_balance: coins(all.immature),
      txcount: ledger.size,
      keypoololdest: oldestKeySec(wallet),
      keypoolsize: keypool.count('receive'),
      ...(wallet.keys.hasChangeChain
        ? { keypoolsize_hd_internal: keypool.count('change') + keypool.count('preSplit') }
        : {}),
      ...(wallet.keyring.isEncrypted ? { unlocked_until: wallet.relock.untilSec } : {}),
      paytxfee: coins(wallet.payTxFeeRatePerKb),
      ...(seed === null ? {} : { hdseedid: seed, hdmasterkeyid: seed }),
      private_keys_enabled: wallet.hasPrivateKeys,
      scanning: ctx.profile === 'lbrycrd' ? undefined : scanningOf(wallet),
    };
  },
});

/** Returns the progress of a rescan, or false. Source: Bitcoin Core 0.19 `getwalletinfo`. */
function scanningOf({ scans }: Wallet): JsonOut {
  if (scans.progress === null) return false;
  const { durationSec, progress } = scans.progress;
  return { duration: durationSec, progress };
}

/**
 * Returns the creation time of the oldest key in the key pools; the current time if a pool is empty. Source:
 * `GetOldestKeyPoolTime`.
 */
function oldestKeySec({ keypool, keys: { hasChangeChain }, node }: Wallet): number {
  const oldest = (pool: 'receive' | 'change'): number => keypool.oldestSec(pool) ?? node.nowSec();
  if (!hasChangeChain) return oldest('receive');
  return Math.max(oldest('receive'), oldest('change'), keypool.oldestSec('preSplit') ?? 0);
}
