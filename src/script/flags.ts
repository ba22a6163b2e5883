/**
 * Verification flags of the script interpreter, and the two sets of flags that do not depend on the height. Each flag only
 * adds restrictions; consensus code determines the flags for a block. Source: Core interpreter.h; policy/policy.h and
 * script/standard.h for the sets.
 */

export const SCRIPT_VERIFY = {
  NONE: 0,
  /** Evaluates the redeem script of P2SH outputs (BIP16). */
  P2SH: 1 << 0,
  /** Requires strict DER signatures and defined hash types; hybrid keys are invalid. */
  STRICTENC: 1 << 1,
  /** Requires strict DER signatures (BIP66). */
  DERSIG: 1 << 2,
  /** Requires that S of a signature is at most half the group order. */
  LOW_S: 1 << 3,
  /** Requires that the extra element of CHECKMULTISIG is empty (BIP147). */
  NULLDUMMY: 1 << 4,
  /** Requires that a scriptSig contains only pushes. */
  SIGPUSHONLY: 1 << 5,
  /** Requires the shortest encoding of pushes and numbers. Not enforced if the spent output script starts with a claim opcode. */
  MINIMALDATA: 1 << 6,
  /** Makes a script fail if it executes a no-op that is reserved for upgrades. Claim opcodes do not count as such no-ops. */
  DISCOURAGE_UPGRADABLE_NOPS: 1 << 7,
  /** Requires that exactly one stack element is left at the end. Needs the flags P2SH and WITNESS. */
  CLEANSTACK: 1 << 8,
  /** BIP65. */
  CHECKLOCKTIMEVERIFY: 1 << 9,
  /** BIP112. */
  CHECKSEQUENCEVERIFY: 1 << 10,
  /** Evaluates witness programs (BIP141). Needs the flag P2SH. */
  WITNESS: 1 << 11,
  DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM: 1 << 12,
  /** Requires that the argument of OP_IF in a witness script is empty or 01. */
  MINIMALIF: 1 << 13,
  /** Makes a script fail if a signature check fails, unless all signatures of the check are empty. */
  NULLFAIL: 1 << 14,
  /** Requires that witness scripts use only compressed keys. */
  WITNESS_PUBKEYTYPE: 1 << 15,
  /**
   * Outside of witness scripts, makes OP_CODESEPARATOR fail. Also makes a signature fail that occurs in the script code that
   * it signs.
   */
  CONST_SCRIPTCODE: 1 << 16,
} as const;

export type ScriptFlagName = keyof typeof SCRIPT_VERIFY;

/**
 * Flags for which a violation is punished by a ban. A transaction that violates only other standard flags is rejected
 * without a ban.
 */
const MANDATORY_SCRIPT_VERIFY_FLAGS: number = SCRIPT_VERIFY.P2SH;

/** Flags with which transactions are verified before they are added to the mempool. */
export const STANDARD_SCRIPT_VERIFY_FLAGS: number =
  MANDATORY_SCRIPT_VERIFY_FLAGS |
  SCRIPT_VERIFY.DERSIG |
  SCRIPT_VERIFY.STRICTENC |
  SCRIPT_VERIFY.MINIMALDATA |
  SCRIPT_VERIFY.NULLDUMMY |
  SCRIPT_VERIFY.DISCOURAGE_UPGRADABLE_NOPS |
  SCRIPT_VERIFY.CLEANSTACK |
  SCRIPT_VERIFY.MINIMALIF |
  SCRIPT_VERIFY.NULLFAIL |
  SCRIPT_VERIFY.CHECKLOCKTIMEVERIFY |
  SCRIPT_VERIFY.CHECKSEQUENCEVERIFY |
  SCRIPT_VERIFY.LOW_S |
  SCRIPT_VERIFY.WITNESS |
  SCRIPT_VERIFY.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM |
  SCRIPT_VERIFY.WITNESS_PUBKEYTYPE |
  SCRIPT_VERIFY.CONST_SCRIPTCODE;

/** Standard flags that are not mandatory. */
export const STANDARD_NOT_MANDATORY_VERIFY_FLAGS: number =
  STANDARD_SCRIPT_VERIFY_FLAGS & ~MANDATORY_SCRIPT_VERIFY_FLAGS;
