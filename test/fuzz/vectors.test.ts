/** The committed corpus: every input has the outcome that was reviewed for it, and satisfies the invariants of its target. */
import { describe, expect, it } from 'vitest';
import { normalizeName } from '../../src/claimtrie/normalize.js';
import { sha256 } from '../../src/crypto/hash.js';
import { formatAsm } from '../../src/script/asm.js';
import { claimPrefixLength } from '../../src/script/claimScript.js';
import { toHex } from '../../src/util/bytes.js';
import { readVectors, vectorBytes, vectorText, type VectorText } from './support/vectors.js';
import { checkBlockBytes } from './targets/block.js';
import { checkClaimScript } from './targets/claimScript.js';
import { checkConfigText, checkWords } from './targets/config.js';
import { checkName } from './targets/name.js';
import { answerTo, checkJsonText } from './targets/rpcBody.js';
import { checkSpend } from './targets/script.js';
import { checkAddressText, checkScriptText } from './targets/scriptText.js';
import { checkTransactionBytes } from './targets/transaction.js';

interface Case {
  readonly name: string;
  readonly outcome: string;
}

function cases<T>(file: string): [string, T & Case][] {
  return readVectors<T & Case>(file).map((row) => [row.name, row]);
}

describe('blocks', () => {
  it.each(cases<{ block: string }>('block'))('%s', (_name, { block, outcome }) => {
    expect(checkBlockBytes(vectorBytes(block))).toBe(outcome);
  });
});

describe('transactions', () => {
  it.each(cases<{ transaction: string }>('transaction'))('%s', (_name, { transaction, outcome }) => {
    expect(checkTransactionBytes(vectorBytes(transaction))).toBe(outcome);
  });
});

interface SpendCase {
  scriptSig: string;
  scriptPubKey: string;
  witness: string[];
  flags: number;
}

describe('spends', () => {
  const input = (index: number) => ({
    prevout: { hash: Buffer.alloc(32, 7), index },
    scriptSig: Buffer.alloc(0),
    sequence: 5,
    witness: [],
  });
  const tx = {
    version: 2,
    inputs: [input(0), input(1)],
    outputs: [{ value: 1n, script: Buffer.of(0x51) }],
    lockTime: 100,
  };

  it.each(cases<SpendCase>('script'))('%s', (_name, { scriptSig, scriptPubKey, witness, flags, outcome }) => {
    const spend = {
      tx,
      amount: 1n,
      scriptSig: vectorBytes(scriptSig),
      scriptPubKey: vectorBytes(scriptPubKey),
      witness: witness.map(vectorBytes),
      flags,
    };
    expect(checkSpend(spend)).toBe(outcome);
  });
});

describe('scripts as text', () => {
  it.each(cases<{ script: string; asm: string }>('scriptText'))('%s', (_name, { script, asm, outcome }) => {
    expect(checkScriptText(vectorBytes(script))).toBe(outcome);
    expect(formatAsm(vectorBytes(script), true)).toBe(asm);
  });
});

describe('addresses', () => {
  it.each(cases<{ text: VectorText }>('address'))('%s', (_name, { text, outcome }) => {
    expect(checkAddressText(vectorText(text))).toBe(outcome);
  });
});

describe('claim scripts', () => {
  it.each(cases<{ script: string; prefixLength: number }>('claimScript'))(
    '%s',
    (_name, { script, prefixLength, outcome }) => {
      expect(checkClaimScript(vectorBytes(script))).toBe(outcome);
      expect(claimPrefixLength(vectorBytes(script))).toBe(prefixLength);
    },
  );
});

describe('names', () => {
  // Long results are stored as their hash.
  it.each(cases<{ bytes: string; normalized: string }>('name'))(
    '%s',
    (_name, { bytes, normalized, outcome }) => {
      const name = vectorBytes(bytes);
      expect(checkName(name)).toBe(outcome);
      const result = normalizeName(name);
      expect(toHex(result.length > 99 ? sha256(result) : result)).toBe(normalized);
    },
  );
});

describe('JSON', () => {
  it.each(cases<{ text: VectorText }>('json'))('%s', async (_name, { text, outcome }) => {
    expect(await checkJsonText(vectorText(text))).toBe(outcome);
  });
});

describe('RPC bodies', () => {
  it.each(cases<{ body: VectorText; status: number; answer: string }>('rpcBody'))(
    '%s',
    async (_name, { body, status, answer }) => {
      expect(await answerTo(Buffer.from(vectorText(body)))).toEqual({ status, text: answer });
    },
  );

  it('bytes that are not UTF-8', async () => {
    const { status, text } = await answerTo(Buffer.of(0x22, 0xff, 0xfe, 0x22));
    expect(status).toBe(500);
    expect(text).toBe('{"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}\n');
  });
});

describe('options', () => {
  it.each(cases<{ text?: string; words?: VectorText[] }>('config'))(
    '%s',
    (_name, { text, words, outcome }) => {
      expect(text === undefined ? checkWords(words!.map(vectorText)) : checkConfigText(text)).toBe(outcome);
    },
  );
});
