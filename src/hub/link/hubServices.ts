/** Services that the node's thread uses to answer calls of the hub's thread. */
import type { ValuePlace } from '../../index/claims/claimValues.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { Bytes } from '../../util/bytes.js';
import type { AddressHistories } from '../history/addressHistories.js';
import type { BlockTxids } from '../history/blockTxids.js';
import type { HubSearch } from '../claims/claimAnswers.js';
import type { HeaderService } from '../history/headerService.js';

export interface HubServices {
  readonly node: RpcServices;
  readonly headers: HeaderService;
  readonly blockTxids: BlockTxids;
  readonly histories: AddressHistories;
  /** The claim search; null if it is disabled. */
  readonly search: HubSearch | null;
  /** Values of claims in the order of `places`; null if the output does not exist. */
  readonly claimValues: (places: readonly ValuePlace[]) => Promise<(Bytes | null)[]>;
  /** Returns the times of the blocks at these heights. */
  readonly timesOf: (heights: readonly number[]) => readonly number[];
}
