/** Main program of a thread that writes the search index in PostgreSQL, or that reads it with many concurrent searches. */
import { workerData } from 'node:worker_threads';
import { PostgresIndexWriter, type PostgresIndexOptions } from './postgresIndexWriter.js';
import { PostgresReader, type PostgresReaderOptions } from './postgresReader.js';
import { reportMemory } from '../../util/threadMemory.js';
import { serveSearchThread } from '../thread/searchThread.js';

export type PostgresWorkerData =
  | { readonly role: 'writer'; readonly options: PostgresIndexOptions }
  | { readonly role: 'reader'; readonly options: PostgresReaderOptions };

const role = workerData as PostgresWorkerData;
reportMemory(`claim search, ${role.role}`);
serveSearchThread(
  () => (role.role === 'writer' ? new PostgresIndexWriter(role.options) : new PostgresReader(role.options)),
  false,
);
