/** All methods of the hub by name. */
import type { HubMethod } from './method.js';
import { ADDRESS_METHODS } from './methods/addresses.js';
import { CLAIM_METHODS } from './methods/claims.js';
import { HEADER_METHODS } from './methods/headers.js';
import { SERVER_METHODS } from './methods/server.js';
import { TRANSACTION_METHODS } from './methods/transactions.js';

export const HUB_METHODS: ReadonlyMap<string, HubMethod> = new Map(
  [...SERVER_METHODS, ...HEADER_METHODS, ...TRANSACTION_METHODS, ...ADDRESS_METHODS, ...CLAIM_METHODS].map(
    (method) => [method.name, method],
  ),
);
