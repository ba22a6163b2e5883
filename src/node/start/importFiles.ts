/**
 * Imports blocks from files while calls are answered: the node's own block files (`-reindex`), files of `-loadblock`, and
 * `bootstrap.dat` in the data folder, which is renamed after a complete import. Blocks of an interrupted import are kept;
 * the next start reads the file again and skips known blocks. Source: `ThreadImport`.
 */
import { existsSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { importBlockFile } from '../../chain/open/blockImporter.js';
import type { OpenedChain } from '../../chain/open/openChain.js';
import { FileProgress } from '../../chain/progress.js';
import type { Logger } from '../../util/logging.js';
import { isSpecialFile } from '../../util/files/specialFile.js';
import { errorText } from './closeStack.js';
import type { LoadedOptions } from '../options/options.js';

/** Log messages for the start and the end of an import during which calls are answered. After its end the mempool is loaded. */
export const IMPORT_BEGINS = 'Importing blocks; RPC calls are answered meanwhile';
export const IMPORT_ENDED = 'All blocks are imported';

/**
 * Starts the import. Returns null if no file to import exists. The promise resolves when all files are read or `signal`
 * aborts. Until then no blocks are requested from peers.
 */
export function importBlocks(
  opened: OpenedChain,
  loaded: LoadedOptions,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> | null {
  const { chain, rebuild } = opened;
  const files = filesToImport(loaded);
  if (rebuild === null && files.length === 0) return null;
  logger.info(IMPORT_BEGINS);
  chain.importing = true;
  const work = async (): Promise<void> => {
    await rebuild?.();
    await importFiles(files, opened, loaded, logger, signal);
  };
  return work().finally(() => {
    chain.importing = false;
  });
}

function bootstrapOf({ paths }: LoadedOptions): string {
  return join(paths.networkDir, 'bootstrap.dat');
}

function filesToImport(loaded: LoadedOptions): readonly string[] {
  const bootstrap = bootstrapOf(loaded);
  return [...(existsSync(bootstrap) ? [bootstrap] : []), ...loaded.options.loadblock];
}

/** Imports the files one after the other. */
async function importFiles(
  files: readonly string[],
  opened: OpenedChain,
  loaded: LoadedOptions,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) {
    if (signal.aborted) return;
    const readable = await canOpen(file);
    if (!readable) {
      logger.warn(`Could not open blocks file ${file}`);
      continue;
    }
    const complete = await importFile(opened, loaded, file, logger, signal);
    if (complete && file === bootstrapOf(loaded)) await renameDone(file, logger);
  }
}

/** Whether the file can be imported. A folder can be opened but not read, and a pipe cannot be read by position. */
async function canOpen(file: string): Promise<boolean> {
  if (isSpecialFile(file)) return false;
  const opened = await open(file, 'r').catch(() => null);
  const isReadable = opened !== null && !(await opened.stat()).isDirectory();
  await opened?.close();
  return isReadable;
}

/** Imports one file. Returns whether it was read completely. */
async function importFile(
  { chain, timers }: OpenedChain,
  { params }: LoadedOptions,
  file: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  logger.info(`Importing blocks file ${file}...`);
  const began = performance.now();
  const { size } = await stat(file);
  const progress = new FileProgress(chain, `Importing ${basename(file)}`, size);
  const { stored, read } = await importBlockFile(chain, file, {
    magic: params.magic,
    log: logger,
    signal,
    progress,
  }).finally(() => progress.end());
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

/**
 * Renames an imported file. If that fails, for example on a read-only mount, the file is read again at the next start, which
 * is harmless.
 */
async function renameDone(file: string, logger: Logger): Promise<void> {
  try {
    await rename(file, `${file}.old`);
  } catch (error) {
    logger.warn(`Could not rename ${file}; it will be imported again at the next start: ${errorText(error)}`);
  }
}
