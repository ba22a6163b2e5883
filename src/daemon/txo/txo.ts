/**
 * An output as the wallet's answers show it: what its script says, and what is known about it besides.
 * Source: lbry-sdk lbry/wallet/transaction.py `Output`.
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

/** Heights of transactions that are in no block. */
export const TX_HEIGHT = { notBroadcast: -2, unconfirmedInputs: -1, mempool: 0 } as const;

export interface TxoFacts {
  /** 32 bytes, wire order. */
  readonly txid: Bytes;
  readonly nout: number;
  /** The height of the transaction, or one of `TX_HEIGHT`. */
  readonly height: number;
  readonly amountDewies: bigint;
  readonly script: Bytes;
  /** The first out point of the transaction's first input, 36 bytes; null if the transaction is not known. */
  readonly firstOutPoint: Bytes | null;
}

/** Additional data of an output; absent members are not shown. */
export interface TxoNotes {
  isSpent?: boolean;
  isMyOutput?: boolean;
  isMyInput?: boolean;
  isInternalTransfer?: boolean;
  sentSupportsDewies?: bigint;
  sentTipsDewies?: bigint;
  receivedTipsDewies?: bigint;
  /** The channel that signed it, where it was found. */
  channel?: Txo;
  /** Whether the key of a channel is at hand. */
  hasSigningKey?: boolean;
  /** Data of the claim index by the names in answers; amounts as text. */
  meta?: Readonly<Record<string, JsonOut>>;
  shortUrl?: string;
  canonicalUrl?: string;
  /** Claim id that the output behind this one says was bought, as printed. */
  purchasedClaimId?: string;
  purchasedClaim?: Txo;
  /** The output that paid for this claim. */
  purchaseReceipt?: Txo;
  /** The claims of a collection. */
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

  /** The form of the script; null if it has none that the wallet knows. */
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

  /** Whether it is P2PKH or P2WPKH, so that a single key can spend it. */
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

  /** The name in the script, of a claim or support. */
  get claimName(): string | null {
    return this.read?.values['claim_name']?.toString('utf8') ?? null;
  }

  get normalizedName(): string | null {
    const name = this.read?.values['claim_name'];
    return name === undefined ? null : Buffer.from(normalizeName(name)).toString('utf8');
  }

  /** 20 bytes, wire order; of a new claim that of its own place. */
  get claimId(): Buffer | null {
    return this.isNewClaim ? claimIdOf(this.txid, this.nout) : (this.read?.values['claim_id'] ?? null);
  }

  /** The decoded value of a claim; null if there is none or it cannot be understood. */
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

  /** The channel that the value says signed it, 20 bytes in wire order. */
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
    // lbry-sdk writes the program as the hash of a script, in base58: an address that does not exist.
    const type = witnessKeyHash(this.script) ? 'witness_v0_keyhash' : 'witness_v0_scripthash';
    return encodeDestination({ type, hash: scriptHash }, addressPrefixes);
  }

  /** Whether the channel's present key made the signature. */
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
