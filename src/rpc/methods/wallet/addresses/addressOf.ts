/** Addresses as arguments of wallet methods. */
import { decodeDestination } from '../../../../script/address.js';
import { destinationKey } from '../../../../wallet/destinationKey.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';

/** The `destinationKey` of an address; `message` is the error for an invalid address. */
export function addressKey(
  { prefixes }: Wallet,
  address: string,
  message = 'Invalid Bitcoin address',
): string {
  const destination = decodeDestination(address, prefixes);
  if (destination === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
  return destinationKey(destination);
}
