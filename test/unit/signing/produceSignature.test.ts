/** Signing outputs of every kind, with and without claim prefix, completely and partially. */
import { describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { emptyInput, type Transaction, type TxOutput } from '../../../src/primitives/transaction.js';
import { buildClaimPrefix, buildSupportPrefix, buildUpdatePrefix } from '../../../src/script/claimScript.js';
import { formatAsm } from '../../../src/script/asm.js';
import {
  scriptForDestination,
  scriptForMultisig,
  scriptForPublicKey,
  scriptForWitness,
} from '../../../src/script/standard.js';
import { dataFromInput } from '../../../src/signing/extractSignatures.js';
import { isSolvable, produceSignature } from '../../../src/signing/produceSignature.js';
import { DUMMY_CREATOR, DUMMY_MAXIMUM_CREATOR, InputSigner } from '../../../src/signing/signatureCreator.js';
import { combineSignatures, emptySignatureData } from '../../../src/signing/signatureData.js';
import { inputProblem, signInput, signingTask } from '../../../src/signing/signInput.js';
import {
  MemoryKeyStore,
  NO_KEYS,
  publicOnly,
  signingKeyOf,
  type SigningKey,
} from '../../../src/signing/signingProvider.js';
import { concatBytes, toHex, type Bytes } from '../../../src/util/bytes.js';

const keyOf = (name: string, compressed = true): SigningKey =>
  signingKeyOf(sha256(Buffer.from(name)), compressed);
const [A, B, C] = [keyOf('a'), keyOf('b'), keyOf('c')];
const LONG = keyOf('long', false);

const p2pkh = (key: SigningKey): Buffer =>
  scriptForDestination({ type: 'pubkeyhash', hash: hash160(key.publicKey) });
const p2wpkh = (key: SigningKey): Buffer =>
  scriptForDestination({ type: 'witness_v0_keyhash', hash: hash160(key.publicKey) });
const p2sh = (script: Bytes): Buffer => scriptForDestination({ type: 'scripthash', hash: hash160(script) });
const p2wsh = (script: Bytes): Buffer =>
  scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(script) });
const multisig = scriptForMultisig(2, [A.publicKey, B.publicKey, C.publicKey]);
/** 100 CHECKLOCKTIMEVERIFY DROP. */
const locked = concatBytes(Buffer.from('0164b175', 'hex'), p2pkh(A));

/** By name: the output script, and the script whose hash it contains. */
const OUTPUTS: Record<string, readonly [script: Bytes, inner?: Bytes]> = {
  P2PK: [scriptForPublicKey(A.publicKey)],
  P2PKH: [p2pkh(A)],
  'P2PKH of an uncompressed key': [p2pkh(LONG)],
  multisig: [multisig],
  'a time lock': [locked],
  'P2SH of P2PKH': [p2sh(p2pkh(A)), p2pkh(A)],
  'P2SH of multisig': [p2sh(multisig), multisig],
  P2WPKH: [p2wpkh(A)],
  'P2SH of P2WPKH': [p2sh(p2wpkh(A)), p2wpkh(A)],
  'P2WSH of P2PK': [p2wsh(scriptForPublicKey(B.publicKey)), scriptForPublicKey(B.publicKey)],
  'P2WSH of multisig': [p2wsh(multisig), multisig],
  'P2SH of P2WSH of multisig': [p2sh(p2wsh(multisig)), multisig],
};

const NAME = Buffer.from('name');
const PREFIXES: Record<string, Bytes> = {
  plain: Buffer.alloc(0),
  claim: buildClaimPrefix(NAME, Buffer.from('value')),
  update: buildUpdatePrefix(NAME, Buffer.alloc(20, 7), Buffer.alloc(300)),
  support: buildSupportPrefix(NAME, Buffer.alloc(20, 7)),
};

const AMOUNT = 5_000_000_000_000_000_001n;

function spending(count = 1): Transaction {
  const inputs = Array.from({ length: count }, (_, index) => ({
    ...emptyInput({ hash: Buffer.alloc(32, 9), index }),
    sequence: 0xfffffffe,
  }));
  return { version: 2, inputs, outputs: [{ value: 1n, script: p2pkh(B) }], lockTime: 100 };
}

function storeOf(keys: readonly SigningKey[], ...scripts: (Bytes | undefined)[]): MemoryKeyStore {
  const store = new MemoryKeyStore();
  for (const key of keys) store.addKey(key);
  for (const script of scripts) {
    if (script === undefined) continue;
    store.addScript(script);
    store.addScript(scriptForWitness(script));
  }
  return store;
}

/** Signs the only input. Returns null if the input is then valid. */
function signOnce(tx: Transaction, spent: TxOutput, store: MemoryKeyStore, hashType?: number): string | null {
  const task = signingTask(tx, store, hashType);
  signInput(task, 0, spent);
  return inputProblem(task, 0, spent);
}

const cases = Object.keys(OUTPUTS).flatMap((output) =>
  Object.keys(PREFIXES).map((prefix) => [prefix, output] as const),
);

describe('produceSignature', () => {
  it.each(cases)('signs %s %s', (prefix, name) => {
    const [script, inner] = OUTPUTS[name]!;
    const spent = { value: AMOUNT, script: concatBytes(PREFIXES[prefix]!, script) };
    const keys = [A, B, C, LONG];
    const tx = spending();
    expect(signOnce(tx, spent, storeOf(keys, inner))).toBeNull();
    // A witness signature covers the amount.
    const task = signingTask(tx, NO_KEYS);
    const isWitness = name.includes('P2W');
    expect(inputProblem(task, 0, { ...spent, value: 1n }) === null).toBe(!isWitness);
    expect(signOnce(spending(), spent, storeOf([], inner))).not.toBeNull();
  });

  it.each([1, 2, 3, 0x81, 0x82, 0x83])(
    'signs the parts of a transaction that hash type %i covers',
    (hashType) => {
      const spent = { value: 7n, script: p2wpkh(A) };
      const tx = spending(2);
      const store = storeOf([A]);
      expect(signOnce(tx, spent, store, hashType)).toBeNull();
      const changed = (change: (copy: Transaction) => void): boolean => {
        const copy = { ...tx, inputs: tx.inputs.map((input) => ({ ...input })), outputs: [...tx.outputs] };
        change(copy);
        return inputProblem(signingTask(copy, store), 0, spent) !== null;
      };
      const type = hashType & 0x1f;
      expect(changed((copy) => (copy.outputs[0] = { value: 2n, script: p2pkh(B) }))).toBe(type !== 2);
      expect(changed((copy) => copy.outputs.push({ value: 2n, script: p2pkh(B) }))).toBe(type === 1);
      expect(changed((copy) => copy.inputs.pop())).toBe(hashType < 0x80);
    },
  );

  it('signs SINGLE only if the input has an output of the same index', () => {
    const spent = { value: 7n, script: p2pkh(A) };
    const task = signingTask(spending(2), storeOf([A]), 3);
    signInput(task, 1, spent);
    expect(task.tx.inputs[1]!.scriptSig.length).toBe(0);
  });

  it('is deterministic, with low R', () => {
    for (let amount = 0n; amount < 20n; amount++) {
      const spent = { value: amount, script: p2wpkh(A) };
      const [first, second] = [spending(), spending()];
      signOnce(first, spent, storeOf([A]));
      signOnce(second, spent, storeOf([A]));
      expect(first.inputs).toEqual(second.inputs);
      expect(first.inputs[0]!.witness[0]!.length).toBeLessThanOrEqual(71);
    }
  });

  it('signs no witness with an uncompressed key', () => {
    const script = scriptForPublicKey(LONG.publicKey);
    expect(
      signOnce(spending(), { value: 1n, script: p2wsh(script) }, storeOf([LONG], script)),
    ).not.toBeNull();
    expect(isSolvable(storeOf([], script), p2wsh(script))).toBe(false);
    expect(isSolvable(storeOf([], script), p2sh(script))).toBe(true);
  });

  it('adds signatures in any order, and keeps existing ones', () => {
    for (const [script, inner] of [
      [multisig],
      [p2sh(multisig), multisig],
      [p2wsh(multisig), multisig],
      [p2sh(p2wsh(multisig)), multisig],
    ]) {
      const spent = { value: 3n, script: concatBytes(PREFIXES['claim']!, script!) };
      const tx = spending();
      expect(signOnce(tx, spent, storeOf([C], inner))).not.toBeNull();
      expect(signOnce(tx, spent, storeOf([], inner))).not.toBeNull();
      expect(signOnce(tx, spent, storeOf([A], inner))).toBeNull();
    }
  });

  it('adds placeholders for missing signatures as the reference does', () => {
    const keys = ['1', '2', '3', '4'].map((name) => keyOf(name).publicKey);
    const tx = spending();
    signOnce(tx, { value: 1n, script: scriptForMultisig(4, keys) }, storeOf([]));
    // Four signatures are missing. Only two of their placeholders precede the superfluous element.
    expect(formatAsm(tx.inputs[0]!.scriptSig)).toBe('0 0 0');
  });

  it('combines the signatures of two signers', () => {
    const spent = { value: 3n, script: p2sh(p2wsh(multisig)) };
    const parts = [A, C].map((key) => {
      const tx = spending();
      signOnce(tx, spent, storeOf([key], multisig));
      return tx;
    });
    const data = emptySignatureData();
    for (const part of parts) combineSignatures(data, dataFromInput(part, 0, spent));
    expect(data.signatures.size).toBe(2);
    expect(toHex(data.witnessScript)).toBe(toHex(multisig));
    expect(produceSignature(NO_KEYS, new InputSigner(parts[0]!, 0, spent.value), spent.script, data)).toBe(
      true,
    );
    const whole = emptySignatureData();
    combineSignatures(whole, data);
    expect(whole.complete).toBe(true);
    combineSignatures(whole, emptySignatureData());
    expect(whole.scriptWitness).toBe(data.scriptWitness);
  });

  it('rejects signatures of another transaction', () => {
    const spent = { value: 3n, script: multisig };
    const tx = spending();
    signOnce(tx, spent, storeOf([A]));
    const other = { ...tx, lockTime: 99 };
    expect(dataFromInput(other, 0, spent).signatures.size).toBe(0);
    expect(dataFromInput(tx, 0, spent).signatures.size).toBe(1);
  });

  it('estimates sizes without keys', () => {
    const keys = publicOnly(storeOf([A]));
    const sizes = [DUMMY_CREATOR, DUMMY_MAXIMUM_CREATOR].map((creator) => {
      const data = emptySignatureData();
      expect(produceSignature(keys, creator, p2pkh(A), data)).toBe(true);
      return data.scriptSig.length;
    });
    expect(sizes).toEqual([1 + 71 + 1 + 33, 1 + 72 + 1 + 33]);
    expect(isSolvable(NO_KEYS, p2pkh(A))).toBe(false);
    const data = emptySignatureData();
    expect(produceSignature(keys, new InputSigner(spending(), 0, 1n), p2pkh(A), data)).toBe(false);
  });
});

describe('MemoryKeyStore', () => {
  it('adds the witness program of compressed keys only, and no script above the size limit', () => {
    const store = storeOf([A, LONG]);
    expect(store.script(hash160(p2wpkh(A)))).not.toBeNull();
    expect(store.script(hash160(p2wpkh(LONG)))).toBeNull();
    expect(store.publicKey(hash160(A.publicKey))).toBe(A.publicKey);
    expect(store.addScript(new Uint8Array(20_001))).toBe(false);
    expect(store.addScript(new Uint8Array(20_000))).toBe(true);
  });
});
