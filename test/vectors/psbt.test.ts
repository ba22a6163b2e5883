/** Vectors of BIP174: valid and invalid PSBTs, and the roles one after the other. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { emptyInput, formatTransaction, parseTransaction } from '../../src/primitives/transaction.js';
import { decodeSecret } from '../../src/script/wif.js';
import { ownMap, type Psbt, type PsbtOutput } from '../../src/signing/psbt.js';
import { formatPsbt, parsePsbt, PsbtError } from '../../src/signing/psbtCodec.js';
import {
  combinePsbt,
  createPsbt,
  extractTransaction,
  finalizePsbt,
  signPsbtInput,
} from '../../src/signing/psbtRoles.js';
import { MemoryKeyStore, signingKeyOf } from '../../src/signing/signingProvider.js';
import { fromHex, hashFromHex, toHex, toLatin1 } from '../../src/util/bytes.js';
import { Reader } from '../../src/util/reader.js';

interface OutputFields {
  keyPaths: Record<string, number[]>;
}

interface InputFields extends OutputFields {
  nonWitnessUtxo?: string;
  witnessUtxo?: { script: string; amountSat: string };
  redeemScript: string;
  witnessScript?: string;
}

interface Vectors {
  invalid: string[];
  valid: string[];
  creator: {
    inputs: { txid: string; vout: number }[];
    outputs: { script: string; amountSat: string }[];
    result: string;
  };
  updater: { inputs: InputFields[]; outputs: OutputFields[]; sighashType: number; result: string };
  signer: { privkeys: string[]; psbt: string; result: string }[];
  combiner: { combine: string[]; result: string }[];
  finalizer: { finalize: string; result: string }[];
  extractor: { extract: string; result: string }[];
}

const vectors = JSON.parse(readFileSync(new URL('psbt.json', import.meta.url), 'utf8')) as Vectors;
const parse = (text: string): Psbt => parsePsbt(Buffer.from(text, 'base64'));
const format = (psbt: Psbt): string => formatPsbt(psbt).toString('base64');

/** Prefixes of the network that the vectors were made for. */
const PREFIXES = {
  pubkeyHash: 111,
  scriptHash: 196,
  secretKey: 239,
  bech32Hrp: 'bcrt',
  extPublic: 0,
  extSecret: 0,
};

const HARDENED = 0x80000000;
/** d90c6a4f. */
const FINGERPRINT = 0x4f6a0cd9;

function fillKeyPaths(into: Pick<PsbtOutput, 'keyPaths'>, { keyPaths }: OutputFields): void {
  for (const [publicKey, path] of Object.entries(keyPaths)) {
    const children = path.map((child) => child + HARDENED);
    ownMap(into, 'keyPaths').set(toLatin1(fromHex(publicKey)), [FINGERPRINT, ...children]);
  }
}

function keysOf(privkeys: readonly string[]): MemoryKeyStore {
  const store = new MemoryKeyStore();
  for (const text of privkeys) {
    const { privateKey, compressed } = decodeSecret(text, PREFIXES)!;
    store.addKey(signingKeyOf(privateKey, compressed));
  }
  return store;
}

describe('BIP174', () => {
  it.each(vectors.invalid)('refuses %#', (text) => {
    expect(() => parse(text)).toThrow(PsbtError);
  });

  it.each(vectors.valid)('reads and writes %#', (text) => {
    const psbt = parse(text);
    const again = parse(format(psbt));
    // Written without their witnesses, which the id does not cover.
    for (const { nonWitnessUtxo } of psbt.inputs) {
      for (const input of nonWitnessUtxo?.inputs ?? []) input.witness = [];
    }
    expect(again).toEqual(psbt);
  });

  it('creates', () => {
    const { inputs, outputs, result } = vectors.creator;
    const psbt = createPsbt({
      version: 2,
      inputs: inputs.map(({ txid, vout }) => emptyInput({ hash: hashFromHex(txid), index: vout })),
      outputs: outputs.map(({ script, amountSat }) => ({
        value: BigInt(amountSat),
        script: fromHex(script),
      })),
      lockTime: 0,
    });
    expect(format(psbt)).toBe(result);
  });

  it('updates', () => {
    const { inputs, outputs, sighashType, result } = vectors.updater;
    const psbt = parse(vectors.creator.result);
    for (const [i, fields] of inputs.entries()) {
      const input = psbt.inputs[i]!;
      const { nonWitnessUtxo, witnessUtxo, redeemScript, witnessScript = '' } = fields;
      if (nonWitnessUtxo) input.nonWitnessUtxo = parseTransaction(new Reader(fromHex(nonWitnessUtxo)));
      if (witnessUtxo) {
        const { script, amountSat } = witnessUtxo;
        input.witnessUtxo = { value: BigInt(amountSat), script: fromHex(script) };
      }
      input.redeemScript = fromHex(redeemScript);
      input.witnessScript = fromHex(witnessScript);
      input.sighashType = sighashType;
      fillKeyPaths(input, fields);
    }
    for (const [i, fields] of outputs.entries()) fillKeyPaths(psbt.outputs[i]!, fields);
    // The vector has its fields in another order.
    expect(format(psbt)).toBe(format(parse(result)));
  });

  it.each(vectors.signer)('signs %#', ({ privkeys, psbt: text, result }) => {
    const psbt = parse(text);
    const keys = keysOf(privkeys);
    for (const index of psbt.inputs.keys()) signPsbtInput(psbt, index, keys);
    expect(format(psbt)).toBe(result);
  });

  it.each(vectors.combiner)('combines %#', ({ combine, result }) => {
    const [merged, ...others] = combine.map(parse);
    for (const other of others) combinePsbt(merged!, other);
    expect(format(merged!)).toBe(result);
  });

  it.each(vectors.finalizer)('finalizes %#', async ({ finalize, result }) => {
    const psbt = parse(finalize);
    expect(await finalizePsbt(psbt)).toBe(true);
    expect(format(psbt)).toBe(result);
  });

  it.each(vectors.extractor)('extracts %#', ({ extract, result }) => {
    expect(toHex(formatTransaction(extractTransaction(parse(extract))))).toBe(result);
  });
});
