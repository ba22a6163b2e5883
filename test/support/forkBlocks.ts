/** Builds a trie of many names in a real database, connects and disconnects one fork block, and measures both. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { claimsHash } from '../../src/claimtrie/claimsHash.js';
import { TrieBuilder } from '../../src/claimtrie/trieBuilder.js';
import { ClaimStore, type ClaimRules, type ClaimTx } from '../../src/store/claims/claimStore.js';
import { CLAIM_PREFIX } from '../../src/store/claims/rows/claimKeys.js';
import { parseNameRow } from '../../src/store/claims/rows/nameRow.js';
import { RowStore } from '../../src/store/rows/rowStore.js';
import { prefixEnd } from '../../src/store/rows/rows.js';
import { toHex } from '../../src/util/bytes.js';
import { IS_LONG } from './long.js';

const PER_BLOCK = 2000;
const FLUSH_BYTES = 16 << 20;

export interface ForkFigures {
  connectSec: number;
  disconnectSec: number;
  reconnectSec: number;
  /** Peak growth of live memory while the fork block was processed. NaN in the fast tests: it needs a garbage collection each second. */
  extraMb: number;
}

/** Names with mixed spellings, so that some become equal by normalization: every third name repeats another one in capitals. */
function nameOf(number: number): Buffer {
  const base = number % 3 === 2 ? number - 1 : number;
  const name = createHash('sha256')
    .update(`fork ${base}`)
    .digest('base64url')
    .slice(0, 6 + (base % 9));
  return Buffer.from(number % 3 === 2 ? name.toUpperCase() : number % 3 === 1 ? name : name.toLowerCase());
}

export class ForkRun {
  readonly rules: ClaimRules;
  private readonly folder = mkdtempSync(join(tmpdir(), 'claim-fork-'));
  private readonly claims: ClaimStore;
  private store!: RowStore;
  height = 0;

  constructor(rules: ClaimRules) {
    this.rules = rules;
    this.claims = new ClaimStore({ rules, proofWindow: 5000 });
  }

  async open(): Promise<void> {
    this.store = await RowStore.open({ path: join(this.folder, 'rows'), cacheBytes: 16 << 20 });
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async connect(transactions: ClaimTx[] = []): Promise<string> {
    const rows = this.store.begin();
    const { root } = await this.claims.connect(rows, { height: this.height + 1, transactions });
    this.store.commit(rows);
    this.height++;
    if (this.store.dirtyBytes > FLUSH_BYTES || this.store.mustFlush) await this.store.flush();
    return toHex(root);
  }

  async disconnect(): Promise<string> {
    const rows = this.store.begin();
    const { root } = await this.claims.disconnect(rows, this.height);
    this.store.commit(rows);
    this.height--;
    if (this.store.dirtyBytes > FLUSH_BYTES || this.store.mustFlush) await this.store.flush();
    return toHex(root);
  }

  /** Connects blocks with a claim for each name and a support for every fifth name, then empty blocks up to `lastHeight`. */
  async grow(names: number, lastHeight: number): Promise<string> {
    let root = '';
    for (let made = 0; made < names; made += PER_BLOCK) {
      const transactions: ClaimTx[] = [];
      for (let i = made; i < Math.min(names, made + PER_BLOCK); i++) {
        const name = nameOf(i);
        const txid = createHash('sha256').update(`tx ${i}`).digest();
        const outputs: ClaimTx['outputs'] = [
          { n: 0, kind: 'claim', hasMetadata: false, name, amount: BigInt(1000 + (i % 77)) },
        ];
        if (i % 5 === 0) {
          const claimId = Buffer.alloc(20, i % 251);
          outputs.push({ n: 1, kind: 'support', hasMetadata: false, name, claimId, amount: 7n });
        }
        transactions.push({ txid, txOffset: 100 * (i - made), spends: [], outputs });
      }
      root = await this.connect(transactions);
    }
    while (this.height < lastHeight) root = await this.connect();
    await this.store.flush();
    return root;
  }

  /** Root of a trie that is built from the stored names. */
  async rootFromNames(allClaims: boolean): Promise<string> {
    const builder = new TrieBuilder(allClaims, () => undefined);
    const names = { gte: CLAIM_PREFIX.name, lt: prefixEnd(CLAIM_PREFIX.name) };
    for await (const [key, row] of this.store.range(names)) {
      const { claims, takeover } = parseNameRow(row);
      const hash = claimsHash(claims, takeover, allClaims);
      if (hash) builder.add(key.slice(1), hash);
    }
    return toHex(builder.finish());
  }

  /** Digest of every row except those that a disconnected fork leaves: nodes in the new format, and bits of idle names. */
  async digest(): Promise<string> {
    const hash = createHash('sha256');
    for await (const [key, row] of this.store.range({ gte: 'a', lt: '~' })) {
      if (!key.startsWith('t1') && !key.startsWith(CLAIM_PREFIX.idle))
        hash.update(`${key.length} ${row.length} `).update(key, 'latin1').update(row);
    }
    return hash.digest('hex');
  }

  /** Connects the fork block, disconnects it and connects it again. The checks receive the root after each step. */
  async cross(
    check: (root: string) => Promise<void>,
    checkBack: (root: string) => Promise<void>,
  ): Promise<ForkFigures> {
    const meter = IS_LONG ? new MemoryMeter() : null;
    const timed = async (work: () => Promise<string>): Promise<{ root: string; seconds: number }> => {
      const began = performance.now();
      const root = await work();
      return { root, seconds: (performance.now() - began) / 1000 };
    };
    const first = await timed(() => this.connect());
    await check(first.root);
    const back = await timed(() => this.disconnect());
    await checkBack(back.root);
    const again = await timed(() => this.connect());
    await check(again.root);
    return {
      connectSec: first.seconds,
      disconnectSec: back.seconds,
      reconnectSec: again.seconds,
      extraMb: meter?.stop() ?? NaN,
    };
  }
}

/**
 * Measures the memory of heap and buffers that survives a collection. Resident memory depends on the time of the collections.
 */
class MemoryMeter {
  private readonly collect: () => void;
  private readonly before: number;
  private peak: number;
  private readonly timer: NodeJS.Timeout;

  constructor() {
    setFlagsFromString('--expose-gc');
    this.collect = runInNewContext('gc') as () => void;
    this.before = this.peak = this.live();
    this.timer = setInterval(() => {
      this.peak = Math.max(this.peak, this.live());
    }, 1000);
  }

  private live(): number {
    this.collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  }

  stop(): number {
    clearInterval(this.timer);
    return (this.peak - this.before) / (1 << 20);
  }
}

export const FORK_RULES: ClaimRules = {
  originalExpiration: 100_000,
  extendedExpiration: 200_000,
  extendedExpirationForkHeight: 90_000,
  normalizationForkHeight: 1_000_000,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 1_000_000,
  supportDelay: 'proportional',
};
