/** The program of a thread that writes the search index in PostgreSQL, or of one that reads it, many searches at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import { unpackArguments } from '../document/packedSources.js';
import { PostgresIndexWriter, type PostgresIndexOptions } from './postgresIndexWriter.js';
import { PostgresReader, type PostgresReaderOptions } from './postgresReader.js';
import { answerOf, type WorkerCall } from '../sqlite/workerProtocol.js';
import { reportMemory } from '../../util/threadMemory.js';

export type PostgresRole =
  | { readonly role: 'writer'; readonly options: PostgresIndexOptions }
  | { readonly role: 'reader'; readonly options: PostgresReaderOptions };

type Calls = Readonly<Record<string, (...args: never[]) => unknown>>;

const port = parentPort!;
const role = workerData as PostgresRole;
reportMemory(`claim search, ${role.role}`);
const calls = (role.role === 'writer'
  ? new PostgresIndexWriter(role.options)
  : new PostgresReader(role.options)) as unknown as Calls;

async function answer({ id, method, args }: WorkerCall): Promise<void> {
  try {
    port.postMessage({ id, result: await calls[method]!(...(unpackArguments(args) as never[])) });
  } catch (error) {
    port.postMessage(answerOf(id, error));
  }
  if (method === 'close') port.close();
}

port.on('message', (call: WorkerCall) => void answer(call));
