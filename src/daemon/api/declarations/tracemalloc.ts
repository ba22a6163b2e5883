/** Declarations of the methods of the group tracemalloc. */
import { t } from '../../../schema/schema.js';
import { declareMethod } from '../declaration.js';

export const tracemallocDisable = declareMethod({
  name: 'tracemalloc_disable',
  group: 'tracemalloc',
  summary: 'End sampling of what allocates memory.',
  usage: [],
  params: [],
  result: t.bool('false'),
  needs: [],
});

export const tracemallocEnable = declareMethod({
  name: 'tracemalloc_enable',
  group: 'tracemalloc',
  summary: 'Begin to sample what allocates memory.',
  usage: [],
  params: [],
  result: t.bool('true'),
  needs: [],
});

export const tracemallocTop = declareMethod({
  name: 'tracemalloc_top',
  group: 'tracemalloc',
  summary: 'Show what allocates most.',
  usage: ['[(<items> | --items=<items>)]'],
  params: [{ name: 'items', type: 'int', description: 'how many', default: 10 }],
  result: t.array(
    t.object({
      line: t.str('where'),
      code: t.str('the function'),
      size: t.int('bytes'),
      count: t.int('allocations'),
    }),
  ),
  needs: [],
});
