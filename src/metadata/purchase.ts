/**
 * Receipt of a purchase: the data in an output of its own, after the output that pays the seller. Source: lbry-sdk
 * lbry/schema/purchase.py.
 */
import { create } from '@bufbuild/protobuf';
import { MAX_SCRIPT_SIZE, nextOp, opDataStart } from '../script/script.js';
import { concatBytes, hashToHex, type Bytes } from '../util/bytes.js';
import { PurchaseSchema, type Purchase } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { readMessage, writeMessage } from './wire.js';

/** First byte of a receipt's data, the letter P. */
const START_BYTE = 0x50;
const CLAIM_ID_BYTES = 20;

/** Decodes the data pushed after `OP_RETURN`. Throws `MetadataError` if it is not a purchase. */
export function decodePurchase(data: Bytes): Purchase {
  if (data[0] !== START_BYTE) throw new MetadataError('The data is not that of a purchase');
  return readMessage(PurchaseSchema, data.subarray(1)).message;
}

/** Encodes the data of a receipt, to be pushed after `OP_RETURN`. `claimId` is the id of the bought claim in wire order. */
export function encodePurchase(claimId: Bytes): Buffer {
  const message = create(PurchaseSchema, { claimHash: claimId });
  return concatBytes(Buffer.of(START_BYTE), writeMessage(PurchaseSchema, message));
}

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
