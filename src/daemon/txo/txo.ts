/**
 * An output for the wallet's responses: the content of its script, and additional data. Source: lbry-sdk
 * lbry/wallet/transaction.py `Output`.
 */
import { normalizeName } from '../../claimtrie/normalize.js';
import { decodeClaim, type DecodedClaim } from '../../metadata/claim.js';
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
import type { Bytes } from '../../util/bytes.js';
import { hashToHex } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { readOutputScript, witnessKeyHash, type ReadScript, type OutputTemplate } from './scriptTemplates.js';

/** Heights that stand for the states of unconfirmed transactions. */
export const TX_HEIGHT = { notBroadcast: -2, unconfirmedInputs: -1, mempool: 0 } as const;

export interface TxoFacts {
  /** 32 bytes, wire order. */
  readonly txid: Bytes;
  readonly nout: number;
  /** The height of the transaction, or one of `TX_HEIGHT`. */
  readonly height: number;
  readonly amountDewies: bigint;
  readonly script: Bytes;
  /** First outpoint of the transaction (that of its first input), 36 bytes; null if the transaction is unknown. */
  readonly firstOutPoint: Bytes | null;
}

/** Additional data of an output. Responses omit absent members. */
export interface TxoNotes {
  isSpent?: boolean;
  isMyOutput?: boolean;
  isMyInput?: boolean;
  isInternalTransfer?: boolean;
  sentSupportsDewies?: bigint;
  sentTipsDewies?: bigint;
  receivedTipsDewies?: bigint;
  /** Signing channel of the claim or support, if it was found. */
  channel?: Txo;
  /** For a channel: whether the wallet has its private key. */
  hasSigningKey?: boolean;
  /** Data of the claim index by member names in responses; amounts as text. */
  meta?: Readonly<Record<string, JsonOut>>;
  shortUrl?: string;
  canonicalUrl?: string;
  /** Printed id of the bought claim, which the next output of the transaction names. */
  purchasedClaimId?: string;
  purchasedClaim?: Txo;
  /** For a claim: the output that paid for it. */
  purchaseReceipt?: Txo;
  /** For a collection: its claims. */
  claims?: readonly (Txo | null)[];
  repostedClaim?: Txo;
}

export class Txo implements TxoFacts {
  readonly txid: Bytes;
  readonly nout: number;
  readonly height: number;
  readonly amountDewies: bigint;
  readonly script: Bytes;
  readonly firstOutPoint: Bytes | null;
  readonly notes: TxoNotes;
  #read: ReadScript<OutputTemplate> | null | undefined;
  #claim: DecodedClaim | null | undefined;
  #support: DecodedSupport | null | undefined;

  constructor(facts: TxoFacts, notes: TxoNotes = {}) {
    this.txid = facts.txid;
    this.nout = facts.nout;
    this.height = facts.height;
    this.amountDewies = facts.amountDewies;
    this.script = facts.script;
    this.firstOutPoint = facts.firstOutPoint;
    this.notes = notes;
  }

  /** Parsed script; null if it matches no template. */
  get read(): ReadScript<OutputTemplate> | null {
    if (this.#read === undefined)
      try {
        this.#read = readOutputScript(this.script);
      } catch {
        this.#read = null;
      }
    return this.#read;
  }

  get #template(): string {
    return this.read?.template ?? '';
  }

  /** Whether the output is P2PKH or P2WPKH, so that one key can spend it. */
  get paysKeyHash(): boolean {
    return this.#template.endsWith('pay_pubkey_hash') || witnessKeyHash(this.script) !== undefined;
  }

  get isNewClaim(): boolean {
    return this.#template.startsWith('claim_name+');
  }

  get isUpdate(): boolean {
    return this.#template.startsWith('update_claim+');
  }

  get isClaim(): boolean {
    return this.isNewClaim || this.isUpdate;
  }

  get isSupport(): boolean {
    return this.#template.startsWith('support_claim+');
  }

  get hasSupportData(): boolean {
    return this.#template.startsWith('support_claim+data+');
  }

  get isData(): boolean {
    return this.#template === 'return_data';
  }

  /** Claim name in the script of a claim or support. */
  get claimName(): string | null {
    return this.read?.values['claim_name']?.toString('utf8') ?? null;
  }

  get normalizedName(): string | null {
    const name = this.read?.values['claim_name'];
    return name === undefined ? null : Buffer.from(normalizeName(name)).toString('utf8');
  }

  /** Claim id, 20 bytes in wire order. The id of a new claim is derived from the output's own outpoint. */
  get claimId(): Buffer | null {
    return this.isNewClaim ? claimIdOf(this.txid, this.nout) : (this.read?.values['claim_id'] ?? null);
  }

  /** Decoded value of a claim; null if there is none or it cannot be decoded. */
  get claim(): DecodedClaim | null {
    const value = this.isClaim ? this.read?.values['claim'] : undefined;
    this.#claim ??= value === undefined ? null : orNull(() => decodeClaim(value));
    return this.#claim;
  }

  get support(): DecodedSupport | null {
    const data = this.hasSupportData ? this.read?.values['support'] : undefined;
    this.#support ??= data === undefined ? null : orNull(() => decodeSupport(data));
    return this.#support;
  }

  /** Id of the signing channel in the claim or support, 20 bytes in wire order; null if it is not signed. */
  get channelId(): Bytes | null {
    return this.claim?.channelId ?? this.support?.channelId ?? null;
  }

  /** The address of a P2PKH, P2SH or witness output; null for other outputs. */
  address({ addressPrefixes }: LedgerParams): string | null {
    const { pubkey_hash: keyHash, script_hash: scriptHash } = this.read?.values ?? {};
    if (keyHash) return encodeDestination({ type: 'pubkeyhash', hash: keyHash }, addressPrefixes);
    if (!scriptHash) return null;
    if (this.#template !== 'pay_script_hash+segwit')
      return encodeDestination({ type: 'scripthash', hash: scriptHash }, addressPrefixes);
    // Differs from lbry-sdk, which encodes the witness program as a base58 script hash. That address does not pay to this
    // output.
    const type = witnessKeyHash(this.script) ? 'witness_v0_keyhash' : 'witness_v0_scripthash';
    return encodeDestination({ type, hash: scriptHash }, addressPrefixes);
  }

  /** Whether the claim's signature is valid for the present key of the channel. */
  isSignedBy(channel: Txo, ledger: LedgerParams): boolean {
    const key = channel.claim?.claim.type;
    const publicKey = key?.case === 'channel' ? channelPublicKey(key.value.publicKey) : null;
    const { claim, support, firstOutPoint } = this;
    const signature = claim?.signature ?? support?.signature ?? null;
    if (publicKey === null || signature === null || firstOutPoint === null) return false;
    const address = this.address(ledger);
    const digest = claim
      ? decodedClaimDigest(claim, firstOutPoint, address === null ? null : decodeBase58(address))
      : decodedSupportDigest(support!, firstOutPoint);
    return digest !== null && isChannelSignatureValid(digest, signature, publicKey);
  }

  get txidHex(): string {
    return hashToHex(this.txid);
  }
}

function orNull<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch {
    return null;
  }
}
