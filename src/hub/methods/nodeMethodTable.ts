/** The methods that the node's thread runs, by name. */
import type { NodeMethod } from './method.js';
import { NODE_ADDRESS_METHODS } from './nodeAddresses.js';
import { NODE_CLAIM_METHODS } from './nodeClaims.js';
import { NODE_HEADER_METHODS } from './nodeHeaders.js';
import { NODE_TRANSACTION_METHODS } from './nodeTransactions.js';

export const NODE_METHODS: ReadonlyMap<string, NodeMethod> = new Map(
  [...NODE_HEADER_METHODS, ...NODE_TRANSACTION_METHODS, ...NODE_ADDRESS_METHODS, ...NODE_CLAIM_METHODS].map(
    (method) => [method.name, method],
  ),
);
