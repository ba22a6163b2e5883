/** PSBT cases beyond BIP174's vectors: error texts of the reference, and checks of the roles. */
import { describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../src/crypto/hash.js';
import { emptyInput, txid, type Transaction } from '../../../src/primitives/transaction.js';
import { buildClaimPrefix } from '../../../src/script/claimScript.js';
import { scriptForDestination, scriptForMultisig } from '../../../src/script/standard.js';
import { isPsbtSane, MAX_MAP_FIELDS, ownMap, type Psbt } from '../../../src/signing/psbt.js';
import {
  formatBarePsbtInSlices,
  formatPsbt,
  parsePsbt,
  PsbtError,
  PsbtExtraDataError,
} from '../../../src/signing/psbtCodec.js';
import {
  combinePsbt,
  createPsbt,
  extractTransaction,
  finalizePsbt,
  isSameTransaction,
  signPsbtInput,
  spentOutput,
  updatePsbtOutput,
} from '../../../src/signing/psbtRoles.js';
import { inputProblem, signingTask } from '../../../src/signing/signInput.js';
import {
  MemoryKeyStore,
  NO_KEYS,
  signingKeyOf,
  type SigningKey,
} from '../../../src/signing/signingProvider.js';
import { concatBytes, fromHex, toHex, toLatin1, type Bytes } from '../../../src/util/bytes.js';
import { atOnce } from '../../../src/util/slices.js';

const keyOf = (name: string): SigningKey => signingKeyOf(sha256(Buffer.from(name)), true);
const KEYS = ['a', 'b', 'c'].map(keyOf);
const multisig = scriptForMultisig(
  2,
  KEYS.map((key) => key.publicKey),
);
const program = scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(multisig) });
const nested = scriptForDestination({ type: 'scripthash', hash: hash160(program) });
const claim = buildClaimPrefix(Buffer.from('name'), Buffer.from('value'));

/** A PSBT with one input and one output, and the transaction that it spends. */
function spending(script: Bytes): { funding: Transaction; psbt: Psbt } {
  const funding: Transaction = {
    version: 1,
    inputs: [emptyInput({ hash: Buffer.alloc(32, 1), index: 0 })],
    outputs: [{ value: 500n, script }],
    lockTime: 0,
  };
  const tx: Transaction = {
    version: 2,
    inputs: [emptyInput({ hash: txid(funding), index: 0 })],
    outputs: [{ value: 400n, script: nested }],
    lockTime: 0,
  };
  return { funding, psbt: createPsbt(tx) };
}

const storeOf = (...keys: SigningKey[]): MemoryKeyStore => {
  const store = new MemoryKeyStore();
  for (const key of keys) store.addKey(key);
  return store;
};
const copyOf = (psbt: Psbt): Psbt => parsePsbt(formatPsbt(psbt));

/** Unsigned transaction without inputs and outputs: the smallest PSBT. */
const EMPTY = '70736274ff01000a0200000000000000000000';

describe('formatBarePsbtInSlices', () => {
  it.each([
    [0, 0],
    [1, 3],
    [600, 2],
    [2, 70_000],
  ])('writes the result of createPsbt for %i inputs and %i outputs', (inputs, outputs) => {
    const tx: Transaction = {
      version: 2,
      inputs: Array.from({ length: inputs }, (_, index) => ({
        ...emptyInput({ hash: Buffer.alloc(32, 7), index }),
        scriptSig: Buffer.from('51', 'hex'),
        witness: [Buffer.from('52', 'hex')],
      })),
      outputs: Array.from({ length: outputs }, (_, n) => ({ value: BigInt(n), script: nested })),
      lockTime: 9,
    };
    const bytes = atOnce(formatBarePsbtInSlices(tx));
    expect(bytes.equals(formatPsbt(createPsbt(tx)))).toBe(true);
  });
});

describe('the bytes of a PSBT', () => {
  const { psbt } = spending(nested);
  const whole = formatPsbt(psbt);
  /** The bytes before the first input map of that PSBT. */
  const head = toHex(whole.subarray(0, whole.length - 2));
  const key = toHex(KEYS[0]!.publicKey);

  it.each([
    ['', 'CDataStream::read(): end of data'],
    ['70736274fe', 'Invalid PSBT magic bytes'],
    ['70736274ff', 'Separator is missing at the end of the global map'],
    ['70736274ff00', 'No unsigned transcation was provided'],
    ['70736274ff0100ff', 'CDataStream::read(): end of data'],
    ['70736274ff0100fd0100', 'non-canonical ReadCompactSize()'],
    ['70736274ff0100feffffffff', 'ReadCompactSize(): size too large'],
    ['70736274ff01000b02000000000000000000', 'Size of value was not the stated size'],
    [`70736274ff02000100`, 'Global unsigned tx key is more than one byte type'],
    [`${EMPTY.slice(0, -2)}0100`, 'Duplicate Key, unsigned tx already provided'],
    [`${EMPTY.slice(0, -2)}0109000109`, 'Duplicate Key, key for unknown value already provided'],
    [`${head}`, 'Inputs provided does not match the number of inputs in transaction.'],
    [`${head}00`, 'Outputs provided does not match the number of outputs in transaction.'],
    [`${head}0109`, 'CDataStream::read(): end of data'],
    [`${head}010900`, 'Separator is missing at the end of an input map'],
    [`${head}00010900`, 'Separator is missing at the end of an output map'],
    [`${head}0202ff`, 'Size of key was not the expected size for the type partial signature pubkey'],
    [`${head}2202${'00'.repeat(33)}`, 'Invalid pubkey'],
    [`${head}2202${key}002202${key}00`, 'Duplicate Key, input partial signature for pubkey already provided'],
    [`${head}2206${key}002206${key}00`, 'Duplicate Key, pubkey derivation path already provided'],
    [`${head}0206ff`, 'Size of key was not the expected size for the type BIP32 keypath'],
    [`${head}01030401000000010304`, 'Duplicate Key, input sighash type already provided'],
    [`${head}020300`, 'Sighash type key is more than one byte type'],
    [`${head}01040151010401`, 'Duplicate Key, input redeemScript already provided'],
    [`${head}01050151010501`, 'Duplicate Key, input witnessScript already provided'],
    [`${head}01070151010701`, 'Duplicate Key, input final scriptSig already provided'],
    [`${head}0108020100010801`, 'Duplicate Key, input final scriptWitness already provided'],
    [`${head}010109${'00'.repeat(9)}0101`, 'Duplicate Key, input witness utxo already provided'],
    [`${head}01000a0200000000000000000000`, 'Non-witness UTXO does not match outpoint hash'],
    [`${head}00010001510100`, 'Duplicate Key, output redeemScript already provided'],
    [`${head}00010101510101`, 'Duplicate Key, output witnessScript already provided'],
    [`${head}0105015100` + '00', 'PSBT is not sane.'],
  ])('%s: %s', (hex, message) => {
    expect(() => parsePsbt(fromHex(hex))).toThrow(new PsbtError(message));
  });

  it('distinguishes trailing bytes from invalid bytes', () => {
    expect(() => parsePsbt(fromHex(`${EMPTY}00`))).toThrow(new PsbtExtraDataError());
    expect(toHex(formatPsbt(parsePsbt(fromHex(EMPTY))))).toBe(EMPTY);
  });

  it('keeps unknown fields in order, and an output without amount', () => {
    const unknown = '0209ff01aa' + '0209fe00';
    const read = parsePsbt(fromHex(`${head}${unknown}010109${'ff'.repeat(8)}0000` + '00'));
    expect(read.inputs[0]!.witnessUtxo).toBeNull();
    expect(toHex(formatPsbt(read))).toBe(`${head}0209fe000209ff01aa0000`);
  });
});

describe('the roles', () => {
  it('two signers of three, a combiner and a finalizer spend a claim', async () => {
    const { funding, psbt } = spending(concatBytes(claim, nested));
    psbt.inputs[0]!.redeemScript = program;
    psbt.inputs[0]!.witnessScript = multisig;
    psbt.inputs[0]!.witnessUtxo = funding.outputs[0]!;
    const [first, second] = [copyOf(psbt), copyOf(psbt)];
    expect(signPsbtInput(first, 0, storeOf(KEYS[2]!)).complete).toBe(false);
    expect(signPsbtInput(second, 0, storeOf(KEYS[0]!)).complete).toBe(false);
    expect(isSameTransaction(first, second)).toBe(true);
    expect(await finalizePsbt(copyOf(first))).toBe(false);
    const merged = copyOf(first);
    combinePsbt(merged, copyOf(second));
    expect(merged.inputs[0]!.partialSignatures.size).toBe(2);
    expect(await finalizePsbt(merged)).toBe(true);
    expect(merged.inputs[0]!.redeemScript.length).toBe(0);
    const task = signingTask(extractTransaction(merged), NO_KEYS);
    expect(inputProblem(task, 0, funding.outputs[0]!)).toBeNull();
    expect(signPsbtInput(merged, 0, NO_KEYS).complete).toBe(true);
  });

  it('signs only witness inputs if the amount cannot be verified', () => {
    const script = scriptForDestination({ type: 'pubkeyhash', hash: hash160(KEYS[0]!.publicKey) });
    const { funding, psbt } = spending(script);
    psbt.inputs[0]!.witnessUtxo = funding.outputs[0]!;
    const before = toHex(formatPsbt(psbt));
    expect(signPsbtInput(psbt, 0, storeOf(KEYS[0]!)).complete).toBe(false);
    expect(toHex(formatPsbt(psbt))).toBe(before);
    psbt.inputs[0]!.witnessUtxo = null;
    expect(signPsbtInput(psbt, 0, storeOf(KEYS[0]!)).complete).toBe(false);
    psbt.inputs[0]!.nonWitnessUtxo = funding;
    expect(signPsbtInput(psbt, 0, storeOf(KEYS[0]!)).complete).toBe(true);
  });

  it('refuses a transaction that does not match', () => {
    const { funding, psbt } = spending(nested);
    const input = psbt.inputs[0]!;
    input.nonWitnessUtxo = { ...funding, lockTime: 1 };
    expect(spentOutput(psbt, 0)).toBeNull();
    input.nonWitnessUtxo = funding;
    expect(spentOutput(psbt, 0)).toBe(funding.outputs[0]);
    psbt.tx.inputs[0]!.prevout = { hash: txid(funding), index: 1 };
    expect(spentOutput(psbt, 0)).toBeNull();
    expect(signPsbtInput(psbt, 0, storeOf(KEYS[0]!)).complete).toBe(false);
  });

  it('reduces the previous transaction of a witness input to its output', () => {
    const { funding, psbt } = spending(nested);
    psbt.inputs[0]!.nonWitnessUtxo = funding;
    const store = storeOf(KEYS[0]!);
    store.addScript(program);
    store.addScript(multisig);
    const { complete, data } = signPsbtInput(psbt, 0, store);
    expect([complete, data.publicKeys.size]).toEqual([false, 3]);
    expect(psbt.inputs[0]).toMatchObject({ nonWitnessUtxo: null, witnessUtxo: { value: 500n } });
    const plain = spending(nested).psbt;
    plain.inputs[0]!.nonWitnessUtxo = funding;
    combinePsbt(plain, psbt);
    expect(plain.inputs[0]!.nonWitnessUtxo).toBeNull();
    expect(isPsbtSane(plain)).toBe(true);
    plain.inputs[0]!.nonWitnessUtxo = funding;
    expect(isPsbtSane(plain)).toBe(false);
  });

  it('limits the number of fields in a combined map', () => {
    const [full, other] = [spending(nested).psbt, spending(nested).psbt];
    const fields = ownMap(full, 'unknown');
    for (let n = 0; n < MAX_MAP_FIELDS; n++) fields.set(String(n), Buffer.of());
    combinePsbt(full, other);
    ownMap(other, 'unknown').set('7', Buffer.of(7));
    combinePsbt(full, other);
    expect(full.unknown.get('7')).toEqual(Buffer.of());
    ownMap(other, 'unknown').set('one more', Buffer.of());
    expect(() => combinePsbt(full, other)).toThrow('too many fields in one map');
  });

  it('adds known data of an output', () => {
    const { psbt } = spending(nested);
    const store = storeOf();
    store.addScript(program);
    store.addScript(multisig);
    ownMap(psbt.outputs[0]!, 'keyPaths').set(toLatin1(keyOf('d').publicKey), [1, 2]);
    expect(updatePsbtOutput(psbt, 0, store).publicKeys.size).toBe(4);
    expect(toHex(psbt.outputs[0]!.redeemScript)).toBe(toHex(program));
    expect(toHex(psbt.outputs[0]!.witnessScript)).toBe(toHex(multisig));
  });
});
