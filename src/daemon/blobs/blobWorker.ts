/** The program of the threads that work on blobs. */
import { workerData } from 'node:worker_threads';
import { environmentError } from '../../util/text/environmentError.js';
import { serveDaemonThread } from '../base/threadCalls.js';
import { BlobWork } from './blobWork.js';

serveDaemonThread(
  () => new BlobWork(workerData as number),
  (error) => environmentError(error, 'A blob'),
);
