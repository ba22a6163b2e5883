/** Random inputs of every standard form, with valid signatures and optional corruption, for the verification test. */
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatDer } from '../../src/crypto/ecdsaEncoding.js';
import { claimPrefixLength } from '../../src/primitives/scriptScan.js';
import type { Transaction } from '../../src/primitives/transaction.js';
import { SIG_VERSION, signatureHash, type SigVersion } from '../../src/script/sighash.js';
import { mutate, randomClaimPrefix, type Random } from './support.js';

export interface Spend {
  /** The script of the spent output. */
  spent: Buffer;
  amount: bigint;
  /** Whether the script has a form that the addon decides, with the shortest pushes, and was not corrupted afterwards. */
  isPlain: boolean;
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The shortest push. */
export function push(data: Uint8Array): Buffer {
  if (data.length === 0) return Buffer.of(0);
  if (data.length < 0x4c) return Buffer.concat([Buffer.of(data.length), data]);
  if (data.length < 0x100) return Buffer.concat([Buffer.of(0x4c, data.length), data]);
  return Buffer.concat([Buffer.of(0x4d, data.length & 0xff, data.length >> 8), data]);
}

/** A push with a longer opcode than necessary. */
function longPush(data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(0x4d, data.length & 0xff, data.length >> 8), data]);
}

/** A well-formed prefix. */
function claimPrefix(random: Random): Buffer {
  for (;;) {
    const prefix = randomClaimPrefix(random);
    if (claimPrefixLength(prefix, 0, prefix.length) === prefix.length) return prefix;
  }
}

class Signer {
  /** A signature is not strict DER, so the input is valid only without the flags that require strict DER. */
  usesLaxDer = false;
  readonly random: Random;
  readonly tx: Transaction;
  readonly input: number;
  readonly amount: bigint;
  readonly hashType: number;
  /** One of the keys is a hybrid key, which is accepted if no signature is checked with it. */
  usesHybridKey = false;

  constructor(random: Random, tx: Transaction, input: number, amount: bigint, hashType: number) {
    this.random = random;
    this.tx = tx;
    this.input = input;
    this.amount = amount;
    this.hashType = hashType;
  }

  sign(key: Buffer, code: Buffer, version: SigVersion, highS = false): Buffer {
    const hash = signatureHash(code, this.tx, this.input, this.hashType, this.amount, version);
    const { compact } = ecdsaBackend().sign(hash, key, null);
    const signature = Buffer.from(compact);
    if (highS) {
      const s = ORDER - BigInt(`0x${signature.toString('hex', 32)}`);
      signature.write(s.toString(16).padStart(64, '0'), 32, 'hex');
    }
    return Buffer.concat([this.encode(signature), Buffer.of(this.hashType)]);
  }

  private encode(compact: Buffer): Buffer {
    const der = formatDer(compact);
    if (!this.random.chance(15)) return der;
    this.usesLaxDer = true;
    if (this.random.chance(2)) return Buffer.concat([der, Buffer.of(0)]);
    // R with a superfluous leading zero byte.
    return Buffer.concat([Buffer.of(0x30, der[1]! + 1, 2, der[3]! + 1, 0), der.subarray(4)]);
  }
}

interface Locked {
  script: Buffer;
  /** The stack that unlocks the script, bottom first; signatures cover `code`. */
  unlock(code: Buffer, version: SigVersion): Buffer[];
}

function publicKey(signer: Signer, key: Buffer, compressed: boolean): Buffer {
  const made = ecdsaBackend().publicKeyOf(key, compressed);
  if (!compressed && signer.random.chance(8)) {
    made[0] = 6 + (made[64]! & 1);
    signer.usesHybridKey = true;
  }
  return made;
}

function keyHashLock(signer: Signer, compressed: boolean): Locked {
  const key = signer.random.bytes(32);
  const pub = publicKey(signer, key, compressed);
  return {
    script: Buffer.concat([Buffer.of(0x76, 0xa9, 20), hash160(pub), Buffer.of(0x88, 0xac)]),
    unlock: (code, version) => [signer.sign(key, code, version, signer.random.chance(6)), pub],
  };
}

function keyLock(signer: Signer, compressed: boolean): Locked {
  const key = signer.random.bytes(32);
  return {
    script: Buffer.concat([push(publicKey(signer, key, compressed)), Buffer.of(0xac)]),
    unlock: (code, version) => [signer.sign(key, code, version)],
  };
}

function multisigLock(signer: Signer, compressed: boolean): Locked {
  const { random } = signer;
  const keys = Array.from({ length: 1 + random.below(random.chance(10) ? 16 : 4) }, () => random.bytes(32));
  const needed = 1 + random.below(keys.length);
  const pubs = keys.map((key) => push(publicKey(signer, key, compressed)));
  if (random.chance(8)) pubs[random.below(pubs.length)] = push(random.bytes(33).fill(2, 0, 1));
  return {
    script: Buffer.concat([Buffer.of(0x50 + needed), ...pubs, Buffer.of(0x50 + keys.length, 0xae)]),
    unlock: (code, version) => {
      const chosen = keys.map((_, i) => i);
      while (chosen.length > needed) chosen.splice(random.below(chosen.length), 1);
      return [Buffer.alloc(0), ...chosen.map((i) => signer.sign(keys[i]!, code, version))];
    },
  };
}

/** Output scripts that the addon must leave to the interpreter, although some spends of them are valid. */
function oddLock(signer: Signer): Locked {
  const inner = keyLock(signer, true);
  const { random } = signer;
  switch (random.below(4)) {
    case 0:
      // The separator cuts the signed code.
      return {
        script: Buffer.concat([Buffer.of(0x51, 0x75, 0xab), inner.script]),
        unlock: (code, version) =>
          inner.unlock(code.subarray(3 + code.length - inner.script.length - 3), version),
      };
    case 1:
      return { script: Buffer.concat([Buffer.of(0x61), inner.script]), unlock: inner.unlock };
    case 2:
      return { script: Buffer.of(0x51), unlock: () => [] };
    default:
      return { script: Buffer.concat([inner.script, Buffer.of(0x91)]), unlock: () => [Buffer.alloc(0)] };
  }
}

/** Corrupts the input script, the witness or the spent script in one of many ways. */
function corrupt(random: Random, tx: Transaction, input: number, spend: Spend): void {
  const target = tx.inputs[input]!;
  spend.isPlain = false;
  switch (random.below(14)) {
    case 0:
      target.scriptSig = mutate(random, Buffer.from(target.scriptSig));
      break;
    case 1:
      target.witness = target.witness.map((item) =>
        random.chance(2) ? mutate(random, Buffer.from(item)) : item,
      );
      break;
    case 2:
      spend.spent = mutate(random, spend.spent);
      break;
    case 3:
      target.scriptSig = Buffer.concat([
        random.pick([Buffer.of(0x51), Buffer.of(0), Buffer.of(1, 5)]),
        target.scriptSig,
      ]);
      break;
    case 4:
      target.scriptSig = Buffer.concat([
        target.scriptSig,
        random.pick([Buffer.of(0x61), Buffer.of(0), Buffer.of(0x4f)]),
      ]);
      break;
    case 5:
      target.witness = [random.bytes(random.below(3)), ...target.witness];
      break;
    case 6:
      target.witness = target.witness.slice(1);
      break;
    case 7:
      spend.amount += 1n;
      break;
    case 8:
      // A multisig dummy element that is not empty, or another first push.
      if (target.witness.length > 0) target.witness[0] = Buffer.of(random.below(2));
      else if (target.scriptSig[0] === 0)
        target.scriptSig = Buffer.concat([Buffer.of(0x51), target.scriptSig.subarray(1)]);
      break;
    case 9:
      target.sequence ^= 1;
      break;
    case 10:
      if (tx.outputs.length > 0) random.pick(tx.outputs).value += 1n;
      break;
    case 11:
      spend.spent = Buffer.concat([
        random.pick([Buffer.of(0xb5), Buffer.of(0xb6, 0x51), Buffer.of(0x61)]),
        spend.spent,
      ]);
      break;
    case 12:
      target.scriptSig = Buffer.concat([Buffer.of(0x61), target.scriptSig]);
      break;
    default:
      target.witness = target.witness.slice().reverse();
  }
}

/** Locks input `input` of `tx` in a random way and unlocks it. All other parts of `tx` must be final. */
export function makeSpend(random: Random, tx: Transaction, input: number): Spend {
  const hashType = random.pick([1, 1, 1, 2, 3, 0x81, 0x82, 0x83, random.below(256)]);
  const amount = random.amount();
  const signer = new Signer(random, tx, input, amount, hashType);
  const compressed = !random.chance(4);
  const isOdd = random.chance(12);
  const lock = isOdd
    ? oddLock(signer)
    : random.pick([keyHashLock, keyLock, multisigLock])(signer, compressed);
  const prefix = random.chance(3) ? claimPrefix(random) : Buffer.alloc(0);
  const target = tx.inputs[input]!;
  target.scriptSig = Buffer.alloc(0);
  target.witness = [];
  const scriptHash = (script: Buffer) =>
    Buffer.concat([Buffer.of(0xa9, 20), hash160(script), Buffer.of(0x87)]);
  let hasLongPush = false;
  const anyPush = (data: Buffer) => {
    if (!random.chance(40)) return push(data);
    hasLongPush = true;
    return longPush(data);
  };

  let spent: Buffer;
  const form = random.below(6);
  if (form <= 1) {
    spent = Buffer.concat([prefix, lock.script]);
    target.scriptSig = Buffer.concat(lock.unlock(spent, SIG_VERSION.BASE).map(anyPush));
  } else if (form === 2) {
    spent = Buffer.concat([prefix, scriptHash(lock.script)]);
    target.scriptSig = Buffer.concat(
      [...lock.unlock(lock.script, SIG_VERSION.BASE), lock.script].map(anyPush),
    );
  } else {
    const isKeyHash = form === 3;
    const witnessLock = isKeyHash ? keyHashLock(signer, compressed) : lock;
    const stack = witnessLock.unlock(witnessLock.script, SIG_VERSION.WITNESS_V0);
    const program = isKeyHash
      ? Buffer.concat([Buffer.of(0, 20), witnessLock.script.subarray(3, 23)])
      : Buffer.concat([Buffer.of(0, 32), sha256(witnessLock.script)]);
    target.witness = isKeyHash ? stack : [...stack, witnessLock.script];
    if (random.chance(2)) {
      spent = Buffer.concat([prefix, scriptHash(program)]);
      target.scriptSig = push(program);
    } else {
      spent = Buffer.concat([prefix, program]);
    }
  }
  const spend = {
    spent,
    amount,
    isPlain: !isOdd && !hasLongPush && !signer.usesHybridKey && !signer.usesLaxDer,
  };
  if (random.chance(2)) corrupt(random, tx, input, spend);
  return spend;
}
