/**
 * Random scripts that run far: pushes that later operations can use, balanced and unbalanced conditionals, counts near the
 * limits, and redeem and witness scripts in the nesting of BIP16 and BIP141.
 */
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import type { Transaction } from '../../../src/primitives/transaction.js';
import { SCRIPT_VERIFY } from '../../../src/script/flags.js';
import { OP } from '../../../src/script/opcodes.js';
import { buildScript, MAX_SCRIPT_ELEMENT_SIZE, pushData, pushNumber } from '../../../src/script/script.js';
import { randomClaimPrefix, randomOutPoint, type Random } from '../../differential/support.js';
import { mutateBytes, noise } from '../support/mutate.js';

/** One input with all data on which its validity depends. */
export interface Spend {
  readonly tx: Transaction;
  readonly amount: bigint;
  readonly scriptSig: Buffer;
  readonly scriptPubKey: Buffer;
  readonly witness: Buffer[];
  readonly flags: number;
}

const ALL_FLAGS = Object.values(SCRIPT_VERIFY).reduce((all: number, flag) => all | flag, 0);

/** Adds what the interpreter demands: WITNESS needs P2SH, CLEANSTACK both. */
export function meaningfulFlags(flags: number): number {
  let out = flags & ALL_FLAGS;
  if ((out & SCRIPT_VERIFY.CLEANSTACK) !== 0) out |= SCRIPT_VERIFY.WITNESS;
  if ((out & SCRIPT_VERIFY.WITNESS) !== 0) out |= SCRIPT_VERIFY.P2SH;
  return out;
}

export function randomFlags(random: Random): number {
  return meaningfulFlags(random.pick([0, ALL_FLAGS, random.u32(), random.u32() & random.u32()]));
}

/** Bytes in the format of a signature (strict DER and a hash type), or similar ones. */
function signatureLike(random: Random): Buffer {
  const part = (): Buffer => {
    const bytes = random.bytes(1 + random.below(33));
    if (!random.chance(3)) bytes[0]! &= 0x7f;
    return Buffer.concat([Buffer.of(2, bytes.length), bytes]);
  };
  const body = Buffer.concat([part(), part()]);
  const signature = Buffer.concat([
    Buffer.of(0x30, body.length),
    body,
    Buffer.of(random.pick([1, 2, 3, 0x81, 0x82, 0x83, 0, random.below(256)])),
  ]);
  return random.chance(6) ? mutateBytes(random, signature) : signature;
}

function keyLike(random: Random): Buffer {
  const long = random.chance(4);
  const key = random.bytes(long ? 65 : 33);
  key[0] = random.pick(long ? [4, 6, 7] : [2, 3]);
  return random.chance(10) ? key.subarray(0, random.below(key.length)) : key;
}

function randomPush(random: Random): Buffer {
  switch (random.below(10)) {
    case 0:
      return pushData(signatureLike(random));
    case 1:
      return pushData(keyLike(random));
    case 2:
      return pushNumber(random.pick([-1, 0, 1, 2, 20, 21, 127, 128, 0x7fffffff, -0x7fffffff, 0xffffffff]));
    case 3:
      return pushNumber(random.u32());
    case 4:
      return pushData(random.bytes(random.below(10)));
    case 5:
      return random.chance(40)
        ? pushData(Buffer.alloc(MAX_SCRIPT_ELEMENT_SIZE + random.below(2), 1))
        : pushData(random.bytes(random.below(300)));
    default:
      return Buffer.of(random.pick([OP.OP_0, OP.OP_1, OP.OP_2, OP.OP_3, OP.OP_16, OP.OP_1NEGATE]));
  }
}

function multisigOp(random: Random): Buffer {
  const keys = Array.from({ length: random.below(4) }, () => keyLike(random));
  const signatures = Array.from({ length: random.below(keys.length + 1) }, () => signatureLike(random));
  return Buffer.concat([
    buildScript(random.chance(4) ? 1 + OP.OP_1 : OP.OP_0, ...signatures),
    pushNumber(random.chance(8) ? random.below(22) : signatures.length),
    buildScript(...keys),
    pushNumber(random.chance(8) ? random.below(22) : keys.length),
    Buffer.of(random.chance(3) ? OP.OP_CHECKMULTISIGVERIFY : OP.OP_CHECKMULTISIG),
  ]);
}

function randomOperation(random: Random): Buffer {
  switch (random.below(12)) {
    case 0:
      return Buffer.of(random.below(256));
    case 1:
      return Buffer.concat([
        pushNumber(random.below(3)),
        Buffer.of(random.pick([OP.OP_IF, OP.OP_NOTIF])),
        randomBody(random, 3),
        Buffer.of(OP.OP_ELSE),
        randomBody(random, 3),
        Buffer.of(OP.OP_ENDIF),
      ]);
    case 2:
      return multisigOp(random);
    case 3:
      return Buffer.concat([
        pushData(signatureLike(random)),
        pushData(keyLike(random)),
        Buffer.of(random.pick([OP.OP_CHECKSIG, OP.OP_CHECKSIGVERIFY])),
      ]);
    case 4:
      return Buffer.concat([
        pushNumber(random.pick([0, 1, 100, 499_999_999, 500_000_000, 0x400001, 0x80000000, random.u32()])),
        Buffer.of(random.pick([OP.OP_CHECKLOCKTIMEVERIFY, OP.OP_CHECKSEQUENCEVERIFY])),
      ]);
    case 5:
      return Buffer.of(OP.OP_TOALTSTACK + random.below(OP.OP_TUCK - OP.OP_TOALTSTACK + 1));
    case 6:
      return Buffer.of(OP.OP_NOP + random.below(OP.OP_NOP10 - OP.OP_NOP + 8));
    default:
      return randomPush(random);
  }
}

function randomBody(random: Random, most: number): Buffer {
  return Buffer.concat(Array.from({ length: random.below(most + 1) }, () => randomOperation(random)));
}

/** A script at one of the limits, or just above it. */
function limitScript(random: Random): Buffer {
  const beyond = random.below(2);
  switch (random.below(5)) {
    case 0:
      return Buffer.concat([Buffer.of(OP.OP_1), Buffer.alloc(201 + beyond, OP.OP_NOP)]);
    case 1:
      return Buffer.alloc(1000 + beyond, OP.OP_1);
    case 2:
      return Buffer.concat([Buffer.alloc(20_004 + beyond, OP.OP_0), Buffer.of(OP.OP_1)]);
    case 3:
      return Buffer.concat([Buffer.alloc(997 + beyond, OP.OP_1), Buffer.of(OP.OP_3DUP)]);
    default:
      return Buffer.concat([
        buildScript(OP.OP_0, OP.OP_0),
        Buffer.concat(Array.from({ length: 20 + beyond }, () => pushData(keyLike(random)))),
        pushNumber(20 + beyond),
        Buffer.alloc(1, OP.OP_CHECKMULTISIG),
      ]);
  }
}

export function randomScriptCode(random: Random): Buffer {
  if (random.chance(60)) return limitScript(random);
  if (random.chance(8)) return noise(random, 60);
  const body = Buffer.concat([
    randomBody(random, 8),
    random.chance(3) ? Buffer.alloc(0) : randomPush(random),
  ]);
  return random.chance(8) ? mutateBytes(random, body) : body;
}

function randomTransaction(random: Random): Transaction {
  const sequence = (): number => random.pick([0xffffffff, 0xfffffffe, 0, 1, 100, 0x400001, random.u32()]);
  return {
    version: random.pick([1, 2, -1]),
    inputs: [
      { prevout: randomOutPoint(random), scriptSig: Buffer.alloc(0), sequence: sequence(), witness: [] },
      { prevout: randomOutPoint(random), scriptSig: Buffer.alloc(0), sequence: sequence(), witness: [] },
    ],
    outputs: [{ value: 1n, script: Buffer.of(OP.OP_1) }],
    lockTime: random.pick([0, 100, 499_999_999, 500_000_000, random.u32()]),
  };
}

function pushes(random: Random): Buffer {
  return Buffer.concat(Array.from({ length: random.below(4) }, () => randomPush(random)));
}

function items(random: Random): Buffer[] {
  return Array.from({ length: random.below(4) }, () =>
    random.chance(50)
      ? Buffer.alloc(MAX_SCRIPT_ELEMENT_SIZE + random.below(2))
      : random.pick([Buffer.alloc(0), Buffer.of(1), Buffer.of(2), keyLike(random), signatureLike(random)]),
  );
}

const p2sh = (redeem: Buffer): Buffer => buildScript(OP.OP_HASH160, hash160(redeem), OP.OP_EQUAL);
const p2wsh = (script: Buffer): Buffer => buildScript(OP.OP_0, sha256(script));

/**
 * The output script, and the input script and witness that spend it: bare, P2SH, P2WSH, P2WPKH, or one of the last two within
 * P2SH.
 */
function nest(random: Random): Pick<Spend, 'scriptSig' | 'scriptPubKey' | 'witness'> {
  const code = randomScriptCode(random);
  const key = keyLike(random);
  switch (random.below(7)) {
    case 0:
      return {
        scriptSig: Buffer.concat([pushes(random), pushData(code)]),
        scriptPubKey: p2sh(code),
        witness: [],
      };
    case 1:
      return { scriptSig: Buffer.alloc(0), scriptPubKey: p2wsh(code), witness: [...items(random), code] };
    case 2:
      return {
        scriptSig: pushData(p2wsh(code)),
        scriptPubKey: p2sh(p2wsh(code)),
        witness: [...items(random), code],
      };
    case 3:
      return {
        scriptSig: Buffer.alloc(0),
        scriptPubKey: buildScript(OP.OP_0, hash160(key)),
        witness: [signatureLike(random), key],
      };
    case 4: {
      const program = buildScript(random.below(17) === 0 ? 0 : OP.OP_1, random.bytes(random.below(42)));
      const nested = random.chance(2);
      return {
        scriptSig: nested ? pushData(program) : Buffer.alloc(0),
        scriptPubKey: nested ? p2sh(program) : program,
        witness: items(random),
      };
    }
    default:
      return {
        scriptSig: random.chance(4) ? randomScriptCode(random) : pushes(random),
        scriptPubKey: code,
        witness: random.chance(6) ? items(random) : [],
      };
  }
}

export function randomSpend(random: Random): Spend {
  const spend = nest(random);
  const claimed = random.chance(6)
    ? Buffer.concat([randomClaimPrefix(random), spend.scriptPubKey])
    : spend.scriptPubKey;
  const corrupt = random.chance(8);
  return {
    tx: randomTransaction(random),
    amount: random.amount(),
    scriptSig: corrupt && random.chance(2) ? mutateBytes(random, spend.scriptSig) : spend.scriptSig,
    scriptPubKey: corrupt && random.chance(2) ? mutateBytes(random, claimed) : claimed,
    witness: corrupt
      ? spend.witness.map((item) => (random.chance(3) ? mutateBytes(random, item) : item))
      : spend.witness,
    flags: randomFlags(random),
  };
}
