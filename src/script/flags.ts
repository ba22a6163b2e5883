/**
 * The verification flags of the interpreter, and the two sets that do not depend on the height. Consensus code determines
 * the flags of a block; each flag only adds restrictions. Source: Core interpreter.h; policy/policy.h and script/standard.h
 * for the sets.
 */

export const SCRIPT_VERIFY = {
  NONE: 0,
  /** Evaluate the redeem script (BIP16). */
  P2SH: 1 << 0,
  /** Strict DER, defined hash types, no hybrid keys. */
  STRICTENC: 1 << 1,
  /** Strict DER (BIP66). */
  DERSIG: 1 << 2,
  /** S at most half the order. */
  LOW_S: 1 << 3,
  /** The extra element of CHECKMULTISIG is empty (BIP147). */
  NULLDUMMY: 1 << 4,
  /** A scriptSig may contain only pushes. */
  SIGPUSHONLY: 1 << 5,
  /** Requires the shortest pushes and numbers. Not enforced if the spent script starts with a claim opcode. */
  MINIMALDATA: 1 << 6,
  /** Executed no-ops reserved for upgrades fail. The claim opcodes are not among them. */
  DISCOURAGE_UPGRADABLE_NOPS: 1 << 7,
  /** Exactly one element must be left at the end. Needs P2SH and WITNESS. */
  CLEANSTACK: 1 << 8,
  /** BIP65. */
  CHECKLOCKTIMEVERIFY: 1 << 9,
  /** BIP112. */
  CHECKSEQUENCEVERIFY: 1 << 10,
  /** BIP141. Needs P2SH. */
  WITNESS: 1 << 11,
  DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM: 1 << 12,
  /** In witness scripts the argument of OP_IF is empty or 01. */
  MINIMALIF: 1 << 13,
  /** A failed signature check fails the script unless its signatures are empty. */
  NULLFAIL: 1 << 14,
  /** Witness scripts may use only compressed keys. */
  WITNESS_PUBKEYTYPE: 1 << 15,
  /** OP_CODESEPARATOR, and a signature within its own script, fail outside of witness scripts. */
  CONST_SCRIPTCODE: 1 << 16,
} as const;

export type ScriptFlagName = keyof typeof SCRIPT_VERIFY;

/** A peer can be banned for failing these, but not for failing only other standard flags. */
export const MANDATORY_SCRIPT_VERIFY_FLAGS: number = SCRIPT_VERIFY.P2SH;

/** The flags under which a transaction is verified for the mempool. */
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

/** The standard set without the mandatory one. */
export const STANDARD_NOT_MANDATORY_VERIFY_FLAGS: number =
  STANDARD_SCRIPT_VERIFY_FLAGS & ~MANDATORY_SCRIPT_VERIFY_FLAGS;
