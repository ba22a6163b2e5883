/** Parses addresses in arguments of wallet methods. */
import { decodeDestination } from '../../../../script/address.js';
import { destinationKey } from '../../../../wallet/destinationKey.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';

/** Returns the `destinationKey` of an address. Throws an error with the text `message` if the address is invalid. */
export function addressKey(
  { prefixes }: Wallet,
  address: string,
  message = 'Invalid Bitcoin address',
): string {
  const destination = decodeDestination(address, prefixes);
  if (destination === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, message);
  return destinationKey(destination);
}
