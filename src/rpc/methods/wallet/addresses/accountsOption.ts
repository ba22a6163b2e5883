/** Declares the deprecated account methods, which are available only with `-deprecatedrpc=accounts`. */
import type { RpcMethod } from '../../../declare/method.js';

export const ACCOUNTS = 'accounts';

/** Returns the field `deprecated` for the declaration of an account method. */
export function accountMethod(name: string): NonNullable<RpcMethod['deprecated']> {
  return {
    comesFirst: true,
    option: ACCOUNTS,
    message: `${name} is deprecated and will be removed in V0.18. To use this command, start with -deprecatedrpc=accounts.`,
  };
}
