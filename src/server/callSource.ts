/** Origin of a call: its profile, its wallet and its user. */
import type { UsualCalls } from '../rpc/call/usualCall.js';
import type { Profile } from '../rpc/declare/method.js';
import type { PlainHead } from './plain/plainHead.js';

export interface CallSource {
  readonly profile: Profile;
  readonly user: string;
  /** Name of the wallet in the path of the request. */
  readonly walletName: string | undefined;
  readonly userAgent: string | undefined;
}

/** A head with verified credentials of one connection, and the origin of the requests that have it. */
export interface VerifiedHead extends CallSource {
  readonly head: PlainHead;
  readonly calls: UsualCalls;
}
