/**
 * Reads, at startup, blocks that are in the block files but not in the database: blocks that a killed process had accepted
 * but not flushed, files that a user copied in, or all blocks with `-reindex`. Source: Core validation.cpp
 * `LoadExternalBlockFile`, init.cpp `ThreadImport`.
 */
import { open } from 'node:fs/promises';
import type { RejectResult, ValidationError } from '../../consensus/reject.js';
import type { FilePosition } from '../../store/files/blockFiles.js';
import { hashToHex } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Logger } from '../../util/logging.js';
import { ReadError } from '../../util/reader.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';
import type { Chain } from '../chain.js';
import type { Flusher } from '../flusher.js';
import { readBlockRecords } from './importFile.js';
import { loadBlock, type LoadedBlock } from '../blocks/loadedBlock.js';
import type { ProgressTeller } from '../progress.js';

/**
 * Verdicts with which a stored block may be refused although it was accepted when it was written. Causes: the block or an
 * ancestor was found invalid later, a checkpoint was added, or the clock was changed. Any other verdict means that the bytes
 * are not the block that was written.
 */
const KEPT_REFUSALS: readonly RejectResult[] = [
  'cached-invalid',
  'invalid-prev',
  'checkpoint',
  'time-future',
];

/** Number of bytes of magic and length before a block. */
const RECORD_HEAD_BYTES = 8;

export interface ScanOptions {
  chain: Chain;
  flusher: Flusher;
  log: Logger;
  signal: AbortSignal;
  /** Whether each file is announced in the log. */
  announce: boolean;
  progress: ProgressTeller;
  /** Warns the operator and writes to the log. */
  warn: (message: string) => void;
}

/**
 * Passes every block after the position `from` to the chain, in file order. A flush during the reading stores the position,
 * so that a killed process continues from there. Stops early when the signal is aborted. Blocks written during the reading
 * are known to the chain and skipped.
 */
export async function scanBlockFiles(options: ScanOptions, from: FilePosition): Promise<void> {
  const off = options.chain.events.on('blockChecked', ({ id, error }) => {
    if (error) tellInvalid(options, from, id, error);
  });
  await readBehind(options, from).finally(off);
}

/**
 * Warns about a block in the node's own files that breaks a rule. Where a valid header costs almost no work, a flipped bit
 * can turn a block into another valid one. Blocks that the database knew before are not counted.
 */
function tellInvalid(
  { chain, warn }: ScanOptions,
  from: FilePosition,
  id: number,
  error: ValidationError,
): void {
  const { headers } = chain.index;
  const { file, offset } = headers.dataPosition(id);
  if (file < from.file || (file === from.file && offset < from.offset)) return;
  warn(
    `the block at byte ${offset} of ${chain.deps.files.path('blk', file)} is invalid (${error.reason}): ` +
      'it was already invalid when it was received, or the file is corrupt. Missing blocks are downloaded from peers.',
  );
}

async function readBehind(options: ScanOptions, from: FilePosition): Promise<void> {
  const { chain, flusher, log, signal } = options;
  const { files, params } = chain.deps;
  tellLostFiles(options, from.file);
  const orphans = new OrphanPositions();
  const wanted = files.fileNumbers().filter((file) => file >= from.file);
  const totalBytes = wanted.reduce((sum, file) => sum + files.sizeBytes('blk', file), 0);
  let doneBytes = 0;
  let since = performance.now();
  for (const file of wanted) {
    const start = file === from.file ? from.offset : 0;
    const path = files.path('blk', file);
    let torn: number | null = null;
    // Blocks that are appended after this point were accepted by this process and need not be read.
    const size = files.sizeBytes('blk', file);
    const gaps = new BlockFileGaps(start);
    if (options.announce) log.info(`Reindexing block file ${path}...`);
    log.debug('reindex', () => `Reading ${path} from byte ${start} of ${files.sizeBytes('blk', file)}`);
    flusher.scanFrom = orphans.first ?? { file, offset: start };
    const onTorn = (offset: number): void => {
      torn ??= offset;
    };
    for await (const record of readBlockRecords(path, params.magic, start, onTorn)) {
      torn = null;
      flusher.scanFrom = orphans.first ?? { file, offset: record.offset - RECORD_HEAD_BYTES };
      if (signal.aborted) return;
      try {
        const block = loadBlock(Buffer.from(record.bytes));
        const error = await acceptStored(options, block, { file, offset: record.offset }, orphans);
        // A refused block may be a truncated record that contains the start of another record. The search then continues
        // inside the refused bytes.
        record.advance = error ? RECORD_HEAD_BYTES : RECORD_HEAD_BYTES + block.consumedBytes;
        if (error === null || KEPT_REFUSALS.includes(error.result))
          gaps.passOver(record.offset - RECORD_HEAD_BYTES, record.end);
      } catch (error) {
        if (!(error instanceof ReadError)) throw error;
        record.advance = 1;
        log.warn(`skipped bytes that are not a block at ${record.offset} of ${path}: ${error.message}`);
      }
      options.progress.report(doneBytes + record.offset, totalBytes);
      since = await yieldIfDue(since);
    }
    await gaps.tell(path, size, options.warn);
    doneBytes += size;
    // Removes a record that a crash truncated. Otherwise a later scan would not find the next record, which is appended
    // after it.
    if (torn !== null && torn < size && size === files.sizeBytes('blk', file) && file === files.currentFile)
      files.truncate(file, torn);
  }
  const { early, first, count } = orphans;
  if (early !== null)
    options.warn(
      `the time of the block at byte ${early.offset} of ${files.path('blk', early.file)} is too far in the ` +
        'future. This block and the following ones are not used. If the date and time of this computer are ' +
        'wrong, correct them and start again.',
    );
  else if (count > 0)
    options.warn(
      `the parents of ${count} blocks in ${files.path('blk', files.currentFile)} and earlier files are ` +
        'missing; they are downloaded from peers.',
    );
  // Blocks whose time is in the future may become valid. The next start reads the files from the first of these blocks on.
  flusher.scanFrom = early === null ? null : first;
}

/**
 * Warns of missing block files. The database does not know the files that were written since the last flush. Such a missing
 * file is detected because its undo file exists.
 */
function tellLostFiles({ chain, warn }: ScanOptions, from: number): void {
  const { files } = chain.deps;
  for (const file of files.lonelyUndoFiles().filter((number) => number >= from))
    warn(
      `${files.path('blk', file)}, which belongs to ${files.path('rev', file)}, is missing. Its blocks at ` +
        'the end of the chain are downloaded from peers again; or stop the node, restore the file and start ' +
        'again.',
    );
}

/** Collects the ranges of a block file in which no block was found. */
class BlockFileGaps {
  private readonly found: { readonly at: number; readonly end: number }[] = [];
  private end: number;

  constructor(start: number) {
    this.end = start;
  }

  /** Records that the bytes from `at` to `end` are a block. */
  passOver(at: number, end: number): void {
    if (at > this.end) this.found.push({ at: this.end, end: at });
    this.end = Math.max(this.end, end);
  }

  /** Warns about gaps that contain anything except zeros. Programs append zeros in order to enlarge files in large steps. */
  async tell(path: string, sizeBytes: number, warn: (message: string) => void): Promise<void> {
    this.passOver(sizeBytes, sizeBytes);
    for (const { at, end } of this.found) {
      if (await isZero(path, at, end)) continue;
      warn(
        `${path} contains no complete block from byte ${at} to ${end}: it is corrupt, or the machine crashed ` +
          'while writing it. Missing blocks are downloaded from peers.',
      );
    }
  }
}

async function isZero(path: string, from: number, end: number): Promise<boolean> {
  refuseSpecialFile(path);
  const file = await open(path, 'r');
  try {
    const piece = Buffer.alloc(1 << 16);
    for (let at = from; at < end;) {
      const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, end - at), at);
      if (bytesRead === 0) return true;
      if (piece.subarray(0, bytesRead).some((byte) => byte !== 0)) return false;
      at += bytesRead;
    }
    return true;
  } finally {
    await file.close();
  }
}

/** Positions of blocks that cannot be accepted yet: their parent is later in the files, or their time is in the future. */
class OrphanPositions {
  private readonly byParent = new Map<string, FilePosition[]>();
  /** Positions of all blocks that wait for their connection, in the order of reading. */
  private readonly waiting = new Set<FilePosition>();
  /** Position of the first block whose time is in the future; null if there is none. */
  early: FilePosition | null = null;

  /** Number of blocks that wait for their parent. */
  get count(): number {
    return this.waiting.size;
  }

  /** Position of the block that has waited longest. */
  get first(): FilePosition | null {
    const position = this.waiting.values().next().value;
    return position ? { file: position.file, offset: position.offset - RECORD_HEAD_BYTES } : null;
  }

  add(parent: string, position: FilePosition): void {
    this.waiting.add(position);
    const siblings = this.byParent.get(parent);
    if (siblings) siblings.push(position);
    else this.byParent.set(parent, [position]);
  }

  addEarly(position: FilePosition): void {
    this.waiting.add(position);
    this.early ??= position;
  }

  take(parent: string): FilePosition[] {
    const positions = this.byParent.get(parent) ?? [];
    this.byParent.delete(parent);
    for (const position of positions) this.waiting.delete(position);
    return positions;
  }
}

/**
 * Accepts a block of the node's own files, and then the blocks that waited for it as their parent. Returns the reason if the
 * first block is refused.
 */
async function acceptStored(
  { chain, log }: ScanOptions,
  first: LoadedBlock,
  position: FilePosition,
  orphans: OrphanPositions,
): Promise<ValidationError | null> {
  let refused: ValidationError | null = null;
  const ready = [{ block: first, position }];
  for (let item = ready.pop(); item; item = ready.pop()) {
    const { block } = item;
    const { error } = chain.acceptBlock(block, true, item.position);
    if (error?.reason === 'prev-blk-not-found') {
      const parent = hashToHex(block.header.prevHash);
      log.debug('reindex', () => `Out of order block ${hashToHex(block.hash)}, parent ${parent} not known`);
      orphans.add(parent, item.position);
      continue;
    }
    if (error) {
      if (error.result === 'time-future') orphans.addEarly(item.position);
      if (block === first) refused = error;
      continue;
    }
    // Connects the best chain after each block, in order. A branch that was connected before a crash is thus connected
    // again and counts as validated.
    await chain.connectBestChain();
    for (const waiting of orphans.take(hashToHex(block.hash))) {
      const child = loadBlock(chain.deps.files.readBlockSync(waiting));
      log.debug(
        'reindex',
        () => `Processing out of order child ${hashToHex(child.hash)} of ${hashToHex(block.hash)}`,
      );
      ready.push({ block: child, position: waiting });
    }
  }
  return refused;
}
