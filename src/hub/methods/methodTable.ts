/** Methods that the hub's thread runs, by name. */
import type { HubMethod } from './method.js';
import { CLAIM_METHODS } from './claims.js';
import { HEADER_METHODS } from './headers.js';
import { SERVER_METHODS } from './server.js';
import { SUBSCRIPTION_METHODS } from './subscriptions.js';

export const HUB_METHODS: readonly HubMethod[] = [
  ...SERVER_METHODS,
  ...HEADER_METHODS,
  ...SUBSCRIPTION_METHODS,
  ...CLAIM_METHODS,
];
