/** Services that the hub's thread uses to answer requests of clients. */
import type { HubClaimSource } from './hubClaims.js';
import type { HubFacts } from '../protocol/hubFacts.js';
import type { HubPeers } from '../protocol/hubPeers.js';
import type { HubRpcClient } from './hubRpcClient.js';
import type { TipHeader } from '../protocol/tipHeader.js';
import type { UnknownConstraints } from '../methods/unknownConstraints.js';

export interface ClientServices {
  readonly facts: HubFacts;
  readonly peers: HubPeers;
  readonly tip: TipHeader;
  readonly node: HubRpcClient;
  readonly claims: HubClaimSource;
  readonly warn: (text: string) => void;
  readonly unknownConstraints: UnknownConstraints;
}
