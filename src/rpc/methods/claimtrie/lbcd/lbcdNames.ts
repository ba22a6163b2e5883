/** Functions shared by lbcd's four methods for the claims of a name. The methods differ in the selection and order of claims. */
import { hashToHex } from '../../../../util/bytes.js';
import { jsonTypeName, type JsonValue } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { inSlices } from '../../../../scheduler/slices.js';
import type { Slices } from '../../../../util/slices.js';
import type { MaybePromise } from '../../../../util/maybePromise.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { lbcdName, rankByBid, type ChosenClaims, type RankedClaim } from '../../../format/claimsLbcd.js';
import type { RpcContext } from '../../../declare/method.js';
import { retryWhileGone } from '../atBlock.js';
import { givenName } from '../hexNames.js';
import { lbcdBlock } from './lbcdBlock.js';

export const INCLUDE_VALUES_PARAM = {
  name: 'includevalues',
  type: 'verbosity',
  default: 0,
  description: 'Include values and addresses',
} as const;

/** Number of items of a parameter processed between two yields to the event loop. A parameter may have millions of items. */
export const ITEMS_AT_ONCE = 1024;

/** Checks the items of the second parameter. Throws error -32602 for an item of another type, like lbcd's parser. */
export async function checkItems(
  items: readonly JsonValue[],
  read: (item: JsonValue) => unknown,
): Promise<void> {
  await inSlices(checked(items, read));
}

function* checked(items: readonly JsonValue[], read: (item: JsonValue) => unknown): Slices<void> {
  for (let n = 0; n < items.length; n++) {
    try {
      read(items[n]!);
    } catch {
      throw rpcError(
        RPC_ERROR.INVALID_PARAMS,
        `parameter #2 contains a value of another type (got ${jsonTypeName(items[n]!)})`,
      );
    }
    if (n % ITEMS_AT_ONCE === 0) yield;
  }
}

export interface LbcdNameArgs {
  readonly name: string;
  readonly hex: boolean;
  readonly hashorheight: string | undefined;
  readonly includevalues: number;
}

/** Returns the result with the claims that `choose` selects. `choose` receives all claims in bid order and runs in slices. */
export function lbcdNameAnswer(
  { services }: RpcContext,
  args: LbcdNameArgs,
  choose: (claims: readonly RankedClaim[]) => Slices<ChosenClaims>,
): MaybePromise<JsonOut> {
  const { claims, chain } = services;
  const named = (): ReturnType<typeof lbcdBlock> => lbcdBlock(services, args.hashorheight);
  return retryWhileGone(services, named, async ({ id, height }) => {
    const name = givenName('name', args.name, args.hex);
    const info = await claims.lbcdNameAt(name, height);
    if (info === null) {
      throw rpcError(RPC_ERROR.MISC_ERROR, `Message: name does not exist at height ${height}: ${args.name}`);
    }
    return lbcdName(services, {
      info,
      ...(await inSlices(choose(rankByBid(info.claims)))),
      height,
      blockHash: hashToHex(chain.headers.hash(id)),
      includeValues: args.includevalues !== 0,
    });
  });
}
