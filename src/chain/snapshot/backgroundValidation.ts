/**
 * Validates the blocks from the genesis block up to a snapshot's block, while the chain continues from the snapshot.
 * Connects these blocks to separate coins and claims, in a database beside the chain's database, and writes their undo data
 * to the chain's undo files. Then it compares both states by their hashes. Headers and block files are shared with the
 * chain. The chain is always flushed first, so that it knows the data and undo data of every block that this database has
 * connected. A kill loses only unflushed work. Source: the idea of assumeutxo in Core 26, validation.cpp
 * `MaybeCompleteSnapshotValidation`.
 */
import { rm } from 'node:fs/promises';
import type { ValidationError } from '../../consensus/reject.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { RECENT_SHARES } from '../../store/claims/rows/claimKeys.js';
import { ClaimStore, type ClaimStoreOptions } from '../../store/claims/claimStore.js';
import { pastNodeRows, settleFirstProvable } from '../../store/claims/versions.js';
import { createCoinTable } from '../../store/cache/createCoinTable.js';
import { NO_HEADER, STATUS, type HeaderTable } from '../../store/files/headerTable.js';
import { PREFIX } from '../../store/rows/keys.js';
import { RowStore } from '../../store/rows/rowStore.js';
import { hashFromHex, hashToHex, type Bytes } from '../../util/bytes.js';
import { EnvironmentError } from '../../util/text/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { letOthersWork } from '../../scheduler/pace.js';
import { BlockIndex, type BlockIndexOptions } from '../index/blockIndex.js';
import type { Chain } from '../chain.js';
import { formatChainState, FRESH_STATE, parseChainState } from '../connect/chainState.js';
import { checkBlockView } from '../connect/checkBlockView.js';
import { connectBlock, type ConnectDeps } from '../connect/connectBlock.js';
import type { OpenedContributor } from '../connect/contributor.js';
import { flushedAtBytes, type Flusher } from '../flusher.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';
import { StepTimers } from '../connect/stepTimers.js';
import { packSection } from './dumpSnapshot.js';
import { SnapshotError, SnapshotPacker } from './snapshotFile.js';
import { putSnapshotRecord, refutedText, type SnapshotRecord } from './snapshotRecord.js';
import { openView, type SnapshotSection } from './snapshotState.js';

/** Maximum number of blocks that are downloaded ahead of the validation. Source: Core's `BLOCK_DOWNLOAD_WINDOW`. */
const FETCHED_AHEAD = 1024;
/** Part of the coin cache's size limit that stays in the cache after a flush. */
const KEEP_SHARE = 0.75;
/** Maximum number of rows copied in one step, during which the chain waits. Arbitrary: a step takes some milliseconds. */
const ROWS_AT_ONCE = 2000;

/** An index whose rows are a section of the snapshot. */
export interface SectionIndex extends OpenedContributor {
  /** Id of the last block in the index, in wire order; null if it has none. */
  readonly lastBlock: Bytes | null;
}

export interface ValidationOptions {
  /** Folder of the validation's own database, which is deleted at the end. */
  readonly path: string;
  readonly record: SnapshotRecord;
  /** The sections of the chain state whose hashes are compared. */
  readonly sections: readonly SnapshotSection[];
  /** Creates the indexes that write the rows of these sections. Called for each new database. */
  readonly contributors: () => readonly SectionIndex[];
  readonly claims: ClaimStoreOptions;
  readonly indexOptions: BlockIndexOptions;
  /** See `CacheSizes`. */
  readonly cacheBytes: number;
  readonly claimCacheBytes: number;
  readonly batchBytes: number;
  readonly log: Logger;
  /** Warns the operator and writes to the log. */
  readonly warn: (message: string) => void;
  /** Called when the snapshot is wrong or the environment failed. The node must stop. */
  readonly onFatal: (error: unknown) => void;
  /** Called when the snapshot was validated, after which the folder is an ordinary folder. */
  readonly onPassed: () => void;
  readonly onPoint: (name: string) => void;
}

/** Progress of the validation. */
export interface SnapshotStatus extends Pick<SnapshotRecord, 'height' | 'block' | 'hash'> {
  /** Height of the last block that was validated; -1 before the genesis block. */
  readonly validatedHeight: number;
}

/** Sizes in bytes of the caches of the validation. `maxBytes` is the maximum of the coins and unwritten rows together. */
export interface ValidationMemory {
  readonly coinsBytes: number;
  readonly unwrittenBytes: number;
  readonly maxBytes: number;
  readonly claims: { readonly bytes: number; readonly maxBytes: number };
  readonly database: { readonly bytes: number; readonly maxBytes: number };
}

/** Error: a block breaks a rule, or the resulting state differs from the snapshot, so the snapshot is wrong. */
class Refutation extends Error {}

function invalidBlock(headers: HeaderTable, id: number, { reason, debug }: ValidationError): Refutation {
  const why = debug ? `${reason}, ${debug}` : reason;
  return new Refutation(
    `block ${hashToHex(headers.hash(id))} at height ${headers.height(id)} is invalid (${why})`,
  );
}

/** Separate chain state that the validation computes from the blocks. */
interface Ground {
  readonly deps: ConnectDeps;
  readonly store: RowStore;
  /** Whether coins were written to the database. */
  coinsOnDisk: boolean;
}

export class BackgroundValidation {
  private readonly chain: Chain;
  private readonly flusher: Flusher;
  private readonly options: ValidationOptions;
  private ground: Ground;
  private readonly ending = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private wake: () => void = () => undefined;
  /** Size in bytes of the coins and unwritten rows that causes a flush. It changes with the caches of rows on disk. */
  private limitBytes = 0;
  /** A block that breaks a rule which is checked before a block is stored. */
  private invalid: Refutation | null = null;
  private passed = false;
  private failed = false;
  private warnedOfBranch = false;

  private constructor(chain: Chain, flusher: Flusher, options: ValidationOptions, ground: Ground) {
    this.chain = chain;
    this.flusher = flusher;
    this.options = options;
    this.ground = ground;
  }

  /** Opens the validation's database. If the existing database cannot be used, creates a new one. */
  static async open(
    chain: Chain,
    flusher: Flusher,
    options: ValidationOptions,
  ): Promise<BackgroundValidation> {
    const validation = new BackgroundValidation(
      chain,
      flusher,
      options,
      await openGround(chain, options).catch(async (error: unknown) => {
        if (error instanceof EnvironmentError) throw error;
        options.log.warn(
          `The database of the background validation cannot be used and is rebuilt: ${error instanceof Error ? error.message : String(error)}`,
        );
        await removeGround(options.path);
        return openGround(chain, options);
      }),
    );
    validation.bind();
    return validation;
  }

  /** Requests blocks below the snapshot from the chain, and continues when a block is stored. */
  private bind(): void {
    const { chain } = this;
    this.useGround();
    chain.acceptance.onStored = () => this.wake();
    chain.acceptance.onInvalidBehind = (id, error) => {
      this.invalid ??= invalidBlock(chain.index.headers, id, error);
      this.wake();
    };
    chain.wantedBehind = () => {
      if (this.passed || this.invalid !== null) return null;
      const first = this.height + 1;
      return { first, last: Math.min(this.options.record.height, this.height + FETCHED_AHEAD) };
    };
    chain.events.on('headerTip', () => this.warnOfBranch());
  }

  private useGround(): void {
    // The store calls this function in the middle of a block. The coins of the block must stay in the cache, so this flush
    // removes none.
    this.ground.store.beforeSpill = () => this.flush(false);
    this.updateLimit();
  }

  private updateLimit(): void {
    this.limitBytes = flushedAtBytes(this.options.cacheBytes, this.ground.store);
  }

  /** Height of the validation's tip; -1 before the genesis block. */
  private get height(): number {
    return this.ground.deps.index.active.height;
  }

  private get stopping(): boolean {
    return this.ending.signal.aborted;
  }

  /** Status of the validation; null after the validation has passed. */
  get status(): SnapshotStatus | null {
    if (this.passed) return null;
    const { height, block, hash } = this.options.record;
    return { height, block, hash, validatedHeight: this.height };
  }

  /** Sizes of the validation's caches; null after the validation has passed. */
  get memory(): ValidationMemory | null {
    if (this.passed) return null;
    const { deps, store } = this.ground;
    return {
      coinsBytes: deps.coins.usageBytes,
      unwrittenBytes: store.dirtyBytes,
      maxBytes: this.limitBytes,
      claims: { bytes: store.recentBytes, maxBytes: store.recentMaxBytes },
      database: store.databaseMemory,
    };
  }

  /** Height of the lowest block that the validation has not read yet; Infinity if it has read all blocks. */
  get neededFrom(): number {
    return this.passed ? Infinity : this.height + 1;
  }

  start(): void {
    const { record, log } = this.options;
    log.info(
      `This node uses the snapshot of block ${record.height} (${record.block}). Its blocks are validated in the background, from height ${this.height + 1}.`,
    );
    // Headers from earlier starts do not cause an event.
    this.warnOfBranch();
    this.running = this.run().catch((error: unknown) => {
      this.failed = true;
      // If the chain is broken, it has already reported the error.
      if (!this.chain.isBroken) this.options.onFatal(error);
    });
  }

  /** Stops writing and closes the validation's database. Resolves when the database is closed. */
  async stop(): Promise<void> {
    this.ending.abort();
    this.wake();
    await this.running;
    if (this.passed) return;
    try {
      if (!this.failed && !this.chain.isBroken) await this.flush();
    } finally {
      await this.ground.store.close();
    }
  }

  /** Warning about a branch with more work that forks off below the snapshot; empty if there is none. */
  get warning(): string {
    const { headers, active, bestHeader } = this.chain.index;
    const { record } = this.options;
    if (this.passed || headers.isFailed(bestHeader)) return '';
    if (active.ancestorOf(bestHeader, record.height) === active.at(record.height)) return '';
    return (
      `There are headers with more work whose chain does not contain the snapshot's block ${record.block} ` +
      `at height ${record.height}. The node stays on the snapshot's chain until its blocks are validated. ` +
      'If the snapshot is of a branch that the network abandoned, start again with -reindex and without ' +
      '-loadsnapshot.'
    );
  }

  /** Logs the warning about a branch when it applies for the first time. */
  private warnOfBranch(): void {
    const { warning } = this;
    if (warning === '' || this.warnedOfBranch) return;
    this.warnedOfBranch = true;
    this.options.warn(warning);
  }

  private async run(): Promise<void> {
    for (let attempts = 0; ; attempts++) {
      try {
        await this.validate();
        return;
      } catch (error) {
        // If a stop interrupted a step, the next start repeats the step.
        if (this.stopping && error instanceof SnapshotError) return;
        if (error instanceof Refutation) throw await this.refute(error.message);
        if (this.stopping || attempts > 0 || !isOwnCorruption(error, this.options.path)) throw error;
        await this.beginAgain(error);
      }
    }
  }

  private async beginAgain(error: unknown): Promise<void> {
    const { options, chain } = this;
    options.warn(
      'The database of the background validation is corrupt, and the validation starts again from the ' +
        `beginning: ${error instanceof Error ? error.message : String(error)}`,
    );
    await this.ground.store.close();
    await removeGround(options.path);
    this.ground = await openGround(chain, options);
    this.useGround();
  }

  private async validate(): Promise<void> {
    const { record } = this.options;
    let ahead: Promise<LoadedBlock | null> | null = null;
    while (this.height < record.height) {
      const reading = ahead ?? this.read(this.height + 1);
      const block = await reading;
      if (this.stopping) return;
      if (this.invalid !== null) throw this.invalid;
      if (block === null) {
        ahead = null;
        await this.nextStored();
        continue;
      }
      ahead = this.height + 2 <= record.height ? this.read(this.height + 2) : null;
      const began = performance.now();
      await this.connect(block).finally(() => ahead?.catch(() => undefined));
      this.tellProgress();
      await letOthersWork(performance.now() - began);
    }
    this.options.onPoint('validation:before-compare');
    await this.compare();
    await this.pass();
  }

  /** Reads the block at `height` for the validation. Null while the block's data is missing. */
  private async read(height: number): Promise<LoadedBlock | null> {
    const { chain } = this;
    const { headers, active } = chain.index;
    const id = active.at(height);
    if (!headers.hasStatus(id, STATUS.haveData)) return null;
    try {
      return await chain.readBlockAside(id);
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      this.options.warn(`${error.message} The block is downloaded again.`);
      chain.index.forgetData(id);
      return null;
    }
  }

  /** Resolves when the data of the next block is stored, or when the validation stops. */
  private async nextStored(): Promise<void> {
    const { headers, active } = this.chain.index;
    const isMissing = (): boolean => !headers.hasStatus(active.at(this.height + 1), STATUS.haveData);
    while (!this.stopping && this.invalid === null && isMissing())
      await new Promise<void>((resolve) => (this.wake = resolve));
  }

  private async connect(block: LoadedBlock): Promise<void> {
    const { ground, height, chain } = this;
    const { active } = chain.index;
    const id = active.at(height + 1);
    const wrong = checkBlockView(block);
    const { error } = wrong
      ? { error: wrong }
      : await connectBlock(ground.deps, block, active.at(height), {
          checkScripts: chain.checksScripts(id),
          justCheck: false,
        });
    if (error) throw invalidBlock(chain.index.headers, id, error);
    this.options.onPoint('validation:connected');
    const { coins } = ground.deps;
    if (ground.store.mustFlush || coins.usageBytes + ground.store.dirtyBytes > this.limitBytes)
      await this.flush();
  }

  /** Flushes the chain, then the validation's own state. */
  private async flush(trims = true): Promise<void> {
    const { chain, flusher, ground } = this;
    const { store, deps } = ground;
    const { coins, index } = deps;
    await chain.change(() => flusher.flush());
    this.options.onPoint('validation:chain-flushed');
    const { dirtyBytes } = coins;
    if (dirtyBytes > 0) ground.coinsOnDisk = true;
    const { tip } = index.active;
    store.put(
      PREFIX.tip,
      formatChainState({
        ...FRESH_STATE,
        tip: tip === NO_HEADER ? null : hashToHex(index.headers.hash(tip)),
        coinsOnDisk: ground.coinsOnDisk,
      }),
    );
    await store.flush((maxBytes) => coins.takeDirty(maxBytes), dirtyBytes);
    this.updateLimit();
    const keptBytes = this.limitBytes * KEEP_SHARE;
    if (trims && coins.usageBytes > keptBytes) coins.trim(keptBytes);
    for (const { gte, lt } of deps.claims.prunable(index.active.height)) {
      await store.dropRange(gte, lt);
      store.packRange(gte, lt);
    }
  }

  private tellProgress(): void {
    const { chain, height, options } = this;
    const { headers, active } = chain.index;
    const id = active.at(height);
    chain.events.emit('backgroundProgress', {
      activity: 'Validating the snapshot',
      done: headers.chainTxCount(id),
      total: headers.chainTxCount(active.at(options.record.height)),
      height,
      timeSec: headers.timeSec(id),
      txCount: headers.chainTxCount(id),
    });
  }

  /** Throws `Refutation` if a section of the state differs from the snapshot's. */
  private async compare(): Promise<void> {
    const { sections, record, log } = this.options;
    log.info('All blocks up to the snapshot are validated. Comparing the chain states.');
    const { signal } = this.ending;
    const view = await openView(
      {
        deps: this.ground.deps,
        readBlock: (id) => this.chain.readBlock(id),
        exclusively: (task) => task(),
        flush: () => this.flush(),
      },
      sections,
      null,
      signal,
    );
    try {
      const out = new SnapshotPacker(null);
      for (const [place, section] of sections.entries()) {
        const { name, hash, rows } = await packSection(out, view, section, place, signal);
        const wanted = record.parts.find((part) => part.name === name);
        if (wanted?.hash !== hash)
          throw new Refutation(
            `its ${name} differ from the result of its blocks (the snapshot has ${wanted?.rows ?? 0} rows with ` +
              `hash ${wanted?.hash ?? 'none'}; the blocks give ${rows} rows with hash ${hash})`,
          );
      }
    } finally {
      await view.close();
    }
  }

  /** Ends the validation after success. The folder is an ordinary folder afterwards. */
  private async pass(): Promise<void> {
    const { chain, flusher, options, ground } = this;
    const { store } = chain.deps;
    const { proofWindow } = options.claims;
    let batch: [string, Uint8Array][] = [];
    const put = (): Promise<void> =>
      chain.change(async () => {
        for (const [key, value] of batch) store.put(key, value);
        batch = [];
        await flusher.afterBlock();
      });
    for await (const row of pastNodeRows(ground.store, proofWindow, chain.height)) {
      batch.push(row);
      if (batch.length >= ROWS_AT_ONCE) await put();
    }
    options.onPoint('validation:before-pass');
    await put();
    await chain.change(async () => {
      await settleFirstProvable(store, ground.store);
      putSnapshotRecord(store, { ...options.record, state: 'validated' });
      await flusher.flush();
      this.passed = true;
      chain.index.snapshotHeight = -1;
    });
    options.onPoint('validation:passed');
    chain.acceptance.onStored = () => undefined;
    chain.acceptance.onInvalidBehind = () => undefined;
    chain.wantedBehind = () => null;
    chain.events.emit('backgroundProgress', null);
    await ground.store.close();
    await removeGround(options.path);
    options.log.info(
      `The snapshot of block ${options.record.height} (${options.record.block}) is validated: its blocks give the same chain state.`,
    );
    options.onPassed();
    await chain.connectBestChain();
  }

  /** Records that the snapshot is wrong, so that no later start uses it. Returns the error for the operator. */
  private async refute(problem: string): Promise<EnvironmentError> {
    const { chain, flusher, options, ground } = this;
    const record: SnapshotRecord = { ...options.record, state: 'refuted', problem };
    await chain.change(async () => {
      putSnapshotRecord(chain.deps.store, record);
      await flusher.flush();
    });
    this.passed = true;
    await ground.store.close();
    return new EnvironmentError(refutedText(record));
  }
}

/** Deletes the database of a background validation. */
export async function removeGround(path: string): Promise<void> {
  await rm(`${path}.journal`, { force: true });
  await rm(path, { recursive: true, force: true });
}

/** Whether the error concerns the validation's own database. */
function isOwnCorruption(error: unknown, path: string): boolean {
  return error instanceof Error && error.message.includes(path) && /corrupt/i.test(error.message);
}

async function openGround(chain: Chain, options: ValidationOptions): Promise<Ground> {
  const store = await RowStore.open({
    path: options.path,
    cacheBytes: 8 << 20,
    recent: { shares: RECENT_SHARES, maxBytes: options.claimCacheBytes },
    batchBytes: options.batchBytes,
    onPoint: options.onPoint,
  });
  try {
    const state = parseChainState(await store.get(PREFIX.tip));
    const { headers, active } = chain.index;
    const index = new BlockIndex(headers, options.indexOptions);
    const tip = state.tip === null ? NO_HEADER : headers.find(hashFromHex(state.tip));
    if (state.tip !== null && !active.contains(tip)) throw new Error('its tip is not in the active chain');
    index.active.reset(tip);
    const contributors = options.contributors();
    for (const contributor of contributors) {
      await contributor.open(store);
      const { lastBlock } = contributor;
      const last = lastBlock === null ? NO_HEADER : headers.find(lastBlock);
      // The rows of an index that lacks blocks differ from those of the snapshot. A correct snapshot would be refused.
      if (last !== tip) throw new Error('an index in it is not at its tip');
    }
    const ground: Ground = {
      store,
      coinsOnDisk: state.coinsOnDisk,
      deps: {
        ...chain.deps,
        index,
        store,
        coins: createCoinTable(),
        claims: new ClaimStore(options.claims),
        contributors,
        timers: new StepTimers(),
        folder: options.path,
        coinsOnDisk: () => ground.coinsOnDisk,
        onPoint: options.onPoint,
      },
    };
    return ground;
  } catch (error) {
    await store.close();
    throw error;
  }
}
