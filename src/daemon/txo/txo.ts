/**
 * An output for the wallet's responses: the content of its script, and additional data. Source: lbry-sdk
 * lbry/wallet/transaction.py `Output`.
 */
import type { DecodedClaim } from '../../metadata/claim.js';
import type { DecodedSupport } from '../../metadata/support.js';
import type { Bytes } from '../../util/bytes.js';
import { hashToHex } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { contentOf, type OutputContent } from './outputContent.js';
import { witnessKeyHash, type OutputTemplate, type ReadScript } from './scriptTemplates.js';

/** Heights that stand for the states of unconfirmed transactions. */
export const TX_HEIGHT = { notBroadcast: -2, unconfirmedInputs: -1, mempool: 0 } as const;

export interface TxoFacts {
  /** Txid: 32 bytes, wire order. */
  readonly txid: Bytes;
  readonly nout: number;
  /** The height of the transaction, or one of `TX_HEIGHT`. */
  readonly height: number;
  readonly amountDewies: bigint;
  readonly script: Bytes;
  /** First outpoint of the transaction (that of its first input), 36 bytes; null if the transaction is unknown. */
  readonly firstOutPoint: Bytes | null;
}

/** Additional data of an output. Absent members are omitted from answers. */
export interface TxoNotes {
  isSpent?: boolean;
  isMyOutput?: boolean;
  isMyInput?: boolean;
  isInternalTransfer?: boolean;
  sentSupportsDewies?: bigint;
  sentTipsDewies?: bigint;
  receivedTipsDewies?: bigint;
  /** Channel that signed the claim or support, if it was found. */
  channel?: Txo;
  /** Whether the wallet has the private key of this channel. Only for channels. */
  hasSigningKey?: boolean;
  /** Data of the hub's claim index, by the names that answers use. Amounts are texts. */
  meta?: Readonly<Record<string, JsonOut>>;
  shortUrl?: string;
  canonicalUrl?: string;
  /** Claim id, as printed, of the claim that was bought. The next output of the transaction contains it. */
  purchasedClaimId?: string;
  purchasedClaim?: Txo;
  /** The output that paid for this claim. Only for bought claims. */
  purchaseReceipt?: Txo;
  /** The claims in this collection. Only for collections. */
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
  #content: OutputContent | undefined;

  constructor(facts: TxoFacts, notes: TxoNotes = {}) {
    this.txid = facts.txid;
    this.nout = facts.nout;
    this.height = facts.height;
    this.amountDewies = facts.amountDewies;
    this.script = facts.script;
    this.firstOutPoint = facts.firstOutPoint;
    this.notes = notes;
  }

  get #shared(): OutputContent {
    return (this.#content ??= contentOf(this));
  }

  /** Parsed script of the output; null if the script matches no template. */
  get read(): ReadScript<OutputTemplate> | null {
    return this.#shared.read;
  }

  get #template(): string {
    return this.#shared.template;
  }

  /** Whether the output is P2PKH or P2WPKH, so that one key can spend it. */
  get paysKeyHash(): boolean {
    return this.#template.endsWith('pay_pubkey_hash') || witnessKeyHash(this.script) !== undefined;
  }

  get isNewClaim(): boolean {
    return this.#shared.isNewClaim;
  }

  get isUpdate(): boolean {
    return this.#shared.isUpdate;
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
    return this.#shared.normalizedName;
  }

  /** Claim id, 20 bytes in wire order. The id of a new claim is derived from the output's own outpoint. */
  get claimId(): Buffer | null {
    return this.#shared.claimId;
  }

  /**
   * Decoded value of a claim; null if the output is not a claim or its value cannot be decoded. Other outputs share it: do
   * not change it.
   */
  get claim(): DecodedClaim | null {
    return this.#shared.claim;
  }

  /** Like `claim`, for the data of a support. */
  get support(): DecodedSupport | null {
    return this.#shared.support;
  }

  /** Id of the signing channel in the claim or support, 20 bytes in wire order; null if it is not signed. */
  get channelId(): Bytes | null {
    return this.claim?.channelId ?? this.support?.channelId ?? null;
  }

  /** The address of a P2PKH, P2SH or witness output; null for other outputs. */
  address(ledger: LedgerParams): string | null {
    return this.#shared.address(ledger);
  }

  /**
   * JSON form of the value of a claim or support; null if there is none or it cannot be decoded. Other outputs share it: do
   * not change it.
   */
  value(ledger: LedgerParams): Readonly<Record<string, JsonOut>> | null {
    return this.#shared.value(ledger);
  }

  /** Whether the claim's signature is valid for the key in this output of the channel. */
  isSignedBy(channel: Txo, ledger: LedgerParams): boolean {
    return this.#shared.isSignedBy(channel.#shared, ledger);
  }

  get txidHex(): string {
    return hashToHex(this.txid);
  }
}
