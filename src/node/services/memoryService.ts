/** Memory usage of the process for `getmemoryinfo`: each cache with its limit, the threads, and the heap of the C library. */
import type { ValidationMemory } from '../../chain/snapshot/backgroundValidation.js';
import type { OpenedChain } from '../../chain/open/openChain.js';
import { loadNative } from '../../native/binding.js';
import { keptTextsOf } from '../../rpc/lookup/keptTexts.js';
import type { AnswerCache } from '../../rpc/call/answerCache.js';
import type { MemoryService, RpcServices } from '../../interfaces/services.js';
import type { CacheUsage, ThreadMemory } from '../../util/threadMemory.js';

/**
 * Page size of the operating system in bytes. The signature cache is allocated at once, but a page uses memory only after
 * the first write.
 */
const PAGE_BYTES = 4096;

export interface MemoryServiceDeps {
  readonly threads: ThreadMemory;
  readonly services: () => Pick<RpcServices, 'mempool' | 'blockTexts' | 'claims'>;
  /** Returns the open chain and store; null until they are open. */
  readonly opened: () => Pick<OpenedChain, 'chain' | 'reader' | 'store' | 'flusher'> | null;
  /** Sizes of the caches of a snapshot's background validation; null if none runs. */
  readonly validation: () => ValidationMemory | null;
  readonly answers: () => AnswerCache | null;
  /** Size of Esplora's cache; null without `-esplora`. */
  readonly esplora: () => CacheSize | null;
}

/** Current and maximum size of a cache in bytes. */
export interface CacheSize {
  readonly sizeBytes: number;
  readonly maxBytes: number;
}

export function memoryService(deps: MemoryServiceDeps): MemoryService {
  return {
    caches: () => caches(deps),
    threads: () => deps.threads.usage(),
    nativeHeap: () => loadNative()?.heapUsage() ?? null,
  };
}

async function caches({
  services,
  opened,
  validation,
  answers,
  esplora,
}: MemoryServiceDeps): Promise<CacheUsage[]> {
  const rows: CacheUsage[] = [];
  const add = (name: string, bytes: number, maxBytes: number | null): void => {
    rows.push({ name, bytes, maxBytes });
  };
  const open = opened();
  if (open !== null) {
    const { chain, store, flusher } = open;
    add('coins', chain.deps.coins.usageBytes, flusher.maxBytes);
    add('unwritten_rows', store.dirtyBytes, flusher.maxBytes);
    add('claims', store.recentBytes, store.recentMaxBytes);
    const database = store.databaseMemory;
    add('database', database.bytes, database.maxBytes);
    const tables = await store.tableIndexMemory();
    add('database_tables', tables.bytes, tables.maxBytes);
    add('headers', chain.index.headers.usageBytes, null);
    const { mempool } = services();
    add('mempool', mempool.usageBytes, mempool.maxUsageBytes);
  }
  const validating = validation();
  if (validating !== null) {
    const { coinsBytes, unwrittenBytes, maxBytes, claims, database } = validating;
    add('validation coins', coinsBytes, maxBytes);
    add('validation unwritten_rows', unwrittenBytes, maxBytes);
    add('validation claims', claims.bytes, claims.maxBytes);
    add('validation database', database.bytes, database.maxBytes);
  }
  const signatures = loadNative()?.signatureCacheUsage();
  if (signatures) add('signatures', touchedBytes(signatures), signatures.maxBytes);
  const kept = answers();
  if (kept !== null) add('answers', kept.sizeBytes, kept.maxBytes);
  const { blockTexts } = services();
  if (blockTexts !== null) add('block_answers', blockTexts.sizeBytes, blockTexts.maxBytes);
  if (open !== null) {
    const texts = keptTextsOf(open.reader);
    add('answer_texts', texts.sizeBytes, texts.maxBytes);
    rows.push(...services().claims.caches());
  }
  const recent = esplora();
  if (recent !== null) add('esplora', recent.sizeBytes, recent.maxBytes);
  return rows;
}

/**
 * Estimates how many bytes of the memory pages have been written at least once, if `insertions` entries were written at
 * random positions.
 */
export function touchedBytes({ maxBytes, insertions }: { maxBytes: number; insertions: number }): number {
  const pages = maxBytes / PAGE_BYTES;
  return pages === 0 ? 0 : Math.round(maxBytes * (1 - Math.exp(-insertions / pages)));
}
