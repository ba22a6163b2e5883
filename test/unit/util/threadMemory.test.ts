import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { projectFile } from '../../../src/util/project.js';
import { ThreadMemory } from '../../../src/util/threadMemory.js';

const MODULE = pathToFileURL(projectFile('dist', 'util', 'threadMemory.js')).href;
const started: Worker[] = [];

afterEach(async () => {
  for (const worker of started.splice(0)) await worker.terminate();
});

/** A worker with one cache, whose bytes are in `cells[0]`; a message keeps it busy until `cells[1]` is not 0. */
async function start(name: string): Promise<{ worker: Worker; cells: Int32Array }> {
  const program = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { reportMemory } from ${JSON.stringify(MODULE)};
    reportMemory(${JSON.stringify(name)}, () => [{ name: 'kept', bytes: workerData[0], maxBytes: 9 }]);
    parentPort.on('message', () => {
      parentPort.postMessage('busy');
      Atomics.wait(workerData, 1, 0);
    });
    parentPort.postMessage('ready');`;
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const worker = new Worker(url, { workerData: cells });
  started.push(worker);
  await once(worker, 'message');
  return { worker, cells };
}

it('asks all threads, shows the last value of a busy one, and forgets ended ones', async () => {
  const memory = new ThreadMemory();
  const kept = async (): Promise<[string, number][]> =>
    (await memory.usage()).map(({ name, caches }): [string, number] => [name, caches[0]!.bytes]).sort();
  expect(await memory.usage()).toEqual([]);
  const first = await start('first');
  const second = await start('second');
  first.cells[0] = 3;
  second.cells[0] = 4;
  expect(await kept()).toEqual([
    ['first', 3],
    ['second', 4],
  ]);
  const [usage] = await memory.usage();
  expect(usage!.heapUsed).toBeGreaterThan(1e6);
  expect(usage!.heapTotal).toBeGreaterThanOrEqual(usage!.heapUsed);

  first.worker.postMessage('be busy');
  await once(first.worker, 'message');
  first.cells[0] = 5;
  second.cells[0] = 6;
  expect(await kept()).toEqual([
    ['first', 3],
    ['second', 6],
  ]);
  Atomics.store(first.cells, 1, 1);
  Atomics.notify(first.cells, 1);

  await second.worker.terminate();
  expect(await kept()).toEqual([['first', 5]]);
  memory.close();
});
