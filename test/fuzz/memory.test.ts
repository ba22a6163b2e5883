/**
 * Expensive inputs: counts of items that are missing, inputs with as many items as the format allows, and texts that a careless
 * parser processes in quadratic time. The time limit of a test detects a hang.
 */
import { describe, expect, it } from 'vitest';
import { loadBlock } from '../../src/chain/blocks/loadedBlock.js';
import { checkBlockView, contextualCheckBlockView } from '../../src/chain/connect/checkBlockView.js';
import { parseConfigText } from '../../src/node/options/configFile.js';
import { mainParams } from '../../src/params/main.js';
import { parseBlockBytes } from '../../src/primitives/block.js';
import { parseBlockFallback, parseTxFallback } from '../../src/primitives/blockScan.js';
import { parseBlockView, parseTxView } from '../../src/primitives/blockView.js';
import { parseTransaction } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, decodeDestination } from '../../src/script/address.js';
import { formatAsm } from '../../src/script/asm.js';
import { decodeSecret } from '../../src/script/wif.js';
import { JsonParseError, parseJson } from '../../src/util/json/jsonParse.js';
import { Reader, ReadError } from '../../src/util/reader.js';
import { Writer } from '../../src/util/writer.js';
import { native } from '../differential/support.js';
import { memoryOf } from '../support/memory.js';

const MIB = 1 << 20;
/** Memory growth after a thousand refused short inputs that is ignored, because garbage may not be collected yet. */
const NOISE_BYTES = 64 * MIB;

/** The maximum count, and larger ones. */
const COUNTS = ['fe00000002', 'fe01000002', 'feffffffff', 'ff0000000001000000', 'ffffffffffffffffff'];

/** The bytes of a transaction before each of its counts. */
const HEADS: Record<string, string> = {
  inputs: '01000000',
  'inputs behind the marker': '010000000001',
  'a scriptSig': `0100000001${'00'.repeat(36)}`,
  outputs: `0100000001${'00'.repeat(36)}00ffffffff`,
  'an output script': `0100000001${'00'.repeat(36)}00ffffffff01${'00'.repeat(8)}`,
  'a witness': `01000000000101${'00'.repeat(36)}00ffffffff01${'00'.repeat(8)}00`,
  'a witness item': `01000000000101${'00'.repeat(36)}00ffffffff01${'00'.repeat(8)}0001`,
};

function refusals(input: Buffer, parsers: readonly ((bytes: Buffer) => unknown)[]): void {
  for (const parse of parsers) {
    for (let i = 0; i < 100; i++) expect(() => parse(input)).toThrow(ReadError);
  }
}

describe('counts that exceed the data', () => {
  const transactions = [parseTxView, parseTxFallback, (bytes: Buffer) => parseTransaction(new Reader(bytes))];
  const blocks = [parseBlockView, parseBlockFallback, parseBlockBytes, loadBlock];

  it.each(Object.entries(HEADS))('of %s are refused at once', async (_name, head) => {
    const use = await memoryOf(() => {
      for (const count of COUNTS) {
        const tx = Buffer.from(`${head}${count}${'00'.repeat(50)}`, 'hex');
        refusals(tx, transactions);
        refusals(Buffer.concat([Buffer.alloc(112), Buffer.of(1), tx]), blocks);
      }
    });
    expect(use.keptBytes).toBeLessThan(NOISE_BYTES);
    expect(use.peakBytes).toBeLessThan(NOISE_BYTES);
  });

  it('of transactions are refused at once', async () => {
    const use = await memoryOf(() => {
      for (const count of COUNTS) refusals(Buffer.from(`${'00'.repeat(112)}${count}`, 'hex'), blocks);
    });
    expect(use.peakBytes).toBeLessThan(NOISE_BYTES);
  });
});

/** A block of up to 8 MB with only a coinbase and a valid merkle root. */
function blockOf(outputs: number, items: number, itemBytes: number): Buffer {
  const writer = new Writer(8 * MIB);
  writer.raw(Buffer.alloc(112)).compactSize(1).u32(1);
  if (items > 0) writer.u8(0).u8(1);
  writer.compactSize(1).raw(Buffer.alloc(32)).u32(0xffffffff).varBytes(Buffer.alloc(2)).u32(0);
  writer.compactSize(outputs).raw(Buffer.alloc(9 * outputs));
  if (items > 0) writer.compactSize(items).raw(Buffer.alloc(items * (1 + itemBytes), itemBytes));
  const block = writer.u32(0).finish();
  parseBlockView(block).merkleRoot.copy(block, 36);
  return block;
}

const RULES = { height: 1, bip34Height: 2, segwitActive: true, lockTimeCutoffSec: 0 };

describe('blocks with as many items as possible', () => {
  // An output is an object with a view and an amount. Witness items are not tested, because each is a view of 120 bytes.
  it.each([
    ['outputs', blockOf(220_000, 0, 0), null, 128],
    ['empty witness items', blockOf(1, 7_900_000, 0), 'unexpected-witness', 64],
    ['witness items', blockOf(1, 3_900_000, 1), 'unexpected-witness', 64],
  ])(
    'of %s are checked within the memory limit and leave nothing behind',
    async (name, bytes, reason, boundMib) => {
      const use = await memoryOf(() => {
        const block = loadBlock(bytes);
        expect(checkBlockView(block)).toBeNull();
        expect(contextualCheckBlockView(block, RULES)?.reason ?? null).toBe(reason);
      });
      console.log(`8 MB of ${name}: peak ${Math.round(use.peakBytes / MIB)} MiB`);
      expect(use.keptBytes).toBeLessThan(NOISE_BYTES);
      expect(use.peakBytes).toBeLessThan(boundMib * MIB);
    },
  );

  it.skipIf(native === null)(
    'of transactions are parsed by the addon, which gives its memory back',
    async () => {
      // Ten zero bytes are a transaction without inputs and outputs.
      const bytes = Buffer.concat([
        Buffer.alloc(112),
        Buffer.from('fe00350c00', 'hex'),
        Buffer.alloc(8_000_000),
      ]);
      const use = await memoryOf(() => {
        expect(parseBlockView(bytes).txCount).toBe(800_000);
        expect(checkBlockView(loadBlock(bytes))?.reason).toBe('bad-txnmrklroot');
        expect(() => parseBlockView(bytes.subarray(0, -1))).toThrow(ReadError);
      });
      expect(use.keptBytes).toBeLessThan(NOISE_BYTES);
      expect(use.peakBytes).toBeLessThan(512 * MIB);
    },
  );
});

describe('long texts', () => {
  const long = 4_000_000;
  const prefixes = addressPrefixesOf(mainParams);

  it.each([
    ['spaces within', `1${' '.repeat(long)}1`],
    ['digits', 'z'.repeat(long)],
    ['zeros', '1'.repeat(long)],
    ['a NUL', `1${'\0'.repeat(long)}`],
    ['bech32', `lbc1${'q'.repeat(long)}`],
  ])('of %s are refused as addresses at once', (_name, text) => {
    expect(decodeDestination(text, prefixes)).toBeNull();
    expect(decodeSecret(text, prefixes)).toBeNull();
  });

  it('of white space are a configuration file', () => {
    const entries = parseConfigText(`${' '.repeat(long)}a=1${'\t'.repeat(long)}2 ${' '.repeat(long)}`);
    expect(entries).toEqual([{ section: '', name: 'a', value: `1${'\t'.repeat(long)}2`, line: 1 }]);
  });

  it('of pushes are written as assembly', () => {
    expect(formatAsm(Buffer.alloc(long)).length).toBe(2 * long - 1);
  });

  it.each([
    ['one string', `"${'a'.repeat(long)}"`, true],
    ['escapes', `"${'\\n'.repeat(long)}"`, true],
    ['escaped pairs', `"${'\\ud83d\\ude00'.repeat(long / 8)}"`, true],
    ['unpaired halves', `"${'\\ud83d'.repeat(long / 8)}"`, false],
    ['digits', '9'.repeat(long), true],
    ['a fraction', `0.${'0'.repeat(long)}1`, true],
    ['an exponent', `1e${'9'.repeat(long)}`, true],
    ['nesting', '['.repeat(long), false],
    ['values', `[${'0,'.repeat(long)}0]`, false],
    ['open strings', '"\\"'.repeat(long), false],
  ])('of %s are parsed as JSON or refused', async (_name, text, valid) => {
    const use = await memoryOf(() => {
      if (valid) expect(parseJson(text)).not.toBeUndefined();
      else expect(() => parseJson(text)).toThrow(JsonParseError);
    });
    expect(use.keptBytes).toBeLessThan(NOISE_BYTES);
    expect(use.peakBytes).toBeLessThan(256 * MIB);
  });
});
