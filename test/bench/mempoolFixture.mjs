// Shared parts of the benchmarks of mempool and mining: an empty regtest chain in a temporary folder, mempools on it, and
// artificial coins in its cache.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** A module of the built node. */
export const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { openChain } = await dist('chain/open/openChain.js');
const { Mempool } = await dist('mempool/mempool.js');
const { regtestParams } = await dist('params/regtest.js');
const { SILENT_LOGGER } = await dist('util/logging.js');

const args = process.argv.slice(2);
/** A number from the command line: `--name 5`. */
export const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(args[at + 1]);
};

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-bench-'));
export const nowSec = () => Math.floor(Date.now() / 1000);
export const opened = await openChain({
  folder,
  blocksFolder: join(folder, 'blocks'),
  params: regtestParams,
  identity: { network: 'regtest', supportDelay: '100', claimRules: '', txIndex: false, proofWindow: '1' },
  supportDelay: 100,
  proofWindow: 1,
  cacheBytes: 1 << 30,
  claimCacheBytes: 64 << 20,
  batchBytes: 16 << 20,
  compacts: false,
  maxBlockFileBytes: 128 << 20,
  reindex: false,
  reindexChainstate: false,
  checkpoints: false,
  minimumChainWork: 0n,
  assumeValid: null,
  maxTipAgeSec: 1e12,
  stopAtHeight: 0,
  onStopHeight: () => undefined,
  onFatal: (error) => {
    throw error;
  },
  adjustedTimeSec: nowSec,
  contributors: [],
  signal: new AbortController().signal,
  log: SILENT_LOGGER,
});

export function newMempool(maxUsageBytes) {
  return new Mempool(
    {
      maxUsageBytes,
      expirySec: 1e9,
      minRelayFeeRatePerKb: 1000n,
      incrementalFeeRatePerKb: 1000n,
      allowsReplacement: true,
      requireStandard: false,
      standard: { maxDataCarrierBytes: 83, permitBareMultisig: true, dustFeeRatePerKb: 1000n },
      bytesPerSigop: 20,
      limits: {
        ancestorCount: 25,
        ancestorSizeBytes: 101000,
        descendantCount: 25,
        descendantSizeBytes: 101000,
      },
      checkEvery: 0,
      dumpPath: join(folder, 'mempool.dat'),
      persist: false,
    },
    { reader: opened.reader, nowSec, log: SILENT_LOGGER },
  );
}

let serial = 0;
/** Makes up an unspent output of the chain, in the coin cache. */
export function makeCoin(script) {
  const hash = Buffer.alloc(32);
  hash.writeUInt32LE(++serial, 0);
  hash.writeUInt32LE(Math.imul(serial, 0x9e3779b1) >>> 0, 8);
  hash[31] = 1;
  const outPoint = Buffer.concat([hash, Buffer.alloc(4)]);
  opened.chain.deps.coins.add(outPoint, { heightCode: 2, amount: 100_000n, script }, true);
  return { hash, index: 0 };
}

/** Closes the chain and removes its folder. */
export async function close() {
  await opened.close();
  rmSync(folder, { recursive: true, force: true });
}

/** The median. */
export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
