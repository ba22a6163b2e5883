/**
 * Parses labels and address types in arguments. Source: lbrycrd wallet/rpcwallet.cpp `LabelFromValue`, outputtype.cpp
 * `ParseOutputType`.
 */
import { isOutputType, type OutputType } from '../../../../signing/outputType.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';

/** Parameters of methods that add an address to the wallet: its label and its type. */
export const ADDED_ADDRESS_PARAMS = [
  { name: 'label|account', type: 'string', default: '', description: 'A label to assign the address to' },
  {
    name: 'address_type',
    type: 'string',
    defaultText: '-addresstype',
    description: 'The address type to use: legacy, p2sh-segwit or bech32',
  },
] as const;

export function checkLabel(label: string): string {
  if (label === '*') throw rpcError(RPC_ERROR.WALLET_INVALID_LABEL_NAME, 'Invalid label name');
  return label;
}

export function addressTypeOf(name: string | undefined, otherwise: OutputType): OutputType {
  if (name === undefined) return otherwise;
  if (!isOutputType(name)) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Unknown address type '${name}'`);
  return name;
}

/** Creates the error for an empty key pool. The pool cannot be refilled because the wallet is locked. */
export function ranOut(): Error {
  return rpcError(
    RPC_ERROR.WALLET_KEYPOOL_RAN_OUT,
    'Error: Keypool ran out, please call keypoolrefill first',
  );
}
