/**
 * The catalogue of verdicts: every reason for which a block or a transaction is rejected, with its code and score. Contains
 * the reasons of consensus and of mempool policy; the results of RPC calls (`duplicate-inconclusive`, …) are not included.
 * Source: lbrycrd consensus/validation.h, validation.cpp, consensus/tx_verify.cpp, policy/policy.cpp, BIP61.
 */

/** BIP61 codes; `NONE` and `HIGH_FEE` are never sent. */
export const REJECT_CODE = {
  NONE: 0,
  MALFORMED: 0x01,
  INVALID: 0x10,
  OBSOLETE: 0x11,
  DUPLICATE: 0x12,
  NONSTANDARD: 0x40,
  DUST: 0x41,
  INSUFFICIENT_FEE: 0x42,
  CHECKPOINT: 0x43,
  HIGH_FEE: 0x100,
} as const;

/**
 * The kind of failure, which determines how the peer and the block are treated: consensus (breaks a rule, final), policy
 * (valid in a block), missing-inputs, premature-spend, conflict (with the mempool), invalid-header, mutated (a valid block
 * may have the same id), checkpoint, cached-invalid (known before), missing-prev, invalid-prev, time-future (may become
 * valid).
 */
export type RejectResult =
  | 'consensus'
  | 'policy'
  | 'missing-inputs'
  | 'premature-spend'
  | 'conflict'
  | 'invalid-header'
  | 'mutated'
  | 'checkpoint'
  | 'cached-invalid'
  | 'missing-prev'
  | 'invalid-prev'
  | 'time-future';

export interface ValidationError {
  /** The reference's text, as sent in `reject` messages and RPC results. */
  readonly reason: string;
  readonly result: RejectResult;
  readonly rejectCode: number;
  /** Score that is added to the peer that sent the block or transaction. A peer with 100 is banned. */
  readonly dosScore: number;
  /**
   * Whether the bytes may have been modified in transit. If so, the block must not be stored as invalid. Source:
   * `CorruptionPossible`.
   */
  readonly corruption: boolean;
  readonly debug?: string;
  /** Additional text for the log line about the rejection. */
  readonly note?: string;
}

type Entry = readonly [result: RejectResult, rejectCode: number, dosScore: number];

const { NONE, INVALID, OBSOLETE, DUPLICATE, NONSTANDARD, DUST, INSUFFICIENT_FEE, CHECKPOINT, HIGH_FEE } =
  REJECT_CODE;

const CATALOGUE = {
  // Errors of the context-free checks of a transaction. Source: consensus/tx_verify.cpp `CheckTransaction`.
  'bad-txns-vin-empty': ['consensus', INVALID, 10],
  'bad-txns-vout-empty': ['consensus', INVALID, 10],
  'bad-txns-oversize': ['consensus', INVALID, 100],
  'bad-txns-vout-negative': ['consensus', INVALID, 100],
  'bad-txns-vout-toolarge': ['consensus', INVALID, 100],
  'bad-txns-txouttotal-toolarge': ['consensus', INVALID, 100],
  'bad-txns-claimscriptsize-toolarge': ['consensus', INVALID, 100],
  'bad-txns-claimscriptname-toolarge': ['consensus', INVALID, 100],
  'bad-txns-inputs-duplicate': ['consensus', INVALID, 100],
  'bad-cb-length': ['consensus', INVALID, 100],
  'bad-txns-prevout-null': ['consensus', INVALID, 10],

  // Errors of the checks of a transaction against its inputs. Source: `Consensus::CheckTxInputs`.
  'bad-txns-inputs-missingorspent': ['missing-inputs', INVALID, 100],
  'bad-txns-premature-spend-of-coinbase': ['premature-spend', INVALID, 0],
  'bad-txns-inputvalues-outofrange': ['consensus', INVALID, 100],
  'bad-txns-in-belowout': ['consensus', INVALID, 100],
  'bad-txns-fee-outofrange': ['consensus', INVALID, 100],

  // Scripts: validation.cpp `CheckInputs`; both reasons are followed by the script error in parentheses.
  'mandatory-script-verify-flag-failed': ['consensus', INVALID, 100],
  'non-mandatory-script-verify-flag': ['policy', NONSTANDARD, 0],

  // Errors of the checks of a header. Source: `CheckBlockHeader`, `ContextualCheckBlockHeader`, `AcceptBlockHeader`.
  'high-hash': ['invalid-header', INVALID, 50],
  'bad-diffbits': ['invalid-header', INVALID, 100],
  'bad-fork-prior-to-checkpoint': ['checkpoint', CHECKPOINT, 100],
  // Not in the reference: the node knows the hash of the last header of each chunk of a thousand, and the header at that
  // height has a different hash.
  'checkpoint mismatch': ['checkpoint', CHECKPOINT, 100],
  'time-too-old': ['invalid-header', INVALID, 0],
  'time-too-new': ['time-future', INVALID, 0],
  'bad-version': ['invalid-header', OBSOLETE, 0],
  duplicate: ['cached-invalid', NONE, 0],
  'prev-blk-not-found': ['missing-prev', NONE, 10],
  'bad-prevblk': ['invalid-prev', INVALID, 100],

  // Errors of the context-free checks of a block. Source: `CheckBlock`.
  'bad-txnmrklroot': ['mutated', INVALID, 100],
  'bad-txns-duplicate': ['mutated', INVALID, 100],
  'bad-blk-length': ['consensus', INVALID, 100],
  'bad-cb-missing': ['consensus', INVALID, 100],
  'bad-cb-multiple': ['consensus', INVALID, 100],
  'bad-blk-sigops': ['consensus', INVALID, 100],

  // Errors of the checks of a block that need its parent. Source: `ContextualCheckBlock`.
  'bad-txns-nonfinal': ['consensus', INVALID, 10],
  'bad-cb-height': ['consensus', INVALID, 100],
  'bad-witness-nonce-size': ['mutated', INVALID, 100],
  'bad-witness-merkle-match': ['mutated', INVALID, 100],
  'unexpected-witness': ['mutated', INVALID, 100],
  'bad-blk-weight': ['consensus', INVALID, 100],

  // Checks of a block against the coins and the claim trie: `ConnectBlock`.
  'bad-txns-BIP30': ['consensus', INVALID, 100],
  'bad-txns-accumulated-fee-outofrange': ['consensus', INVALID, 100],
  'bad-claim-merkle-hash': ['consensus', INVALID, 100],
  'bad-cb-amount': ['consensus', INVALID, 100],
  'block-validation-failed': ['consensus', INVALID, 100],

  // Errors of the mempool's checks. Source: validation.cpp `AcceptToMemoryPoolWorker`.
  coinbase: ['consensus', INVALID, 100],
  'non-final': ['policy', NONSTANDARD, 0],
  'txn-already-in-mempool': ['conflict', DUPLICATE, 0],
  'txn-mempool-conflict': ['conflict', DUPLICATE, 0],
  'txn-already-known': ['conflict', DUPLICATE, 0],
  'non-BIP68-final': ['policy', NONSTANDARD, 0],
  'bad-txns-nonstandard-inputs': ['policy', NONSTANDARD, 0],
  'bad-witness-nonstandard': ['mutated', NONSTANDARD, 0],
  'bad-txns-too-many-sigops': ['policy', NONSTANDARD, 0],
  'mempool min fee not met': ['policy', INSUFFICIENT_FEE, 0],
  'min relay fee not met': ['policy', INSUFFICIENT_FEE, 0],
  'absurdly-high-fee': ['policy', HIGH_FEE, 0],
  'too-long-mempool-chain': ['policy', NONSTANDARD, 0],
  'bad-txns-spends-conflicting-tx': ['consensus', INVALID, 10],
  'insufficient fee': ['policy', INSUFFICIENT_FEE, 0],
  'too many potential replacements': ['policy', NONSTANDARD, 0],
  'replacement-adds-unconfirmed': ['policy', NONSTANDARD, 0],
  'mempool full': ['policy', INSUFFICIENT_FEE, 0],

  // Errors of the standardness checks. Source: policy/policy.cpp `IsStandardTx`.
  version: ['policy', NONSTANDARD, 0],
  'tx-size': ['policy', NONSTANDARD, 0],
  'scriptsig-size': ['policy', NONSTANDARD, 0],
  'scriptsig-not-pushonly': ['policy', NONSTANDARD, 0],
  scriptpubkey: ['policy', NONSTANDARD, 0],
  'bare-multisig': ['policy', NONSTANDARD, 0],
  dust: ['policy', DUST, 0],
  'multi-op-return': ['policy', NONSTANDARD, 0],
} as const satisfies Readonly<Record<string, Entry>>;

export type RejectReason = keyof typeof CATALOGUE;

export const REJECT_REASONS = Object.keys(CATALOGUE) as readonly RejectReason[];

export interface RejectDetail {
  readonly debug?: string;
  readonly note?: string;
  /** Text that is appended to the reason: `bad-version(0x00000001)`, `mandatory-script-verify-flag-failed (…)`. */
  readonly suffix?: string;
  /** Replaces the catalogue's score where the reference uses another score for the same reason. */
  readonly dosScore?: number;
  /** Replaces the catalogue's flag, which is set for `mutated` reasons only. */
  readonly corruption?: boolean;
}

/** Creates a verdict from the catalogue. */
export function reject(key: RejectReason, detail: RejectDetail = {}): ValidationError {
  const [result, rejectCode, dosScore]: Entry = CATALOGUE[key];
  const verdict = {
    reason: key + (detail.suffix ?? ''),
    result,
    rejectCode,
    dosScore: detail.dosScore ?? dosScore,
    corruption: detail.corruption ?? result === 'mutated',
  };
  const { debug, note } = detail;
  return {
    ...verdict,
    ...(debug === undefined ? {} : { debug }),
    ...(note === undefined ? {} : { note }),
  };
}

/** `reason, debug (code n)` as it is logged and returned by some calls. Source: `FormatStateMessage`. */
export function formatVerdict(verdict: ValidationError): string {
  const debug = verdict.debug ? `, ${verdict.debug}` : '';
  return `${verdict.reason}${debug} (code ${verdict.rejectCode})`;
}
