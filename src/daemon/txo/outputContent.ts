/**
 * The content of an output: everything that follows from its script, its position, and the first outpoint of its transaction.
 * Outputs share it, so its parts are computed at most once, and are never changed.
 */
import { normalizeName } from '../../claimtrie/normalize.js';
import { decodeClaim, type DecodedClaim } from '../../metadata/claim.js';
import { claimToJson, supportToJson } from '../../metadata/claimJson.js';
import {
  channelPublicKey,
  decodedClaimDigest,
  decodedSupportDigest,
  isChannelSignatureValid,
} from '../../metadata/channelSignature.js';
import { decodeSupport, type DecodedSupport } from '../../metadata/support.js';
import { encodeDestination } from '../../script/address.js';
import { decodeBase58 } from '../../script/base58.js';
import { claimIdOf } from '../../script/claimScript.js';
import { isClaimOpcode } from '../../script/opcodes.js';
import { equalBytes, toLatin1, type Bytes } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { Lru } from '../../util/lru.js';
import { fixed } from '../base/answerJson.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { readOutputScript, witnessKeyHash, type OutputTemplate, type ReadScript } from './scriptTemplates.js';

/** What the content is computed from. */
export interface ContentSource {
  /** 32 bytes, wire order. */
  readonly txid: Bytes;
  readonly nout: number;
  readonly script: Bytes;
  /** First outpoint of the transaction (that of its first input), 36 bytes; null if the transaction is unknown. */
  readonly firstOutPoint: Bytes | null;
}

/** Maximum number of cached contents. A page of claims has at most 50, each with a channel and a reposted claim. */
const MAX_CACHED = 512;
/** Maximum script size of a cached content, in bytes. With `MAX_CACHED` it bounds the memory of the cache. */
const MAX_CACHED_SCRIPT = 4096;

function orNull<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch {
    return null;
  }
}

export class OutputContent {
  readonly source: ContentSource;
  #read: ReadScript<OutputTemplate> | null | undefined;
  #claim: DecodedClaim | null | undefined;
  #support: DecodedSupport | null | undefined;
  #claimId: Buffer | null | undefined;
  #normalizedName: string | null | undefined;
  #address: { readonly ledger: LedgerParams; readonly text: string | null } | undefined;
  #value: { readonly ledger: LedgerParams; readonly json: Record<string, JsonOut> | null } | undefined;
  #signature: { readonly publicKey: Bytes; readonly isValid: boolean } | undefined;

  constructor(source: ContentSource) {
    this.source = source;
  }

  /** Parsed script; null if it matches no template. */
  get read(): ReadScript<OutputTemplate> | null {
    if (this.#read === undefined) this.#read = orNull(() => readOutputScript(this.source.script));
    return this.#read;
  }

  get template(): string {
    return this.read?.template ?? '';
  }

  get isNewClaim(): boolean {
    return this.template.startsWith('claim_name+');
  }

  get isUpdate(): boolean {
    return this.template.startsWith('update_claim+');
  }

  get normalizedName(): string | null {
    if (this.#normalizedName === undefined) {
      const name = this.read?.values['claim_name'];
      this.#normalizedName = name === undefined ? null : Buffer.from(normalizeName(name)).toString('utf8');
    }
    return this.#normalizedName;
  }

  /** Claim id, 20 bytes in wire order. The id of a new claim is derived from the output's own outpoint. */
  get claimId(): Buffer | null {
    const { txid, nout } = this.source;
    if (this.#claimId === undefined)
      this.#claimId = this.isNewClaim ? claimIdOf(txid, nout) : (this.read?.values['claim_id'] ?? null);
    return this.#claimId;
  }

  /** Decoded value of a claim; null if there is none or it cannot be decoded. */
  get claim(): DecodedClaim | null {
    if (this.#claim === undefined) {
      const value = this.isNewClaim || this.isUpdate ? this.read?.values['claim'] : undefined;
      this.#claim = value === undefined ? null : orNull(() => decodeClaim(value));
    }
    return this.#claim;
  }

  get support(): DecodedSupport | null {
    if (this.#support === undefined) {
      const data = this.template.startsWith('support_claim+data+') ? this.read?.values['support'] : undefined;
      this.#support = data === undefined ? null : orNull(() => decodeSupport(data));
    }
    return this.#support;
  }

  /** The address of a P2PKH, P2SH or witness output; null for other outputs. */
  address(ledger: LedgerParams): string | null {
    if (this.#address?.ledger !== ledger) this.#address = { ledger, text: this.#encodeAddress(ledger) };
    return this.#address.text;
  }

  #encodeAddress({ addressPrefixes }: LedgerParams): string | null {
    const { pubkey_hash: keyHash, script_hash: scriptHash } = this.read?.values ?? {};
    if (keyHash) return encodeDestination({ type: 'pubkeyhash', hash: keyHash }, addressPrefixes);
    if (!scriptHash) return null;
    if (this.template !== 'pay_script_hash+segwit')
      return encodeDestination({ type: 'scripthash', hash: scriptHash }, addressPrefixes);
    // lbry-sdk instead encodes the witness program as a base58 script hash, which is not an address of this output.
    const type = witnessKeyHash(this.source.script) ? 'witness_v0_keyhash' : 'witness_v0_scripthash';
    return encodeDestination({ type, hash: scriptHash }, addressPrefixes);
  }

  /**
   * JSON form of the value of a claim or support; null if there is none or it cannot be decoded. The text of the object is
   * cached by `answerPieces`, so callers must not change it.
   */
  value(ledger: LedgerParams): Readonly<Record<string, JsonOut>> | null {
    if (this.#value?.ledger !== ledger) {
      const json = orNull(() => this.#valueToJson(ledger));
      this.#value = { ledger, json: json && fixed(json) };
    }
    return this.#value.json;
  }

  #valueToJson({ addressPrefixes }: LedgerParams): Record<string, JsonOut> | null {
    const { claim, support } = this;
    if (claim) return claim.kind === null ? null : claimToJson(claim, addressPrefixes);
    return support && supportToJson(support.support);
  }

  /** Whether the signature of the claim or support is valid for the present key of the channel. */
  isSignedBy(channel: OutputContent, ledger: LedgerParams): boolean {
    const { claim, support } = this;
    const key = channel.claim?.claim.type;
    const signature = claim?.signature ?? support?.signature ?? null;
    if (key?.case !== 'channel' || signature === null) return false;
    const { publicKey } = key.value;
    if (this.#signature === undefined || !equalBytes(this.#signature.publicKey, publicKey))
      this.#signature = { publicKey, isValid: this.#verify(signature, publicKey, ledger) };
    return this.#signature.isValid;
  }

  #verify(signature: Bytes, channelKey: Bytes, ledger: LedgerParams): boolean {
    const { claim, support } = this;
    const { firstOutPoint } = this.source;
    const publicKey = channelPublicKey(channelKey);
    if (publicKey === null || firstOutPoint === null) return false;
    const address = this.address(ledger);
    const digest = claim
      ? decodedClaimDigest(claim, firstOutPoint, address === null ? null : decodeBase58(address))
      : decodedSupportDigest(support!, firstOutPoint);
    return digest !== null && isChannelSignatureValid(digest, signature, publicKey);
  }
}

const cached = new Lru<string, OutputContent>(MAX_CACHED);

/** Whether both sources give the same content. Outputs of unfinished transactions have the same zeros as txid. */
function isSame(a: ContentSource, b: ContentSource): boolean {
  if (!equalBytes(a.script, b.script)) return false;
  if (a.firstOutPoint === null || b.firstOutPoint === null) return a.firstOutPoint === b.firstOutPoint;
  return equalBytes(a.firstOutPoint, b.firstOutPoint);
}

/** Returns the content of an output. That of claims and supports is cached, with copies of the source. */
export function contentOf(source: ContentSource): OutputContent {
  const { txid, nout, script, firstOutPoint } = source;
  if (script.length > MAX_CACHED_SCRIPT || !isClaimOpcode(script[0] ?? 0)) return new OutputContent(source);
  const key = `${nout}:${toLatin1(txid)}`;
  const known = cached.get(key);
  if (known !== undefined && isSame(known.source, source)) return known;
  const content = new OutputContent({
    txid: Buffer.from(txid),
    nout,
    script: Buffer.from(script),
    firstOutPoint: firstOutPoint && Buffer.from(firstOutPoint),
  });
  cached.set(key, content);
  return content;
}
