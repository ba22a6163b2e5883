/** The addon connects the claims of ordinary blocks with the same rows, roots and changes as `connectClaims`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blockClaims } from '../../src/chain/connect/blockClaims.js';
import type { LoadedBlock } from '../../src/chain/blocks/loadedBlock.js';
import { findById, findClaim } from '../../src/claimtrie/nameState.js';
import type { ClaimBlock, ClaimRules } from '../../src/claimtrie/types.js';
import type { ResolvedInputs } from '../../src/native/binding.js';
import { claimPrefixLength } from '../../src/primitives/scriptScan.js';
import { ClaimStore, type TrieChanges } from '../../src/store/claims/claimStore.js';
import { packOperations } from '../../src/store/claims/packedOperations.js';
import type { LevelDb } from '../../src/store/leveldb/levelDb.js';
import { makeLevelDb } from '../../src/store/leveldb/makeLevelDb.js';
import { RecordWriter } from '../../src/store/rows/rowRecords.js';
import type { RowSource } from '../../src/store/rows/rows.js';
import type { Bytes } from '../../src/util/bytes.js';
import { ClaimLife, LIFE_NAMES } from '../support/claimLife.js';
import { IS_LONG } from '../support/long.js';
import { MemoryRows, MemoryTransaction } from '../support/memoryRows.js';
import { addon, native, Random, randomBlock, randomScript } from './support.js';

/** A transaction whose committed rows the addon can read, in a table and in caches. */
class NativeTransaction extends MemoryTransaction {
  readonly source: RowSource;

  constructor(rows: MemoryRows, source: RowSource) {
    super(rows);
    this.source = source;
  }

  sourceOf(): RowSource {
    return this.source;
  }

  getManyNow(keys: readonly string[]): (Bytes | undefined)[] {
    return keys.map((key) => this.getBlocking(key));
  }
}

/**
 * Connects each block in both ways, compares all rows, and commits those of `connectClaims`. With a database, the addon reads most
 * rows from it.
 */
class BothWays {
  readonly rows = new MemoryRows();
  private readonly store: ClaimStore;
  private readonly overlay = new (addon().Memtable)();
  private readonly recent = new (addon().RowCache)(1 << 24);
  private readonly database: LevelDb | null;
  /** Number of blocks with operations that the addon connected, and that it declined. */
  connected = 0;
  declined = 0;

  constructor(rules: ClaimRules, database: LevelDb | null = null) {
    this.store = new ClaimStore({ rules, proofWindow: 100 });
    this.database = database;
  }

  async connect(block: ClaimBlock): Promise<void> {
    const { rows, store, overlay, recent } = this;
    const theirs = new NativeTransaction(rows, {
      overlay,
      cacheOf: (kind) => (kind === 'n' ? recent : null),
      database: this.database?.native ?? null,
    });
    const ordinary = store.connectOrdinary(theirs, block.height, () => packOperations(block), true);
    await ordinary?.write();
    const own = rows.begin();
    const connected = await store.connect(own, block);
    const { root } = connected;
    if (ordinary !== null) {
      expect(describeChanges(ordinary.changes!, connected)).toEqual(describeChanges(connected, connected));
      expect(Buffer.from(ordinary.root).toString('hex')).toBe(Buffer.from(root).toString('hex'));
      expect(this.changes(theirs)).toEqual(this.changes(own));
    }
    if (ordinary === null) this.declined++;
    else if (block.transactions.length > 0) this.connected++;
    await this.commit(own);
  }

  async disconnect(height: number): Promise<void> {
    const own = this.rows.begin();
    await this.store.disconnect(own, height);
    await this.commit(own);
  }

  private async commit(own: MemoryTransaction): Promise<void> {
    const stored = new RecordWriter();
    for (const [key, value] of own.own.entries()) {
      // Some names are only in the cache.
      if (key.startsWith('n') && key.length % 2 === 0) this.recent.set(key, value);
      else if (this.database === null || key.length % 5 === 0) this.overlay.set(key, value);
      else stored.add(key, value);
    }
    if (stored.sizeBytes > 0) await this.database?.write([stored.take()], { sync: false });
    own.commit();
  }

  /** Rows that differ from the committed ones, with the committed value. */
  private changes(transaction: MemoryTransaction): Map<string, string | null> {
    const changes = new Map<string, string | null>();
    for (const [key, value] of [...transaction.own.entries()].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const before = this.rows.rows.get(key) ?? null;
      const [now, then] = [value, before].map((row) => row && Buffer.from(row).toString('hex'));
      if (now !== then) changes.set(Buffer.from(key, 'latin1').toString('hex'), now!);
    }
    return changes;
  }
}

/** The changes of a block, with the weights of those claims that `all` created or supported. */
function describeChanges({ log, names, fleeting, totals }: TrieChanges, all: TrieChanges) {
  const items = all.log!.flatMap((event) =>
    'item' in event && (event.op === 'create' || event.item.kind === 'support') ? [event.item] : [],
  );
  const weights = [...all.names.keys()].map((name) => {
    const state = names.get(name)?.state;
    const claims = items.map(({ claimId, point, kind }) => {
      const claim = state && (kind === 'support' ? findById(state, claimId) : findClaim(state, point));
      return [claim?.point, claim?.claimId, claim?.effective, state?.dangling.get(claimId)];
    });
    return [name, state?.alive, claims];
  });
  return {
    totals,
    weights,
    events: log!.map((event) => {
      if (event.op === 'takeover') return { op: event.op, name: event.name };
      return 'item' in event ? { ...event, item: { ...event.item, isNew: false } } : event;
    }),
    fleeting: fleeting.map(({ claimId, name, since, point }) => ({ claimId, name, since, point })),
  };
}

const LASTING: ClaimRules = {
  originalExpiration: 5000,
  extendedExpiration: 9000,
  extendedExpirationForkHeight: 4000,
  takeoverWorkaroundMin: 30,
  takeoverWorkaroundMax: 90,
  normalizationForkHeight: 60,
  allClaimsForkHeight: 91,
  supportDelay: 'proportional',
};

/** The last rules let items expire. */
const RULES: Record<string, ClaimRules> = {
  'all forks': LASTING,
  'forks far ahead': { ...LASTING, normalizationForkHeight: 4500, allClaimsForkHeight: 4600 },
  'forks in the past, supports after 100': {
    ...LASTING,
    normalizationForkHeight: 1,
    allClaimsForkHeight: 2,
    supportDelay: 100,
  },
  'a short term': {
    ...LASTING,
    originalExpiration: 20,
    extendedExpiration: 40,
    extendedExpirationForkHeight: 70,
  },
};

const MANY_NAMES = [...LIFE_NAMES, ...Array.from({ length: 60 }, (_, i) => Buffer.from(`name ${i}`))];
const ONE_NAME = [Buffer.from('crowd'), Buffer.from('crow')];

describe.skipIf(!native)('ordinary blocks in the addon', () => {
  for (const [title, rules] of Object.entries(RULES))
    for (const [kind, names] of Object.entries({ many: MANY_NAMES, few: LIFE_NAMES, one: ONE_NAME }))
      it(`change the same rows: ${title}, ${kind} names`, async () => {
        const life = new ClaimLife(77, names);
        const both = new BothWays(rules);
        const blocks = IS_LONG ? 600 : 150;
        for (let height = 1; height <= blocks; height++) {
          await both.connect(life.block(height, 1 + (height % 9)));
          if (!life.chance(5)) continue;
          life.disconnect();
          await both.disconnect(height--);
        }
        expect(both.connected).toBeGreaterThan(both.declined / 4);
      });

  it('change the same rows if most rows are read from a database', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ordinary-block-'));
    const database = makeLevelDb(join(folder, 'rows'), { cacheBytes: 1 << 20, writeBufferBytes: 1 << 16 });
    await database.open();
    try {
      const names = Array.from({ length: 3000 }, (_, i) => Buffer.from((i * 0x9e3779b1).toString(36)));
      const life = new ClaimLife(78, names);
      const both = new BothWays(RULES['forks in the past, supports after 100']!, database);
      // This many operations need more rows at once than one thread reads.
      for (let height = 1; height <= 60; height++) await both.connect(life.block(height, 60));
      expect(both.connected).toBeGreaterThan(both.declined);
    } finally {
      await database.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('read the operations of blocks like `blockClaims`', () => {
    const random = new Random(5);
    let bytes = 0;
    for (let i = 0; i < 300; i++) {
      const raw = randomBlock(random, 1 + random.below(8));
      const parsed = addon().parseBlock(raw);
      const resolved = randomInputs(random, parsed.inputs.length / 6);
      const packed = addon().claimOperations(raw, parsed, resolved);
      const wanted = packOperations(blockClaims({ raw, parsed } as LoadedBlock, resolved, 1000));
      expect(packed.toString('hex')).toBe(wanted.toString('hex'));
      bytes += packed.length;
    }
    expect(bytes).toBeGreaterThan(10_000);
  });
});

function randomInputs(random: Random, count: number): ResolvedInputs {
  const scripts = Array.from({ length: count }, () => randomScript(random));
  let at = 0;
  return {
    heightCodes: Uint32Array.from(scripts, () => random.below(4000)),
    amounts: BigInt64Array.from(scripts, () => random.amount()),
    scriptOffsets: Uint32Array.from(scripts, ({ length }) => (at += length) - length),
    scriptLengths: Uint32Array.from(scripts, ({ length }) => length),
    scripts: Buffer.concat(scripts),
    status: new Uint8Array(count),
    claimKinds: Uint8Array.from(scripts, (script) =>
      claimPrefixLength(script, 0, script.length) === 0 ? 0 : script[0]!,
    ),
    duplicates: new Uint32Array(0),
  };
}
