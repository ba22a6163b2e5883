/** Declarations of the methods of the group tracemalloc. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';

export const tracemallocDisable = declareMethod({
  name: 'tracemalloc_disable',
  group: 'tracemalloc',
  summary: 'Stop sampling of memory allocations.',
  usage: [],
  params: [],
  result: t.bool('false'),
  needs: [],
});

export const tracemallocEnable = declareMethod({
  name: 'tracemalloc_enable',
  group: 'tracemalloc',
  summary: 'Start sampling of memory allocations.',
  usage: [],
  params: [],
  result: t.bool('true'),
  needs: [],
});

export const tracemallocTop = declareMethod({
  name: 'tracemalloc_top',
  group: 'tracemalloc',
  summary: 'List the source lines with the largest live allocations.',
  usage: ['[(<items> | --items=<items>)]'],
  params: [{ name: 'items', type: 'int', description: 'maximum number of lines', default: 10 }],
  result: t.array(
    t.object({
      line: t.str('file and line number'),
      code: t.str('name of the function'),
      size: t.int('estimated bytes'),
      count: t.int('number of samples'),
    }),
  ),
  needs: [],
});
