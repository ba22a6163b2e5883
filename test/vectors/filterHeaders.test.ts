/**
 * Compares compact filter headers of recorded chains with those of lbcd for the same blocks: the first blocks of the main chain,
 * and the first blocks of two regtest chains with claim operations, as far as lbcd accepts them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { buildFilter, FilterElements, filterHash, filterHeader } from '../../src/index/compactFilter.js';
import { parseBlockBytes } from '../../src/primitives/block.js';
import { formatHeader, headerHash } from '../../src/primitives/header.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatOutPoint, isCoinbase, txid } from '../../src/primitives/transaction.js';
import { decodeClaimScript } from '../../src/script/claimScript.js';
import { fromHex, fromLatin1, hashToHex, toHex, toLatin1, type Bytes } from '../../src/util/bytes.js';

const recorded = JSON.parse(readFileSync(new URL('./filterHeaders.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, string>
>;

const FILES: Readonly<Record<string, string>> = {
  mainnet: 'mainnet/blocks-0-434.hex.gz',
  'chain 1': 'chains/1/blocks.hex.gz',
  'chain 4': 'chains/4/blocks.hex.gz',
};

interface Place {
  readonly height: number;
  readonly header: Buffer;
}

/** The filter headers of all blocks of a file by height. Several blocks may have the same height. Ends after height `last`. */
function headersOf(lines: readonly string[], last: number): { at: Map<number, Set<string>>; claims: number } {
  const places = new Map<string, Place>();
  const scripts = new Map<string, Bytes>();
  const at = new Map<number, Set<string>>();
  let claims = 0;
  for (const line of lines) {
    const block = parseBlockBytes(fromHex(line));
    const hash = headerHash(formatHeader(block.header));
    const parent = places.get(hashToHex(block.header.prevHash)) ?? { height: -1, header: Buffer.alloc(32) };
    const height = parent.height + 1;
    if (height > last) continue;
    // Some of the recorded blocks spend missing outputs. They are not part of any chain.
    const spent = block.transactions
      .slice(1)
      .flatMap(({ inputs }) => inputs.map(({ prevout }) => toLatin1(formatOutPoint(prevout))));
    const made = new Set(block.transactions.map((tx) => hashToHex(txid(tx))));
    const isMade = (outPoint: string): boolean => made.has(hashToHex(fromLatin1(outPoint.slice(0, 32))));
    if (!spent.every((outPoint) => scripts.has(outPoint) || isMade(outPoint))) continue;
    const elements = new FilterElements();
    for (const tx of block.transactions) {
      for (const { prevout } of isCoinbase(tx) ? [] : tx.inputs)
        elements.addSpent(scripts.get(toLatin1(formatOutPoint(prevout)))!);
      const id = txid(tx);
      tx.outputs.forEach(({ script }, index) => {
        elements.addOutput(script);
        scripts.set(toLatin1(formatOutPoint({ hash: id, index })), script);
        if (decodeClaimScript(script) !== null) claims++;
      });
    }
    const header = filterHeader(filterHash(buildFilter(elements.list, hash)), parent.header);
    places.set(hashToHex(hash), { height, header });
    at.set(height, (at.get(height) ?? new Set()).add(hashToHex(header)));
  }
  return { at, claims };
}

describe('compact filter headers are those of lbcd', () => {
  it.each(Object.entries(FILES))('of %s', (name, path) => {
    const file = new URL(`../../../shared/conformance/${path}`, import.meta.url);
    if (!existsSync(file)) {
      console.log(`skipped: shared/conformance/${path} is not there`);
      return;
    }
    const wanted = Object.entries(recorded[name]!);
    const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n');
    const genesis = name === 'mainnet' ? [] : [toHex(regtestParams.genesis.block)];
    const { at, claims } = headersOf([...genesis, ...lines], Number(wanted.at(-1)![0]));
    for (const [height, header] of wanted) expect([height, ...at.get(Number(height))!]).toContain(header);
    if (name !== 'mainnet') expect(claims).toBeGreaterThan(10);
  });
});
