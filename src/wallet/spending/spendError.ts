/**
 * The error for a transaction that cannot be created or sent, with the error code for RPC callers. Source: lbrycrd
 * rpc/protocol.h.
 */

/** Error codes of the RPC interface. This copy exists because wallet code must not import RPC code. */
export const SPEND_ERROR = {
  misc: -1,
  wallet: -4,
  invalidAddressOrKey: -5,
  insufficientFunds: -6,
  invalidParameter: -8,
  keypoolRanOut: -12,
  deserialization: -22,
} as const;

/**
 * The payment would exceed the limits of the mempool for chains of unconfirmed transactions. The first part is the text of
 * lbrycrd.
 */
export const LONG_CHAIN =
  'Transaction has too long of a mempool chain: too many unconfirmed ancestors or descendants. Wait for a block, or use another coin';

export class SpendError extends Error {
  override readonly name = 'SpendError';
  readonly code: number;
  /** Fee in satoshis that was computed before the error; 0 if none was computed. */
  readonly feeSat: bigint;

  constructor(message: string, code: number = SPEND_ERROR.wallet, feeSat = 0n) {
    super(message);
    this.code = code;
    this.feeSat = feeSat;
  }
}
