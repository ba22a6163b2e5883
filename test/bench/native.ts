/**
 * Micro benchmarks of the addon and its fallbacks: parsing, coin table, signatures. Prints the processor time per item, because
 * other programs affect it less than the time of the clock, and the time of the clock where threads are used.
 *
 *   npx vite-node test/bench/native.ts
 */
import { hash160 } from '../../src/crypto/hash.js';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { formatDer } from '../../src/crypto/ecdsaEncoding.js';
import {
  loadNative,
  nativeUnavailableReason,
  type NativeAddon,
  type ParsedBlock,
} from '../../src/native/binding.js';
import { parseBlockFallback } from '../../src/primitives/blockScan.js';
import { formatOutPoint, formatTransaction, type Transaction } from '../../src/primitives/transaction.js';
import { SCRIPT_VERIFY } from '../../src/script/flags.js';
import { SIG_VERSION, signatureHash } from '../../src/script/sighash.js';
import { formatCoinRow } from '../../src/store/cache/coinRow.js';
import { CoinTableFallback } from '../../src/store/cache/coinTableFallback.js';
import type { CoinTable } from '../../src/store/cache/coinTable.js';
import { Random, coinbaseTx, formatRawBlock } from '../differential/support.js';

const TXS = 1000;
const FLAGS = SCRIPT_VERIFY.P2SH | SCRIPT_VERIFY.WITNESS | SCRIPT_VERIFY.DERSIG | SCRIPT_VERIFY.NULLDUMMY;

/** Processor and wall-clock microseconds per item, the best of a few rounds. */
async function measure(
  items: number,
  run: () => unknown,
  rounds = 5,
): Promise<{ cpu: number; wall: number }> {
  let cpu = Infinity;
  let wall = Infinity;
  for (let i = 0; i < rounds; i++) {
    const cpuStart = process.cpuUsage();
    const wallStart = process.hrtime.bigint();
    await run();
    wall = Math.min(wall, Number(process.hrtime.bigint() - wallStart) / 1000 / items);
    const used = process.cpuUsage(cpuStart);
    cpu = Math.min(cpu, (used.user + used.system) / items);
  }
  return { cpu, wall };
}

function print(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(62)} ${value.toFixed(value < 10 ? 3 : 1).padStart(10)} ${unit}`);
}

interface Sample {
  block: Buffer;
  /** Serialized coins of all inputs in order, without the coinbase's input. */
  rows: Buffer[];
}

/** A block of `TXS` transactions, two signed inputs and two outputs each. */
function makeSample(random: Random, witness: boolean, keyCount: number): Sample {
  const keys = Array.from({ length: keyCount }, () => random.bytes(32));
  const publicKeys = keys.map((key) => ecdsaBackend().publicKeyOf(key, true));
  const hashes = publicKeys.map((key) => hash160(key));
  const lock = (hash: Buffer) => Buffer.concat([Buffer.of(0x76, 0xa9, 20), hash, Buffer.of(0x88, 0xac)]);
  const rows: Buffer[] = [];
  const txs = [formatTransaction(coinbaseTx(random, 1))];
  for (let t = 0; t < TXS; t++) {
    const tx: Transaction = {
      version: 1,
      inputs: [0, 1].map(() => ({
        prevout: { hash: random.bytes(32), index: random.below(4) },
        scriptSig: Buffer.alloc(0),
        sequence: 0xffffffff,
        witness: [],
      })),
      outputs: [0, 1].map(() => ({ value: random.amount(), script: lock(random.bytes(20)) })),
      lockTime: 0,
    };
    tx.inputs.forEach((input, i) => {
      const k = (2 * t + i) % keyCount;
      const code = lock(hashes[k]!);
      const version = witness ? SIG_VERSION.WITNESS_V0 : SIG_VERSION.BASE;
      const hash = signatureHash(code, tx, i, 1, 1000n, version);
      const signature = Buffer.concat([
        formatDer(ecdsaBackend().sign(hash, keys[k]!, null).compact),
        Buffer.of(1),
      ]);
      const script = witness ? Buffer.concat([Buffer.of(0, 20), hashes[k]!]) : code;
      if (witness) input.witness = [signature, publicKeys[k]!];
      else
        input.scriptSig = Buffer.concat([
          Buffer.of(signature.length),
          signature,
          Buffer.of(33),
          publicKeys[k]!,
        ]);
      rows.push(formatCoinRow({ heightCode: 2, amount: 1000n, script }));
    });
    txs.push(formatTransaction(tx));
  }
  return { block: formatRawBlock(random, txs), rows };
}

async function benchParsing(native: NativeAddon, sample: Sample): Promise<void> {
  const { block } = sample;
  console.log(
    `\nparsing a block of ${TXS} two-input transactions, ${block.length} bytes (ids, sigops, both merkle roots)`,
  );
  print('  addon', (await measure(50, () => repeat(50, () => native.parseBlock(block)))).cpu, 'us a block');
  print('  fallback', (await measure(2, () => repeat(2, () => parseBlockFallback(block)))).cpu, 'us a block');
}

function repeat(times: number, run: () => unknown): void {
  for (let i = 0; i < times; i++) run();
}

function tableWith(native: NativeAddon, sample: Sample, parsed: ParsedBlock): CoinTable {
  const table = new native.CoinTable();
  table.load(table.missing(sample.block, parsed, false), sample.rows);
  return table;
}

async function benchVerification(native: NativeAddon, random: Random): Promise<void> {
  console.log('\nverifying signatures (sighash, cache lookup, key, ECDSA)');
  for (const witness of [false, true]) {
    for (const keyCount of [2 * TXS, 64]) {
      const sample = makeSample(random, witness, keyCount);
      const parsed = native.parseBlock(sample.block);
      const resolved = tableWith(native, sample, parsed).resolve(sample.block, parsed, 5, false);
      const job = { block: sample.block, parsed, resolved, flags: FLAGS };
      const name = `  ${witness ? 'P2WPKH' : 'P2PKH'}, ${keyCount} keys`;
      for (const threads of [1, 2]) {
        native.setVerifyThreads(threads);
        const { cpu, wall } = await measure(2 * TXS, () => native.verifyInputs(job));
        print(`${name}, ${threads} threads, clock`, wall, 'us a signature');
        print(`${name}, ${threads} threads, processor`, cpu, 'us a signature');
      }
    }
  }
}

async function benchCoinTable(make: () => CoinTable, count: number, name: string): Promise<void> {
  console.log(`\n${name}, ${count} coins (P2PKH)`);
  const random = new Random(7);
  const keys = Array.from({ length: count }, (_, i) =>
    formatOutPoint({ hash: random.bytes(32), index: i & 3 }),
  );
  const coin = { heightCode: 10, amount: 1n, script: Buffer.alloc(25) };
  coin.script.set([0x76, 0xa9, 20]);
  coin.script.set([0x88, 0xac], 23);
  const rssBefore = process.memoryUsage.rss();
  const table = make();
  const add = await measure(count, () => keys.forEach((key) => table.add(key, coin, false)), 1);
  print('  add, a call each', add.cpu * 1000, 'ns');
  print('  memory by its own account', table.usageBytes / count, 'bytes a coin');
  print('  growth of the process', (process.memoryUsage.rss() - rssBefore) / count, 'bytes a coin');
  print(
    '  get, a call each',
    (await measure(count, () => keys.forEach((key) => table.get(key)), 1)).cpu * 1000,
    'ns',
  );
  let bytes = 0;
  const take = await measure(
    count,
    () => {
      for (let part = table.takeDirty(16 << 20); part; part = table.takeDirty(16 << 20)) bytes += part.length;
    },
    1,
  );
  print(`  takeDirty (${(bytes / 1e6).toFixed(0)} MB)`, take.cpu * 1000, 'ns a coin');
  print(
    '  spend, a call each',
    (await measure(count, () => keys.forEach((key) => table.spend(key)), 1)).cpu * 1000,
    'ns',
  );
}

async function benchBlocks(
  native: NativeAddon,
  make: () => CoinTable,
  sample: Sample,
  name: string,
): Promise<void> {
  const parsed = native.parseBlock(sample.block);
  const ops = parsed.txCount * 4;
  const steps = { missing: 0, load: 0, resolve: 0, apply: 0 };
  const rounds = 20;
  for (let round = 0; round < rounds; round++) {
    const table = make();
    let keys: Buffer = Buffer.alloc(0);
    steps.missing += (await measure(ops, () => (keys = table.missing(sample.block, parsed, false)), 1)).wall;
    steps.load += (await measure(ops, () => table.load(keys, sample.rows), 1)).wall;
    steps.resolve += (await measure(ops, () => table.resolve(sample.block, parsed, 5, false), 1)).wall;
    steps.apply += (await measure(ops, () => table.apply(sample.block, parsed, 5), 1)).wall;
  }
  console.log(`\n${name}: one block of ${TXS} transactions, 2 coins spent and 2 made each`);
  for (const [step, time] of Object.entries(steps)) print(`  ${step}`, (time / rounds) * ops, 'us a block');
}

const native = loadNative();
if (!native) throw new Error(`no addon: ${nativeUnavailableReason()}`);
console.log(`libsecp256k1: ${native.secp256k1}; SHA-256: ${native.sha256Implementation}`);
const random = new Random(1);
const sample = makeSample(random, false, 64);
await benchParsing(native, sample);
await benchParsing(native, makeSample(random, true, 64));
await benchVerification(native, random);
await benchBlocks(native, () => new native.CoinTable(), sample, 'coin table (addon)');
await benchBlocks(native, () => new CoinTableFallback(), sample, 'coin table (fallback)');
await benchCoinTable(() => new native.CoinTable(), 1_000_000, 'coin table (addon)');
await benchCoinTable(() => new CoinTableFallback(), 200_000, 'coin table (fallback)');
