/**
 * Networks of wallets, by the names that wallet files use, with the formats of their addresses and keys. Source: lbry-sdk
 * lbry/wallet/ledger.py `Ledger`, `TestNetLedger`, `RegTestLedger`.
 */
import type { NetworkParams } from '../../params/network.js';
import { mainParams } from '../../params/main.js';
import { regtestParams } from '../../params/regtest.js';
import { testParams } from '../../params/test.js';
import { addressPrefixesOf, type AddressPrefixes } from '../../script/address.js';

export const LEDGER_IDS = ['lbc_mainnet', 'lbc_testnet', 'lbc_regtest'] as const;

export type LedgerId = (typeof LEDGER_IDS)[number];

export interface LedgerParams {
  readonly id: LedgerId;
  readonly network: NetworkParams;
  readonly addressPrefixes: AddressPrefixes;
}

const ledgerOf = (id: LedgerId, network: NetworkParams): LedgerParams => ({
  id,
  network,
  addressPrefixes: addressPrefixesOf(network),
});

const LEDGERS: Readonly<Record<LedgerId, LedgerParams>> = {
  lbc_mainnet: ledgerOf('lbc_mainnet', mainParams),
  lbc_testnet: ledgerOf('lbc_testnet', testParams),
  lbc_regtest: ledgerOf('lbc_regtest', regtestParams),
};

export const ledgerParams = (id: LedgerId): LedgerParams => LEDGERS[id];

export function isLedgerId(text: unknown): text is LedgerId {
  return LEDGER_IDS.includes(text as LedgerId);
}
