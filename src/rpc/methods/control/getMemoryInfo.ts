/** `getmemoryinfo`: the process's memory, as figures or as the XML of an allocator. */
import { getHeapSpaceStatistics } from 'node:v8';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { CacheUsage } from '../../../util/threadMemory.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { keyMemory } from '../../../wallet/keys/keyMemory.js';

export const getMemoryInfo = defineMethod({
  name: 'getmemoryinfo',
  category: 'control',
  chainUse: 'none',
  summary: 'Returns an object containing information about memory usage.',
  params: [
    {
      name: 'mode',
      type: 'string',
      default: 'stats',
      description:
        'Type of the result: "stats" memory statistics of the process, "mallocinfo" an XML string that ' +
        'describes the state of the heap',
    },
  ],
  result: t.union([
    {
      when: 'for mode "stats"',
      schema: t.object({
        locked: t.object(
          {
            used: t.int('bytes used'),
            free: t.int('bytes available'),
            total: t.int('bytes managed'),
            locked: t.int('bytes that could be locked'),
            chunks_used: t.int('allocated chunks'),
            chunks_free: t.int('unused chunks'),
          },
          'the memory that holds private keys of wallets; the runtime cannot lock it against swapping',
        ),
        process: t.object(
          {
            rss: t.int('resident set size in bytes'),
            heap_used: t.int('used bytes of the JavaScript heap'),
            heap_total: t.int('size of the JavaScript heap in bytes'),
            external: t.int('bytes outside the heap that JavaScript objects own'),
            array_buffers: t.int('bytes of these in ArrayBuffers'),
          },
          'the process; the values of the heap, external memory and buffers are those of the main thread',
        ),
        native: t.optional(
          t.object(
            {
              used: t.int('used bytes in the arenas of the C library'),
              free: t.int('free bytes in these arenas, including pages that were returned to the system'),
              mapped: t.int('bytes of large blocks outside the arenas; all are in use'),
            },
            'memory of LevelDB, SQLite, the addon, V8 and buffers; available with glibc 2.33 or newer and the native addon',
          ),
        ),
        threads: t.array(
          t.object({
            name: t.str('the purpose of the thread'),
            heap_used: t.int('used bytes of its JavaScript heap'),
            heap_total: t.int('size of its JavaScript heap in bytes'),
            external: t.int('bytes outside the heap that JavaScript objects own'),
          }),
          'the worker threads',
        ),
        caches: t.array(
          t.object({
            name: t.str(
              'the contents of the cache, preceded by the name of the thread and a slash if it is not in the main thread',
            ),
            bytes: t.int('current size in bytes'),
            bound: t.optional(t.int('maximum size in bytes; absent if the size depends only on the chain')),
          }),
          'the caches; "coins" and "unwritten_rows" share one maximum; "validation" precedes those of the validation of a snapshot',
        ),
      }),
    },
    { when: 'mode "mallocinfo"', schema: t.str('XML') },
  ]),
  examples: [[]],
  async run({ services }, args) {
    if (args.mode === 'mallocinfo') return heapXml();
    if (args.mode !== 'stats') throw rpcError(RPC_ERROR.INVALID_PARAMETER, `unknown mode ${args.mode}`);
    const { memory } = services;
    const threads = await memory.threads();
    const caches = await memory.caches();
    const native = memory.nativeHeap();
    const usage = process.memoryUsage();
    const keys = keyMemory.usage;
    return {
      locked: {
        used: keys.usedBytes,
        free: keys.freeBytes,
        total: keys.totalBytes,
        locked: 0,
        chunks_used: keys.usedChunks,
        chunks_free: keys.freeChunks,
      },
      process: {
        rss: usage.rss,
        heap_used: usage.heapUsed,
        heap_total: usage.heapTotal,
        external: usage.external,
        array_buffers: usage.arrayBuffers,
      },
      ...(native && {
        native: { used: native.usedBytes, free: native.freeBytes, mapped: native.mappedBytes },
      }),
      threads: threads.map(({ name, heapUsed, heapTotal, external }) => ({
        name,
        heap_used: heapUsed,
        heap_total: heapTotal,
        external,
      })),
      caches: [
        ...caches.map((cache) => cacheJson(cache.name, cache)),
        ...threads.flatMap((thread) =>
          thread.caches.map((cache) => cacheJson(`${thread.name}/${cache.name}`, cache)),
        ),
      ],
    };
  },
});

function cacheJson(name: string, { bytes, maxBytes }: CacheUsage): JsonOut {
  return { name, bytes, ...(maxBytes === null ? {} : { bound: maxBytes }) };
}

/** Formats the spaces of the V8 heap with the XML elements of glibc's `malloc_info`. */
function heapXml(): string {
  const spaces = getHeapSpaceStatistics();
  const heaps = spaces.map(
    (space, nr) =>
      `<heap nr="${nr}" name="${space.space_name}">\n` +
      `<total type="rest" count="1" size="${space.space_available_size}"/>\n` +
      `<system type="current" size="${space.space_size}"/>\n` +
      `<aspace type="total" size="${space.physical_space_size}"/>\n</heap>\n`,
  );
  const total = spaces.reduce((sum, space) => sum + space.space_size, 0);
  return `<malloc version="1">\n${heaps.join('')}<system type="current" size="${total}"/>\n</malloc>\n`;
}
