/** Reason why a transaction cannot be made or sent, with the code by which callers are told. Source: lbrycrd rpc/protocol.h. */

/** Codes of the RPC interface, which lies above wallets. */
export const SPEND_ERROR = {
  misc: -1,
  wallet: -4,
  invalidAddressOrKey: -5,
  insufficientFunds: -6,
  invalidParameter: -8,
  keypoolRanOut: -12,
  deserialization: -22,
} as const;

export class SpendError extends Error {
  override readonly name = 'SpendError';
  readonly code: number;
  /** The fee of the last attempt, 0 before there was one. */
  readonly feeSat: bigint;

  constructor(message: string, code: number = SPEND_ERROR.wallet, feeSat = 0n) {
    super(message);
    this.code = code;
    this.feeSat = feeSat;
  }
}
