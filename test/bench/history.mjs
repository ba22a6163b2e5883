#!/usr/bin/env node
// Measures lookups of names after a block far in the past and at the tip: a claim store on the real database with some thousand
// names and many blocks, most of them empty. Prints the microseconds of a lookup, for names that rarely change and for one that
// is updated and supported in many blocks.
//
//   npm run bench:history [-- --blocks 100000]
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const dist = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { RowStore } = await dist('store/rows/rowStore.js');
const { ClaimStore } = await dist('store/claims/claimStore.js');
const { RECENT_SHARES } = await dist('store/claims/rows/claimKeys.js');
const { claimReader } = await dist('rpc/lookup/claimReader.js');

const args = process.argv.slice(2);
const at = args.indexOf('--blocks');
const blocks = at < 0 ? 100_000 : Number(args[at + 1]);
/** Number of names that are claimed once and never changed. */
const QUIET = 5000;
/** The busy name is updated or supported once in this number of blocks. */
const HOT_EVERY = 5;
const DIRTY_BYTES = 64 << 20;
const rules = {
  originalExpiration: 262974,
  extendedExpiration: 2102400,
  extendedExpirationForkHeight: 1,
  normalizationForkHeight: 1,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 2,
  supportDelay: 'proportional',
};

const folder = mkdtempSync(join(tmpdir(), 'bench-history-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const store = await RowStore.open({
  path: join(folder, 'rows'),
  cacheBytes: 32 << 20,
  recent: { shares: RECENT_SHARES, maxBytes: 224 << 20 },
});
const claims = new ClaimStore({ rules, proofWindow: 5000 });
const active = { height: -1, tip: -1, disconnects: 0 };

const hash = (text) => createHash('sha256').update(text).digest();
const nameOf = (n) => Buffer.from(`quiet-${hash(`n${n}`).toString('hex').slice(0, 12)}`);
const HOT = Buffer.from('hot');
let made = 0;
const transaction = (spends, outputs) => ({
  txid: hash(`tx${made++}`),
  txOffset: 200 * (made % 50),
  spends,
  outputs,
});
const claimOf = (name) => ({ n: 0, kind: 'claim', hasMetadata: false, name, amount: 1000n });

async function connect(transactions) {
  const height = active.height + 1;
  const rows = store.begin();
  await claims.connect(rows, { height, transactions });
  store.commit(rows);
  active.height = active.tip = height;
  if (store.dirtyBytes > DIRTY_BYTES) await store.flush();
}

await connect([]);
await connect([]);
for (let n = 0; n < QUIET; n += 50)
  await connect(Array.from({ length: 50 }, (_, i) => transaction([], [claimOf(nameOf(n + i))])));
const { hash160 } = await dist('crypto/hash.js');
let hot = transaction([], [claimOf(HOT)]);
const hotId = hash160(Buffer.concat([hot.txid, Buffer.alloc(4)]));
await connect([hot]);
let hotHeight = active.height;
const grown = active.height;
const began = performance.now();
for (let n = 0; n < blocks; n++) {
  if (n % HOT_EVERY !== 0) await connect([]);
  else if (n % (2 * HOT_EVERY) === 0) {
    const spend = {
      txid: hot.txid,
      n: 0,
      coinHeight: hotHeight,
      kind: hotHeight === grown ? 'claim' : 'update',
      hasMetadata: false,
      name: HOT,
      claimId: hotId,
      amount: 1000n,
    };
    hot = transaction(
      [spend],
      [{ n: 0, kind: 'update', hasMetadata: false, name: HOT, claimId: hotId, amount: 1000n }],
    );
    hotHeight = active.height + 1;
    await connect([hot]);
  } else {
    // A support that leaves no rows: it is created and spent in one block.
    const made = transaction(
      [],
      [{ n: 0, kind: 'support', hasMetadata: false, name: HOT, claimId: hotId, amount: 5n }],
    );
    const gone = {
      txid: made.txid,
      n: 0,
      coinHeight: active.height + 1,
      kind: 'support',
      hasMetadata: false,
      name: HOT,
      claimId: hotId,
      amount: 5n,
    };
    await connect([made, transaction([gone], [])]);
  }
}
await store.flush();
console.log(`${blocks} blocks in ${((performance.now() - began) / 1000).toFixed(1)} s`);

const reader = claimReader(store, claims, active);
async function measure(label, names, height) {
  const once = async (rounds) => {
    const before = process.cpuUsage();
    for (let i = 0; i < rounds; i++) {
      await reader.nameAt({ name: names[i % names.length], height });
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / rounds;
  };
  await once(5000);
  const times = [];
  for (let i = 0; i < 7; i++) times.push(await once(2000));
  console.log(
    `${label.padEnd(36)} ${times
      .sort((a, b) => a - b)[3]
      .toFixed(1)
      .padStart(8)} us of processor time`,
  );
}
const quiet = Array.from({ length: 1000 }, (_, i) => nameOf(i * (QUIET / 1000)));
const back = Math.max(grown, active.height - 100_000);
await measure('quiet names, tip', quiet, active.height);
await measure('quiet names, one block back', quiet, active.height - 1);
await measure(`quiet names, ${active.height - back} blocks back`, quiet, back);
await measure('hot name, tip', [HOT], active.height);
await measure('hot name, one block back', [HOT], active.height - 1);
await measure(`hot name, ${active.height - back} blocks back`, [HOT], back + 20);
await store.close();
