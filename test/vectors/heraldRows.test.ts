/**
 * Rows of a Go hub's database, of the main network and of a regtest chain made by lbcd. They can be parsed, our rules find the
 * same in them as the hub, and the short URLs of their claims equal those of herald.go.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { normalizeKey } from '../../src/claimtrie/nameKey.js';
import { nameOrderKey } from '../../src/index/claims/claimIndexKeys.js';
import { nameText } from '../../src/index/claims/claimRecords.js';
import { NameOrders, oldestWith, shortDigits, type ClaimOrder } from '../../src/index/claims/nameOrders.js';
import { decodeClaim } from '../../src/metadata/claim.js';
import { parseUrl } from '../../src/metadata/url.js';
import { mainParams } from '../../src/params/main.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatHeader, headerHash, parseHeaderBytes } from '../../src/primitives/header.js';
import { formatTransaction, parseTransaction, txid } from '../../src/primitives/transaction.js';
import { decodeClaimScript } from '../../src/script/claimScript.js';
import { loadBlock } from '../../src/chain/blocks/loadedBlock.js';
import { Reader } from '../../src/util/reader.js';
import { Writer } from '../../src/util/writer.js';
import { MemoryRows } from '../support/memoryRows.js';
import { TestChain } from '../support/testChain.js';
import { heraldFolder, parseHeraldRow, readHeraldRows, readRocksLog, type HeraldRow } from './heraldRows.js';

const folder = heraldFolder();
const rows = folder === null ? [] : readHeraldRows(folder);
const of = (kind: string): HeraldRow[] => rows.filter((row) => row.kind === kind);
const latin1 = (bytes: Buffer): string => bytes.toString('latin1');
const wireOrder = (printed: Buffer): Buffer => Buffer.from(printed).reverse();

/** A claim with known first digits of its id, and a known first output. */
interface Known {
  readonly group: string;
  readonly root: string;
  readonly rootTx: number;
  readonly rootNout: number;
  digits: string;
}

const rootOf = ({ numbers }: HeraldRow): string => `${numbers['rootTx']}:${numbers['rootNout']}`;

/** The claims of one file's lists that are sorted by the first digits of their ids. */
function knownClaims(file: string): Known[] {
  const claims = new Map<string, Known>();
  for (const row of of('F').filter((one) => one.file === file)) {
    const { numbers, bytes } = row;
    const root = rootOf(row);
    const group = latin1(bytes['name']!);
    const digits = latin1(bytes['digits']!);
    const claim = claims.get(group + root) ?? {
      group,
      root,
      rootTx: Number(numbers['rootTx']),
      rootNout: Number(numbers['rootNout']),
      digits: '',
    };
    if (digits.length > claim.digits.length) claim.digits = digits;
    claims.set(group + root, claim);
  }
  return [...claims.values()];
}

/** An id with the known first digits, in printed order. The other digits are arbitrary and distinguish claims. */
const idOf = ({ digits, rootTx }: Known): Buffer =>
  Buffer.from((digits + rootTx.toString(16).padStart(40 - digits.length, '0')).slice(0, 40), 'hex');

/** The claims of a name as the index stores and reads them. The numbers of transactions are used as heights. */
async function orderOf(claims: readonly Known[], group: string): Promise<ClaimOrder> {
  const store = new MemoryRows();
  const change = store.begin();
  for (const claim of claims)
    if (claim.group === group)
      change.put(nameOrderKey(group, claim.rootTx, 0, claim.rootNout), wireOrder(idOf(claim)));
  change.commit();
  return new NameOrders().of(store, group);
}

describe.skipIf(folder === null)('the rows of herald.go', () => {
  it('parse, every one', () => {
    const kinds = new Map<string, number>();
    for (const { kind } of rows) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    console.log(`${rows.length} rows of ${kinds.size} kinds`);
    expect(kinds.size).toBeGreaterThanOrEqual(25);
    for (const { bytes } of of('Y')) expect(bytes['claims']!.length % 20).toBe(0);
  });

  it('have names that our normalization leaves as they are', () => {
    const normalized = rows.filter(({ kind, bytes }) => 'DFJPR'.includes(kind) && bytes['name']);
    expect(normalized.length).toBeGreaterThan(50);
    for (const { bytes } of normalized)
      expect(normalizeKey(latin1(bytes['name']!))).toBe(latin1(bytes['name']!));
  });

  it('have headers and transactions with the ids that we compute', () => {
    const hashes = new Map(of('C').map(({ numbers, bytes }) => [numbers['height'], bytes['blockHash']!]));
    for (const { numbers, bytes } of of('H')) {
      const header = parseHeaderBytes(bytes['header']!);
      expect(formatHeader(header)).toEqual(bytes['header']);
      expect(headerHash(bytes['header']!)).toEqual(hashes.get(numbers['height']));
    }
    for (const { bytes } of of('s')) expect(wireOrder(bytes['genesis']!)).toEqual(mainParams.genesisHash);
    let claims = 0;
    for (const { bytes } of of('B')) {
      const reader = new Reader(bytes['raw']!);
      const tx = parseTransaction(reader);
      expect(reader.remaining).toBe(0);
      expect(formatTransaction(tx)).toEqual(bytes['raw']);
      expect(txid(tx)).toEqual(bytes['txid']);
      for (const { script } of tx.outputs) {
        const claim = decodeClaimScript(script);
        if (!claim || claim.kind === 'support') continue;
        expect(decodeClaim(claim.value!).kind).not.toBeNull();
        claims++;
      }
    }
    console.log(`${of('H').length} headers, ${of('B').length} transactions with ${claims} claims`);
  });

  it('have the sums of active amounts that they add up to', () => {
    const CLAIM = 1n;
    const amounts = of('i').filter(
      ({ file, bytes }) => file === 'Si_resolve.csv' && bytes['ofSupports']!.length > 0,
    );
    expect(amounts.length).toBe(2);
    for (const { numbers, bytes } of amounts) {
      const active = of('S').filter(
        (row) => row.file === 'Si_resolve.csv' && row.bytes['claim']!.equals(bytes['claim']!),
      );
      const sum = (own: boolean): bigint =>
        active
          .filter((row) => own || row.numbers['type'] !== CLAIM)
          .reduce((total, row) => total + row.numbers['amount']!, 0n);
      expect(sum(true)).toBe(numbers['amount']);
      expect(sum(false)).toBe(bytes['ofSupports']!.readBigUInt64BE());
    }
  });

  it('give the short URLs of herald.go', async () => {
    // Source: herald.go db/db_get.go `GetShortClaimIdUrl`. It adds digits until the first row with this prefix is that of the
    // claim.
    let urls = 0;
    let prefixes = 0;
    for (const file of new Set(of('F').map((row) => row.file))) {
      const claims = knownClaims(file);
      const listed = of('F').filter((row) => row.file === file);
      for (const claim of claims) {
        const order = await orderOf(claims, claim.group);
        let expected: string | null = null;
        for (let size = 1; size <= claim.digits.length; size++) {
          const digits = claim.digits.slice(0, size);
          const first = listed.find(
            ({ bytes }) => latin1(bytes['name']!) === claim.group && latin1(bytes['digits']!) === digits,
          );
          if (!first) continue;
          const root = rootOf(first);
          const led = claims.find((one) => one.group === claim.group && one.root === root)!;
          expect(oldestWith(order, digits)).toEqual(wireOrder(idOf(led)));
          prefixes++;
          if (root === claim.root) expected ??= digits;
        }
        // Lists are truncated. Claims beyond the end are not checked.
        if (expected === null) continue;
        expect(shortDigits(order, wireOrder(idOf(claim)))).toBe(expected);
        urls++;
      }
    }
    console.log(`${urls} short URLs, ${prefixes} beginnings of ids`);
    expect(urls).toBeGreaterThanOrEqual(8);
  });

  it('lead from a short URL to the claim that they say', async () => {
    const file = 'FULL_resolve.csv';
    const claim = of('E').find((row) => row.file === file)!;
    const name = nameText(claim.bytes['name']!);
    const claims = knownClaims(file);
    const group = normalizeKey(latin1(claim.bytes['name']!));
    const controlling = of('P').find((row) => row.file === file && latin1(row.bytes['name']!) === group)!;
    const filed = claims.find(({ rootTx }) => BigInt(rootTx) === claim.numbers['rootTx'])!;
    const id = claim.bytes['claim']!;
    expect(id.toString('hex').startsWith(filed.digits)).toBe(true);
    filed.digits = id.toString('hex');
    const order = await orderOf(claims, group);
    const digits = shortDigits(order, wireOrder(id));
    expect(`${name}#${digits}`).toBe('@Styxhexenhammer666#2');
    const url = parseUrl(`lbry://${name}#${digits}`)!;
    expect(oldestWith(order, url.channel!.claimId!)).toEqual(wireOrder(id));
    expect(controlling.bytes['claim']).toEqual(id);
    expect(['5', '5f', 'c', 'c3a'].map((of) => latin1(wireOrder(oldestWith(order, of)!)).length)).toEqual([
      20, 20, 20, 20,
    ]);
    expect(oldestWith(order, '3')).toBeNull();
  });

  it('hold a regtest chain that connects', async () => {
    const log = readFileSync(join(folder!, 'test_variety_of_transactions', 'lbry-rocksdb', '000005.log'));
    const stored = readRocksLog(log);
    const row = (kind: string, key: Buffer): HeraldRow =>
      parseHeraldRow(
        'log',
        Buffer.concat([Buffer.from(kind), key]),
        stored.get(kind.charCodeAt(0).toString(16) + key.toString('hex'))!,
      );
    const state = row('s', Buffer.alloc(0));
    const chain = await TestChain.open();
    let transactions = 0;
    try {
      const tip = Number(state.numbers['height']);
      expect(wireOrder(state.bytes['genesis']!)).toEqual(regtestParams.genesisHash);
      for (let height = 1; height <= tip; height++) {
        const at = new Writer(4).u32be(height).finish();
        const { header } = row('H', at).bytes;
        const { txids } = row('b', at).bytes;
        const raw: Buffer[] = [];
        for (let offset = 0; offset < txids!.length; offset += 32)
          raw.push(row('B', txids!.subarray(offset, offset + 32)).bytes['raw']!);
        transactions += raw.length;
        const block = loadBlock(
          Buffer.concat([header!, new Writer(9).compactSize(raw.length).finish(), ...raw]),
        );
        chain.timeSec = Math.max(chain.timeSec, block.header.timeSec);
        await chain.opened.chain.processBlock(block, true);
        expect(chain.opened.chain.height).toBe(height);
      }
      const { active, headers } = chain.opened.chain.index;
      expect(headers.hash(active.at(tip))).toEqual(state.bytes['tip']);
      console.log(`${tip} blocks with ${transactions} transactions`);
    } finally {
      await chain.close();
    }
  });
});
