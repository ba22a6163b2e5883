/** The rows of the logs that no table has yet; the logs were checked before (`databaseCheck.ts`). Source: LevelDB write_batch. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { breathe } from '../../util/breathe.js';
import { DatabaseCorruptionError } from '../levelDb.js';
import { batchHead, logRecords, VarintReader, type Manifest } from '../levelDbFormat.js';
import { RecordWriter } from '../rowRecords.js';
import { readBatch, type ReadBatch } from './memoryRun.js';
import { BatchWriter } from './recordLog.js';

const BATCH_HEAD_BYTES = 12;
const DELETE = 0;
const PUT = 1;

/** Batch by batch, in the order in which they were written. */
export async function* readLogs(
  path: string,
  { logNumber, prevLogNumber }: Manifest,
): AsyncGenerator<ReadBatch> {
  const logs = (await readdir(path))
    .filter((name) => /^\d+\.log$/.test(name))
    .filter((name) => parseInt(name) >= logNumber || parseInt(name) === prevLogNumber)
    .sort((a, b) => parseInt(a) - parseInt(b));
  let since: number | Promise<number> = performance.now();
  for (const name of logs) {
    for (const { payload } of logRecords(await readFile(join(path, name)))) {
      const head = batchHead(payload);
      const records = head === null ? null : recordsOf(payload, head.count);
      if (records === null)
        throw new DatabaseCorruptionError(path, `${name} has a batch that cannot be read`);
      yield await readBatch([records], head!.sequence, new BatchWriter());
      since = breathe(since);
      if (typeof since !== 'number') since = await since;
    }
  }
}

/** The changes of a batch as records; null if there are others than it says. */
function recordsOf(payload: Buffer, count: number): Buffer | null {
  const reader = new VarintReader(payload.subarray(BATCH_HEAD_BYTES));
  const records = new RecordWriter();
  for (let n = 0; n < count; n++) {
    const kind = reader.byte();
    const key = reader.bytes();
    if (kind !== DELETE && kind !== PUT) return null;
    const value = kind === PUT ? reader.bytes() : null;
    if (reader.failed) return null;
    records.add(key, value);
  }
  return reader.atEnd ? records.take() : null;
}
