#!/usr/bin/env node
// Measures the time of a start and the memory of the node: on a fresh folder, on an imported bench chain (if a bootstrap file
// is given), and on 1.6 million synthetic headers. Then 1,000 regtest blocks by generatetoaddress.
//
//   npm run bench:start [-- <bootstrap file[.gz]>]
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { startRegtest } = await dist('testing/index.js');
const HEADERS = Number(process.env.LBCNODE_BENCH_HEADERS ?? 1_600_000);
/** Pays to the hash of twenty zero bytes. */
const ADDRESS = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';

const work = mkdtempSync(join(tmpdir(), 'bench-start-'));
if (!process.env.KEEP) process.on('exit', () => rmSync(work, { recursive: true, force: true }));

const residentMb = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function measure(name, dataDir, args) {
  const seconds = [];
  const memory = [];
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    const node = await startRegtest({ dataDir, args });
    seconds.push((performance.now() - began) / 1000);
    memory.push(residentMb(node.pid));
    await node.stop();
  }
  console.log(
    `${name}: ${median(seconds).toFixed(2)} s to "Done loading" (${seconds.map((s) => s.toFixed(2)).join(', ')}), ${median(memory).toFixed(0)} MB resident`,
  );
  return median(memory);
}

/** Fills a fresh folder with headers that follow the genesis block. */
async function makeHeaders(dataDir) {
  const { RowStore } = await dist('store/rows/rowStore.js');
  const { HeaderTable } = await dist('store/files/headerTable.js');
  const { formatChainState, parseChainState } = await dist('chain/connect/chainState.js');
  const { sha256 } = await dist('crypto/hash.js');
  const node = await startRegtest({ dataDir });
  await node.stop();
  const store = await RowStore.open({ path: join(dataDir, 'regtest', 'chainstate'), cacheBytes: 8 << 20 });
  const state = parseChainState(await store.get('T'));
  const table = new HeaderTable(store);
  await table.load(state.headerCount);
  await table.prepareTail();
  const seed = Buffer.alloc(4);
  for (let n = 1; n < HEADERS; n++) {
    seed.writeUInt32LE(n);
    const hash = sha256(seed);
    const header = {
      version: 0x20000000,
      prevHash: hash,
      merkleRoot: hash,
      claimRoot: hash,
      timeSec: 1446058291 + n,
      bits: 0x207fffff,
      nonce: n,
    };
    table.add(header, hash, n - 1, BigInt(n + 1) * 2n);
    if (n % 50_000 === 0) {
      table.writeDirty(store);
      await store.flush();
    }
  }
  table.writeDirty(store);
  store.put('T', formatChainState({ ...state, headerCount: table.count }));
  await store.flush();
  await store.close();
}

const empty = mkdtempSync(join(work, 'empty-'));
const base = await measure('fresh folder', empty, []);

const source = process.argv[2];
if (source) {
  let file = source;
  if (source.endsWith('.gz')) {
    file = join(work, 'bootstrap.dat');
    await pipeline(createReadStream(source), createGunzip(), createWriteStream(file));
  }
  const folder = mkdtempSync(join(work, 'chain-'));
  const args = ['-supportdelay=proportional'];
  const node = await startRegtest({
    dataDir: folder,
    args: [...args, `-loadblock=${file}`],
    timeoutMs: 600_000,
  });
  await node.stop();
  await measure('bench chain', folder, args);
}

const headers = mkdtempSync(join(work, 'headers-'));
await makeHeaders(headers);
const memory = await measure(`${HEADERS} headers`, headers, ['-checkblocks=1']);
console.log(`${(memory - base).toFixed(0)} MB more than a fresh folder`);

for (let i = 0; i < 3; i++) {
  const node = await startRegtest();
  const began = performance.now();
  await node.rpc('generatetoaddress', [1000, ADDRESS]);
  console.log(`1,000 blocks by generatetoaddress: ${((performance.now() - began) / 1000).toFixed(2)} s`);
  await node.stop();
}
