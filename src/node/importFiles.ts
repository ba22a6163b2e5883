/**
 * `-loadblock`, and a `bootstrap.dat` in the data folder, which is renamed once it was read to its end. What an
 * interrupted import stored stays; the next start reads the file again and passes over what is known.
 * Source: `ThreadImport`.
 */
import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { importBlockFile } from '../chain/blockImporter.js';
import type { OpenedChain } from '../chain/openChain.js';
import type { Logger } from '../util/logging.js';
import { errorText } from './closeStack.js';
import type { LoadedOptions } from './options.js';

/** Imports the files one after the other until all are read or `signal` aborts. */
export async function importFiles(
  opened: OpenedChain,
  loaded: LoadedOptions,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const bootstrap = join(loaded.paths.networkDir, 'bootstrap.dat');
  const files = [...(existsSync(bootstrap) ? [bootstrap] : []), ...loaded.options.loadblock];
  for (const file of files) {
    if (signal.aborted) return;
    const readable = await canOpen(file);
    if (!readable) {
      logger.warn(`Could not open blocks file ${file}`);
      continue;
    }
    const complete = await importFile(opened, loaded, file, logger, signal);
    if (complete && file === bootstrap) await renameDone(bootstrap, logger);
  }
}

/** A folder cannot be read, though it can be opened. */
async function canOpen(file: string): Promise<boolean> {
  const opened = await open(file, 'r').catch(() => null);
  const isReadable = opened !== null && !(await opened.stat()).isDirectory();
  await opened?.close();
  return isReadable;
}

/** Whether the file was read to its end. */
async function importFile(
  { chain, timers, progressOf }: OpenedChain,
  { params }: LoadedOptions,
  file: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  logger.info(`Importing blocks file ${file}...`);
  const began = performance.now();
  chain.importing = true;
  const { stored, read } = await importBlockFile(chain, file, {
    magic: params.magic,
    log: logger,
    signal,
    progress: progressOf('Importing'),
  }).finally(() => {
    chain.importing = false;
  });
  const seconds = (performance.now() - began) / 1000;
  if (signal.aborted) {
    logger.info(
      `Import of ${basename(file)} interrupted at ${read} blocks, ${stored} of them new, after ${seconds.toFixed(2)} s`,
    );
    return false;
  }
  logger.info(`Imported ${stored} new of ${read} blocks of ${basename(file)} in ${seconds.toFixed(2)} s`);
  logger.debug('bench', () => {
    const report = {
      blocks: read,
      height: chain.height,
      transactions: chain.index.headers.chainTxCount(chain.tip),
      inputs: timers.inputs,
      seconds,
      steps: timers.snapshot(),
    };
    return `Import report: ${JSON.stringify(report)}`;
  });
  return true;
}

/** A file that cannot be renamed (a read-only mount) is read again at the next start, which does no harm. */
async function renameDone(file: string, logger: Logger): Promise<void> {
  try {
    await rename(file, `${file}.old`);
  } catch (error) {
    logger.warn(`Could not rename ${file}, it will be read again at the next start: ${errorText(error)}`);
  }
}
