/** Error codes of the RPC interface by name (Bitcoin Core's `RPCErrorCode`), and the error class that has such a code. */

export const RPC_ERROR = {
  // Error codes of JSON-RPC.
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  PARSE_ERROR: -32700,
  // Error codes of any method.
  MISC_ERROR: -1,
  FORBIDDEN_BY_SAFE_MODE: -2,
  TYPE_ERROR: -3,
  INVALID_ADDRESS_OR_KEY: -5,
  OUT_OF_MEMORY: -7,
  INVALID_PARAMETER: -8,
  DATABASE_ERROR: -20,
  DESERIALIZATION_ERROR: -22,
  VERIFY_ERROR: -25,
  VERIFY_REJECTED: -26,
  VERIFY_ALREADY_IN_CHAIN: -27,
  IN_WARMUP: -28,
  METHOD_DEPRECATED: -32,
  // Error codes of methods about the peer network.
  CLIENT_NOT_CONNECTED: -9,
  CLIENT_IN_INITIAL_DOWNLOAD: -10,
  CLIENT_NODE_ALREADY_ADDED: -23,
  CLIENT_NODE_NOT_ADDED: -24,
  CLIENT_NODE_NOT_CONNECTED: -29,
  CLIENT_INVALID_IP_OR_SUBNET: -30,
  CLIENT_P2P_DISABLED: -31,
  // Error codes of wallet methods.
  WALLET_ERROR: -4,
  WALLET_INSUFFICIENT_FUNDS: -6,
  WALLET_INVALID_LABEL_NAME: -11,
  WALLET_KEYPOOL_RAN_OUT: -12,
  WALLET_UNLOCK_NEEDED: -13,
  WALLET_PASSPHRASE_INCORRECT: -14,
  WALLET_WRONG_ENC_STATE: -15,
  WALLET_ENCRYPTION_FAILED: -16,
  WALLET_ALREADY_UNLOCKED: -17,
  WALLET_NOT_FOUND: -18,
  WALLET_NOT_SPECIFIED: -19,
} as const;

export type RpcErrorName = keyof typeof RPC_ERROR;

/** Meaning of each error code, for the documentation. Error messages are more specific. */
export const RPC_ERROR_MEANING: Readonly<Record<RpcErrorName, string>> = {
  INVALID_REQUEST: 'The request is not a JSON-RPC request',
  METHOD_NOT_FOUND: 'The method does not exist in this profile',
  INVALID_PARAMS: 'The parameters contradict each other',
  INTERNAL_ERROR: 'An internal error of the node',
  PARSE_ERROR: 'The request is not valid JSON',
  MISC_ERROR:
    'Wrong number of parameters (the message is the help of the method), a parameter of the wrong JSON ' +
    'type, or an error without a code of its own',
  FORBIDDEN_BY_SAFE_MODE: 'Refused because the chain is in an unsafe state, for instance on a long fork',
  TYPE_ERROR: 'A parameter of the wrong JSON type, or an invalid amount',
  INVALID_ADDRESS_OR_KEY: 'An invalid address, key or signature, or an unknown block or transaction',
  OUT_OF_MEMORY: 'Not enough memory',
  INVALID_PARAMETER: 'A parameter that is unknown, malformed, out of range, or contradicts another parameter',
  DATABASE_ERROR: 'The database failed',
  DESERIALIZATION_ERROR: 'Bytes that cannot be decoded, such as an invalid transaction in hex',
  VERIFY_ERROR: 'A transaction or block could not be verified',
  VERIFY_REJECTED: 'A transaction or block was rejected',
  VERIFY_ALREADY_IN_CHAIN: 'The transaction is in the chain already',
  IN_WARMUP: 'The node is starting',
  METHOD_DEPRECATED: 'The method is deprecated and only available with -deprecatedrpc',
  CLIENT_NOT_CONNECTED: 'The node has no peers',
  CLIENT_IN_INITIAL_DOWNLOAD: 'The node is still downloading the chain',
  CLIENT_NODE_ALREADY_ADDED: 'The node or the ban exists already',
  CLIENT_NODE_NOT_ADDED: 'No such node was added by addnode',
  CLIENT_NODE_NOT_CONNECTED: 'No such node is connected',
  CLIENT_INVALID_IP_OR_SUBNET: 'An invalid address or subnet',
  CLIENT_P2P_DISABLED: 'The node runs without P2P networking',
  WALLET_ERROR: 'The wallet failed',
  WALLET_INSUFFICIENT_FUNDS: 'The wallet or account has insufficient funds',
  WALLET_INVALID_LABEL_NAME: 'An invalid label',
  WALLET_KEYPOOL_RAN_OUT: 'The key pool is empty',
  WALLET_UNLOCK_NEEDED: 'The wallet must be unlocked first',
  WALLET_PASSPHRASE_INCORRECT: 'The passphrase is wrong',
  WALLET_WRONG_ENC_STATE:
    'The call requires an encrypted wallet and the wallet is not encrypted, or the reverse',
  WALLET_ENCRYPTION_FAILED: 'The wallet could not be encrypted',
  WALLET_ALREADY_UNLOCKED: 'The wallet is already unlocked',
  WALLET_NOT_FOUND: 'No such wallet is loaded',
  WALLET_NOT_SPECIFIED: 'Several wallets are loaded, and the request does not name one (path /wallet/<name>)',
};

/** Error that a method throws to return an error response `{code, message}`. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Creates an error response, to be thrown: `throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Block height out of range')`. */
export function rpcError(code: number, message: string): RpcError {
  return new RpcError(code, message);
}
