/** Parses claim values, destinations and transactions in arguments. Source: lbrycrd wallet/rpcwallet.cpp. */
import type { Entry } from '../../../../wallet/ledger/entry.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { isHex, type Bytes } from '../../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';

export const CLAIM_TXID_PARAM = {
  name: 'txid',
  type: 'looseHash',
  required: true,
  description: 'The transaction that contains the unspent output',
} as const;

export const ABANDON_PARAMS = [
  CLAIM_TXID_PARAM,
  { name: 'address', type: 'string', required: true, description: 'The address that receives the amount' },
] as const;

/** Parses hex of at least one byte. Source: `IsHex`. */
export function valueBytes(text: string): Buffer {
  if (text === '' || !isHex(text)) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'value must be hexadecimal');
  return Buffer.from(text, 'hex');
}

export function ownTransaction(wallet: Wallet, txid: Bytes): Entry {
  const entry = wallet.ledger.find(txid);
  if (entry === undefined) {
    throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid or non-wallet transaction id');
  }
  return entry;
}
