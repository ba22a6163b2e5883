/** The source of answers about claims for the hub's thread. */
import type { SearchConstraints } from '../claims/claimAnswers.js';
import type { FoundOutputs } from '../claims/foundOutputs.js';
import type { HubClient } from '../protocol/hubClient.js';
import type { HubRpcStub } from './hubRpcStub.js';
import type { Turn } from '../../scheduler/clientQueue.js';

/** See `ClaimAnswers`. */
export interface ClaimSource {
  resolve(client: HubClient, turn: Turn, urls: readonly string[]): Promise<FoundOutputs>;
  /** `claimId` as printed. */
  claim(client: HubClient, turn: Turn, claimId: string): Promise<FoundOutputs>;
  search(client: HubClient, turn: Turn, constraints: SearchConstraints): Promise<FoundOutputs | null>;
}

/** The node's thread. */
export function askedClaims(node: HubRpcStub): ClaimSource {
  return {
    resolve: (client, turn, urls) => node.call(client, turn, 'resolve', urls),
    claim: (client, turn, claimId) => node.call(client, turn, 'claim', claimId),
    // Outside its turn, because a search mostly waits for other threads.
    search: (client, turn, constraints) => turn.outside(() => node.call(client, turn, 'search', constraints)),
  };
}
