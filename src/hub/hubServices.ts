/** What the hub's methods work with. */
import type { RpcServices } from '../rpc/services.js';
import type { AddressHistories } from './addressHistories.js';
import type { BlockTxids } from './blockTxids.js';
import type { ClaimAnswers } from './claimAnswers.js';
import type { HeaderNotices } from './headerNotices.js';
import type { HeaderService } from './headerService.js';
import type { HubPeers } from './hubPeers.js';

/** What the operator says of the hub, as clients see it. */
export interface HubFacts {
  readonly description: string;
  readonly paymentAddress: string;
  readonly donationAddress: string;
  /** LBC as a decimal number. */
  readonly dailyFee: string;
  /** File of the banner; null for the usual one. */
  readonly bannerFile: string | null;
  /** Names of clients that are refused; null refuses none. */
  readonly dropClient: RegExp | null;
}

export interface HubServices {
  readonly facts: HubFacts;
  readonly node: RpcServices;
  readonly peers: HubPeers;
  readonly headers: HeaderService;
  readonly headerNotices: HeaderNotices;
  readonly blockTxids: BlockTxids;
  readonly histories: AddressHistories;
  /** Null where there is no claim index. */
  readonly claims: ClaimAnswers | null;
}
