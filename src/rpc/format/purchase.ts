/** Purchases in OP_RETURN outputs. */
import { decodePurchase } from '../../metadata/purchase.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { MAX_SCRIPT_SIZE, nextOp, opDataStart } from '../../script/script.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';

const CLAIM_ID_BYTES = 20;

/** Returns the id of the claim that an OP_RETURN output records as bought; undefined if its data is not a purchase. */
export function purchasedClaim(script: Bytes): string | undefined {
  if (script.length < 2 || script.length > MAX_SCRIPT_SIZE || nextOp(script, 1) !== script.length)
    return undefined;
  try {
    const { claimHash } = decodePurchase(script.subarray(opDataStart(script[1]!, 1)));
    return claimHash.length === CLAIM_ID_BYTES ? hashToHex(claimHash) : undefined;
  } catch (error) {
    if (error instanceof MetadataError) return undefined;
    throw error;
  }
}
