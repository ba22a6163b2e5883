/**
 * Opcodes by number, and their names in texts. The interpreter implements them. lbrycrd assigned three former no-ops to
 * claims. Source: Core script.h `opcodetype`, script.cpp `GetOpName`.
 */

export const OP = {
  // Opcodes that push data. The opcodes 0x01 to 0x4b push that number of bytes; they have no name.
  OP_0: 0x00,
  OP_PUSHDATA1: 0x4c,
  OP_PUSHDATA2: 0x4d,
  OP_PUSHDATA4: 0x4e,
  OP_1NEGATE: 0x4f,
  OP_RESERVED: 0x50,
  OP_1: 0x51,
  OP_2: 0x52,
  OP_3: 0x53,
  OP_4: 0x54,
  OP_5: 0x55,
  OP_6: 0x56,
  OP_7: 0x57,
  OP_8: 0x58,
  OP_9: 0x59,
  OP_10: 0x5a,
  OP_11: 0x5b,
  OP_12: 0x5c,
  OP_13: 0x5d,
  OP_14: 0x5e,
  OP_15: 0x5f,
  OP_16: 0x60,
  // Opcodes for branches and for the end of a script.
  OP_NOP: 0x61,
  OP_VER: 0x62,
  OP_IF: 0x63,
  OP_NOTIF: 0x64,
  OP_VERIF: 0x65,
  OP_VERNOTIF: 0x66,
  OP_ELSE: 0x67,
  OP_ENDIF: 0x68,
  OP_VERIFY: 0x69,
  OP_RETURN: 0x6a,
  // Opcodes that move items of the stack.
  OP_TOALTSTACK: 0x6b,
  OP_FROMALTSTACK: 0x6c,
  OP_2DROP: 0x6d,
  OP_2DUP: 0x6e,
  OP_3DUP: 0x6f,
  OP_2OVER: 0x70,
  OP_2ROT: 0x71,
  OP_2SWAP: 0x72,
  OP_IFDUP: 0x73,
  OP_DEPTH: 0x74,
  OP_DROP: 0x75,
  OP_DUP: 0x76,
  OP_NIP: 0x77,
  OP_OVER: 0x78,
  OP_PICK: 0x79,
  OP_ROLL: 0x7a,
  OP_ROT: 0x7b,
  OP_SWAP: 0x7c,
  OP_TUCK: 0x7d,
  // Opcodes for byte strings.
  OP_CAT: 0x7e,
  OP_SUBSTR: 0x7f,
  OP_LEFT: 0x80,
  OP_RIGHT: 0x81,
  OP_SIZE: 0x82,
  OP_INVERT: 0x83,
  OP_AND: 0x84,
  OP_OR: 0x85,
  OP_XOR: 0x86,
  OP_EQUAL: 0x87,
  OP_EQUALVERIFY: 0x88,
  OP_RESERVED1: 0x89,
  OP_RESERVED2: 0x8a,
  // Opcodes for numbers.
  OP_1ADD: 0x8b,
  OP_1SUB: 0x8c,
  OP_2MUL: 0x8d,
  OP_2DIV: 0x8e,
  OP_NEGATE: 0x8f,
  OP_ABS: 0x90,
  OP_NOT: 0x91,
  OP_0NOTEQUAL: 0x92,
  OP_ADD: 0x93,
  OP_SUB: 0x94,
  OP_MUL: 0x95,
  OP_DIV: 0x96,
  OP_MOD: 0x97,
  OP_LSHIFT: 0x98,
  OP_RSHIFT: 0x99,
  OP_BOOLAND: 0x9a,
  OP_BOOLOR: 0x9b,
  OP_NUMEQUAL: 0x9c,
  OP_NUMEQUALVERIFY: 0x9d,
  OP_NUMNOTEQUAL: 0x9e,
  OP_LESSTHAN: 0x9f,
  OP_GREATERTHAN: 0xa0,
  OP_LESSTHANOREQUAL: 0xa1,
  OP_GREATERTHANOREQUAL: 0xa2,
  OP_MIN: 0xa3,
  OP_MAX: 0xa4,
  OP_WITHIN: 0xa5,
  // Opcodes for hashes and signatures.
  OP_RIPEMD160: 0xa6,
  OP_SHA1: 0xa7,
  OP_SHA256: 0xa8,
  OP_HASH160: 0xa9,
  OP_HASH256: 0xaa,
  OP_CODESEPARATOR: 0xab,
  OP_CHECKSIG: 0xac,
  OP_CHECKSIGVERIFY: 0xad,
  OP_CHECKMULTISIG: 0xae,
  OP_CHECKMULTISIGVERIFY: 0xaf,
  // Opcodes without effect; some are reserved for extensions, some check lock times.
  OP_NOP1: 0xb0,
  OP_CHECKLOCKTIMEVERIFY: 0xb1,
  OP_CHECKSEQUENCEVERIFY: 0xb2,
  OP_NOP4: 0xb3,
  OP_NOP5: 0xb4,
  OP_CLAIM_NAME: 0xb5,
  OP_SUPPORT_CLAIM: 0xb6,
  OP_UPDATE_CLAIM: 0xb7,
  OP_NOP9: 0xb8,
  OP_NOP10: 0xb9,
  OP_INVALIDOPCODE: 0xff,
} as const;

/** Highest defined opcode. */
export const MAX_OPCODE = OP.OP_NOP10;

const NAMES: string[] = new Array<string>(256).fill('OP_UNKNOWN');
for (const [name, opcode] of Object.entries(OP)) NAMES[opcode] = name;
NAMES[OP.OP_0] = '0';
NAMES[OP.OP_1NEGATE] = '-1';
for (let n = 1; n <= 16; n++) NAMES[OP.OP_1 + n - 1] = String(n);

/** Returns the name of an opcode: digits for small numbers, `OP_UNKNOWN` for opcodes without a name, including direct pushes. */
export function opcodeName(opcode: number): string {
  return NAMES[opcode] ?? 'OP_UNKNOWN';
}

/** Whether the opcode is OP_1 to OP_16. */
export function isSmallInteger(opcode: number): boolean {
  return opcode >= OP.OP_1 && opcode <= OP.OP_16;
}

/** Returns the number that OP_0 or OP_1 to OP_16 pushes. */
export function smallIntegerOf(opcode: number): number {
  return opcode === OP.OP_0 ? 0 : opcode - (OP.OP_1 - 1);
}

/** Returns the opcode that pushes a number from 0 to 16. */
export function smallIntegerOpcode(value: number): number {
  return value === 0 ? OP.OP_0 : OP.OP_1 + value - 1;
}

/** Whether the opcode starts a claim prefix. */
export function isClaimOpcode(opcode: number): boolean {
  return opcode >= OP.OP_CLAIM_NAME && opcode <= OP.OP_UPDATE_CLAIM;
}
