/**
 * Wallets, accounts, addresses and balances in the form of answers. Source: lbry-sdk
 * lbry/extras/daemon/json_response_encoder.py `encode_account`, lbry/wallet/account.py `get_details`.
 */
import { formatLbc } from '../../metadata/amounts.js';
import { rawNumber } from '../../util/json/json.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { pythonFloat } from '../base/pythonJson.js';
import type { AddressRow, LedgerBalance } from '../ledger/ledgerDatabase.js';
import { generatorToJson, type Account } from '../wallet/account.js';
import { extendedKeyText } from '../wallet/keys.js';
import type { LoadedWallet } from '../wallet/loadedWallet.js';
import type { LedgerParams } from '../base/ledgerParams.js';

type Json = Record<string, JsonOut>;

export const walletToJson = ({ id, name }: LoadedWallet): Json => ({ id, name });

/** Account in the form of the wallet file, without the channel keys. */
export function accountToJson(account: Account, isDefault: boolean): Json {
  const stored = account.toJson().entries.filter(([key]) => key !== 'certificates');
  return { ...Object.fromEntries(stored), id: account.id, is_default: isDefault };
}

/** Converts dewies to LBC with two decimals, as a float. */
function roundedLbc(dewies: bigint): JsonOut {
  return rawNumber(pythonFloat(Number((Number(dewies) / 1e8).toFixed(2))));
}

/** Account as an entry of `account_list`, with its balance. `isDefault` is absent if only one account was requested. */
export function listedAccountToJson(
  account: Account,
  balance: LedgerBalance,
  { showsSeed, isDefault }: { showsSeed: boolean; isDefault?: boolean },
): Json {
  const { id, name, isLocked, publicKeyText, generator, addressType, channelKeys, ledger, seed } = account;
  return {
    id,
    name,
    ledger: ledger.id,
    coins: roundedLbc(balance.available),
    satoshis: balance.available,
    encrypted: isLocked,
    public_key: publicKeyText,
    address_generator: generatorToJson(generator),
    ...(addressType === 'p2pkh' ? {} : { address_type: addressType }),
    ...(showsSeed ? { seed } : {}),
    certificates: channelKeys.size,
    ...(isDefault === undefined ? {} : { is_default: isDefault }),
  };
}

export function addressToJson(row: AddressRow, ledger: LedgerParams): Json {
  const key = {
    depth: row.depth,
    parentFingerprint: Buffer.alloc(4),
    childNumber: row.index,
    chainCode: row.chainCode,
    publicKey: row.publicKey,
    privateKey: null,
  };
  return {
    address: row.address,
    account: row.accountId,
    used_times: row.usedTimes,
    pubkey: extendedKeyText(key, false, ledger),
  };
}

export function balanceToJson({ total, available, reserved, claims, supports, tips }: LedgerBalance): Json {
  return {
    total: formatLbc(total),
    available: formatLbc(available),
    reserved: formatLbc(reserved),
    reserved_subtotals: {
      claims: formatLbc(claims),
      supports: formatLbc(supports),
      tips: formatLbc(tips),
    },
  };
}
