/** The deprecated accounts, which answer with `-deprecatedrpc=accounts` only. */
import type { RpcMethod } from '../../../declare/method.js';

export const ACCOUNTS = 'accounts';

/** What a method of accounts declares as `deprecated`. */
export function accountMethod(name: string): NonNullable<RpcMethod['deprecated']> {
  return {
    comesFirst: true,
    option: ACCOUNTS,
    message: `${name} is deprecated and will be removed in V0.18. To use this command, start with -deprecatedrpc=accounts.`,
  };
}
