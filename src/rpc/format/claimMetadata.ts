/**
 * Decoded values of claims and supports, which results contain in addition to the value bytes (`-claimmetadata`). Values are
 * decoded one at a time while the result is written, with yields to the event loop. So neither the time for which the event
 * loop is blocked nor the memory grows with the number of values. A signature is included as stored; it is not verified with
 * the channel's key.
 */
import { decodeClaim } from '../../metadata/claim.js';
import { claimToJson, supportToJson } from '../../metadata/claimJson.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { decodeSupport } from '../../metadata/support.js';
import type { NetworkParams } from '../../params/network.js';
import type { AddressPrefixes } from '../../script/address.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { MAX_SCRIPT_SIZE } from '../../script/script.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { jsonObject, type JsonMember, type JsonOut } from '../../util/json/jsonWrite.js';
import { t, type OptionalSchema } from '../../schema/schema.js';
import type { RpcNodeOptions } from '../../interfaces/services.js';
import { addressPrefixes } from './addresses.js';
import { purchasedClaim } from '../../metadata/purchase.js';

const SUPPORT = 'support';
/** Type of a purchase: an output with data that names the purchased claim. */
const PURCHASE = 'purchase';
const KINDS = ['stream', 'channel', 'repost', 'collection', SUPPORT, PURCHASE] as const;

/** Schema of the member `metadata` in the result for an output. */
export const METADATA: OptionalSchema = t.optional(
  t.named(
    'ClaimMetadata',
    t.object({
      kind: t.optional(
        t.oneOf(KINDS, 'type of the output to which the value belongs'),
        'if the value can be decoded',
      ),
      channelId: t.optional(
        t.hex('the id of the channel that the value names as its signer'),
        'if the value is signed',
      ),
      signature: t.optional(t.hex('the signature; it is not verified'), 'if the value is signed'),
      value: t.optional(t.openObject({}, 'the decoded value'), 'if the value can be decoded'),
      error: t.optional(t.str('the reason why the value cannot be decoded'), 'if it cannot be decoded'),
    }),
  ),
  'with -claimmetadata, if the output has a value',
);

/** Maximum size in bytes of a value that is decoded. An output with a longer value could not be spent. */
const MAX_VALUE_BYTES = MAX_SCRIPT_SIZE;

interface Decoded {
  readonly kind: string;
  readonly channelId: Bytes | null;
  readonly signature: Bytes | null;
  readonly value: JsonOut;
}

/** Formats the decoded values for one RPC result. */
export class ShownMetadata {
  private readonly prefixes: AddressPrefixes;
  /** Time of the last yield to the event loop, in milliseconds. */
  private sinceMs = performance.now();

  constructor(prefixes: AddressPrefixes) {
    this.prefixes = prefixes;
  }

  /** Creates the formatter; null if `-claimmetadata` is off. */
  static of({ options, params }: MetadataDeps): ShownMetadata | null {
    return options.claimMetadata ? new ShownMetadata(addressPrefixes(params)) : null;
  }

  /** Returns the decoded value of a claim or support; undefined if it has no value. */
  ofValue(value: Bytes | undefined, isSupport: boolean): JsonOut | undefined {
    if (value === undefined) return undefined;
    return jsonObject(this.members(value, isSupport));
  }

  /** Returns the decoded value in an output script, which may also contain a purchase; undefined if there is none. */
  ofScript(script: Bytes): JsonOut | undefined {
    if (script[0] === OP.OP_RETURN) return purchaseIn(script);
    const claim = decodeClaimScript(script);
    return this.ofValue(claim?.value, claim?.kind === SUPPORT);
  }

  /** Decodes one value and formats it synchronously. If the value cannot be decoded, the result contains an error text. */
  now(value: Bytes, isSupport: boolean): Record<string, JsonOut> {
    if (value.length > MAX_VALUE_BYTES) return { error: `The value has more than ${MAX_VALUE_BYTES} bytes` };
    try {
      const decoded = isSupport ? this.support(value) : this.claim(value);
      const { kind, channelId, signature } = decoded;
      return {
        kind,
        ...(channelId !== null && { channelId: hashToHex(channelId) }),
        ...(signature !== null && { signature: toHex(signature) }),
        value: decoded.value,
      };
    } catch (error) {
      if (!(error instanceof MetadataError)) throw error;
      return { error: error.message };
    }
  }

  private async *members(value: Bytes, isSupport: boolean): AsyncGenerator<JsonMember> {
    this.sinceMs = await yieldIfDue(this.sinceMs);
    yield* Object.entries(this.now(value, isSupport));
  }

  private claim(bytes: Bytes): Decoded {
    const decoded = decodeClaim(bytes);
    const { kind, channelId, signature } = decoded;
    if (kind === null)
      throw new MetadataError('The value of the claim has no type (stream, channel, collection or repost)');
    return { kind, channelId, signature, value: claimToJson(decoded, this.prefixes) };
  }

  private support(bytes: Bytes): Decoded {
    const { channelId, signature, support } = decodeSupport(bytes);
    return { kind: SUPPORT, channelId, signature, value: supportToJson(support) };
  }
}

export interface MetadataDeps {
  readonly params: Pick<NetworkParams, 'base58' | 'bech32Hrp'>;
  readonly options: Pick<RpcNodeOptions, 'claimMetadata'>;
}

/** Formats the purchase in an OP_RETURN output; undefined if the data of the output is not a purchase. */
function purchaseIn(script: Bytes): JsonOut | undefined {
  const claimId = purchasedClaim(script);
  return claimId === undefined ? undefined : { kind: PURCHASE, value: { claim_id: claimId } };
}
