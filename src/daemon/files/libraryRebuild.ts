/**
 * Rebuilds the library after a loss of its database. Streams are recovered from the descriptors among the blobs, and their
 * claims from a hub. The work continues in the background and across restarts. The log lists what cannot be recovered.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { failureReason } from '../../util/text/environmentError.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { sleep } from '../base/clock.js';
import { readDescriptor, type StreamDescriptor } from '../content/descriptor.js';
import type { Resolver } from '../resolve/resolver.js';
import { Txo } from '../txo/txo.js';
import { sdHashOf, type FileManager } from './fileManager.js';
import type { ManagedFile } from './managedFile.js';
import { outputSize, pathOf } from './outputs.js';
import type { FilesDeps } from './ports.js';

/** Number of blob files whose first bytes are read concurrently. Arbitrary. */
const LOOKS_AT_ONCE = 64;
/** Number of descriptors per request to a hub; several claims may name the same descriptor. Arbitrary. */
const CLAIMS_AT_ONCE = 20;
/** Claims per page of a hub's response. Source: maximum page size of `claim_search`. */
const PAGE_SIZE = 50;
/**
 * `WAIT_MS`: interval in ms of the checks whether the wallet runs. `RETRY_MS`: pause in ms after a failed request to a hub.
 * Both are arbitrary.
 */
const WAIT_MS = 2000;
const RETRY_MS = 30_000;

/** Finds claims for a rebuild. The object is null while the wallet does not run. */
export interface ClaimFinder {
  readonly resolver: Pick<Resolver, 'search'>;
  readonly params: LedgerParams;
  /** Account ids of all open wallets. */
  readonly accountIds: readonly string[];
}

export interface LibraryRebuildDeps {
  readonly manager: FileManager;
  readonly files: FilesDeps;
  readonly finder: () => ClaimFinder | null;
  readonly signal: AbortSignal;
}

/** Result of a rebuild: counts of recovered items, and items that could not be recovered. */
export interface RebuildReport {
  /** Number of streams whose rows were rebuilt from their descriptors. */
  readonly streams: number;
  readonly files: number;
  /** Number of files that were linked to their claims. */
  readonly claims: number;
  /** Descriptors of files for which no claim was found. */
  readonly withoutClaim: readonly string[];
  /** Blobs that start like a descriptor but are invalid or corrupt. */
  readonly unreadable: readonly string[];
  /** Number of blobs that belong to no stream. These blobs stay on disk. */
  readonly blobsOfNoStream: number;
}

/** Chooses the claim of a file: the wallet's own claim if there is one, otherwise the oldest claim. */
function choose(claims: readonly Txo[]): Txo | undefined {
  const rank = (txo: Txo): number => {
    if (txo.notes.isMyOutput) return -1;
    const created = txo.notes.meta?.['creation_height'];
    return typeof created === 'number' ? created : txo.height;
  };
  return claims.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Whether the file has the hash that the claim contains. */
async function isOfClaim(path: string, claim: Txo): Promise<boolean> {
  const type = claim.claim?.claim.type;
  const hash = type?.case === 'stream' ? type.value.source?.hash : undefined;
  if (hash === undefined || hash.length === 0) return false;
  const found = createHash('sha384');
  await pipeline(createReadStream(path), found);
  return found.digest().equals(hash);
}

export class LibraryRebuild {
  readonly #deps: LibraryRebuildDeps;
  #running: Promise<RebuildReport> | null = null;
  /** Hashes of the streams whose rows were rebuilt since the start of the daemon. */
  readonly #made = new Set<string>();

  constructor(deps: LibraryRebuildDeps) {
    this.#deps = deps;
  }

  /** Starts the rebuild if rows of files were lost. Never rejects. */
  async start(): Promise<void> {
    const { files, signal } = this.#deps;
    try {
      if (!(await files.database.isLibraryLost())) return;
      files.log.warn(
        'The database has no rows for the blobs in blobfiles: the library is rebuilt from the blobs.',
      );
      await this.run();
    } catch (error) {
      if (!signal.aborted) files.log.warn(`The library could not be rebuilt: ${failureReason(error)}`);
    }
  }

  /** Runs the rebuild. Resolves at its end. Concurrent calls share one run. Rejects when the daemon stops. */
  run(): Promise<RebuildReport> {
    this.#running ??= this.#run().finally(() => (this.#running = null));
    return this.#running;
  }

  /** Resolves when no rebuild is running. Abort the signal before the call. */
  async close(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  async #run(): Promise<RebuildReport> {
    const { files, signal } = this.#deps;
    const { streams, unreadable } = await this.#findStreams();
    const added = await this.#addFiles();
    const blobsOfNoStream = await this.#countStrays();
    files.log.info(
      `${streams} streams were found among the blobs; their claims are looked up when the wallet component has started.`,
    );
    const { claims, withoutClaim } = await this.#findClaims();
    signal.throwIfAborted();
    await files.database.endRebuild();
    const report = { streams, files: added, claims, withoutClaim, unreadable, blobsOfNoStream };
    this.#tell(report);
    return report;
  }

  #tell({ streams, files, claims, withoutClaim, unreadable, blobsOfNoStream }: RebuildReport): void {
    const { log } = this.#deps.files;
    log.info(
      `The library was rebuilt: ${streams} streams and ${files} files from their descriptors, ${claims} claims from the hub.`,
    );
    const lost = [
      withoutClaim.length > 0 && `no claim was found for the streams ${shortList(withoutClaim)}`,
      unreadable.length > 0 && `the descriptors ${shortList(unreadable)} could not be read`,
      blobsOfNoStream > 0 && `${blobsOfNoStream} blobs belong to no stream; they are kept`,
    ].filter((part) => part !== false);
    if (lost.length > 0) log.warn(`Not restored: ${lost.join('; ')}.`);
  }

  /** Reads blobs that belong to no stream, and yields to other work of the daemon in between. */
  async #findStreams(): Promise<{ streams: number; unreadable: string[] }> {
    const { files, signal } = this.#deps;
    const unreadable: string[] = [];
    let streams = 0;
    const all = files.blobs.inFolder;
    for (let at = 0; at < all.length; at += LOOKS_AT_ONCE) {
      signal.throwIfAborted();
      const stray = await files.database.ofNoStream(all.slice(at, at + LOOKS_AT_ONCE));
      for (const hash of await files.blobs.descriptorsAmong(stray))
        if (await this.#addStream(hash)) streams++;
        else unreadable.push(hash);
    }
    return { streams, unreadable };
  }

  async #addStream(sdHash: string): Promise<boolean> {
    const { database, blobs, clock } = this.#deps.files;
    const bytes = await blobs.readInFolder(sdHash);
    if (bytes === null) return false;
    let descriptor: StreamDescriptor;
    try {
      descriptor = readDescriptor(bytes);
    } catch {
      return false;
    }
    // Streams are first marked as own (`isMine`), so that the cleaning does not delete their blobs. The mark is removed
    // when the claim of the stream turns out to belong to someone else.
    const [sdLengthBytes, addedOn] = [bytes.length, clock.nowSec()];
    await database.addStream({ descriptor, sdHash, sdLengthBytes, addedOn, isMine: true });
    this.#made.add(descriptor.streamHash);
    return true;
  }

  /** Creates a file (row) for each stream that has no file. */
  async #addFiles(): Promise<number> {
    const { manager, files, signal } = this.#deps;
    const { database, blobs, clock } = files;
    const streams = await database.streamsWithoutFile();
    for (const streamHash of streams) {
      signal.throwIfAborted();
      const path = await blobs.originals.adopt(streamHash);
      const place = path === null ? null : { fileName: basename(path), directory: dirname(path) };
      const isSaved = (await outputSize(place)) !== null;
      await manager.add({
        streamHash,
        place: isSaved ? place : null,
        status: isSaved ? 'finished' : 'stopped',
        isSaved,
        contentFee: null,
        addedOn: clock.nowSec(),
      });
    }
    return streams.length;
  }

  async #countStrays(): Promise<number> {
    const { database, blobs } = this.#deps.files;
    const all = blobs.inFolder;
    let count = 0;
    for (let at = 0; at < all.length; at += 1000)
      count += (await database.ofNoStream(all.slice(at, at + 1000))).length;
    return count;
  }

  async #whenWalletRuns(): Promise<ClaimFinder> {
    const { finder, signal, files } = this.#deps;
    for (;;) {
      signal.throwIfAborted();
      const found = finder();
      if (found !== null) return found;
      await sleep(files.clock, WAIT_MS, signal);
    }
  }

  async #findClaims(): Promise<{ claims: number; withoutClaim: string[] }> {
    const { manager, files, signal } = this.#deps;
    const wanted = await files.database.filesWithoutClaim();
    const withoutClaim: string[] = [];
    for (let at = 0; at < wanted.length;) {
      const finder = await this.#whenWalletRuns();
      const streams = wanted.slice(at, at + CLAIMS_AT_ONCE);
      try {
        const batch = await Promise.all(streams.map((streamHash) => manager.byStreamHash(streamHash)));
        const there = batch.filter((file) => file !== null);
        withoutClaim.push(...(await this.#tieAll(there, finder)));
        at += streams.length;
      } catch (error) {
        signal.throwIfAborted();
        files.log.warn(
          `Claims of the library could not be looked up; the lookup is repeated: ${failureReason(error)}`,
        );
        await sleep(files.clock, RETRY_MS, signal);
      }
    }
    return { claims: wanted.length - withoutClaim.length, withoutClaim };
  }

  /** Links a batch of files to their claims. Resolves to the descriptor hashes of files for which no claim was found. */
  async #tieAll(batch: readonly ManagedFile[], finder: ClaimFinder): Promise<string[]> {
    const found = await this.#claimsOf(
      batch.map(({ row }) => row.sdHash),
      finder,
    );
    const missing: string[] = [];
    for (const file of batch) {
      const { sdHash } = file.row;
      const claim =
        found.get(sdHash) ??
        (found.isCutOff ? (await this.#claimsOf([sdHash], finder)).get(sdHash) : undefined);
      if (claim === undefined || (await this.#tie(file, claim, finder)) !== null) missing.push(sdHash);
    }
    return missing;
  }

  async #claimsOf(sdHashes: readonly string[], { resolver, accountIds }: ClaimFinder) {
    const query = { sd_hash: sdHashes, claim_type: 'stream', limit: PAGE_SIZE, offset: 0, no_totals: true };
    const { rows } = await resolver.search(query, accountIds, { isMyOutput: true });
    const bySd = new Map<string, Txo[]>();
    for (const row of rows) {
      const sdHash = row instanceof Txo ? sdHashOf(row) : null;
      if (sdHash !== null) bySd.set(sdHash, [...(bySd.get(sdHash) ?? []), row as Txo]);
    }
    return { isCutOff: rows.length >= PAGE_SIZE, get: (sdHash: string) => choose(bySd.get(sdHash) ?? []) };
  }

  /** Links a file to a claim. Resolves to null on success. */
  async #tie(file: ManagedFile, claim: Txo, { params }: ClaimFinder): Promise<string | null> {
    const { manager, files } = this.#deps;
    const { streamHash } = file.row;
    const problem = await manager.keepClaim(claim, params, streamHash);
    if (problem !== null) return problem;
    if (this.#made.has(streamHash) && !claim.notes.isMyOutput) await files.database.setOwn(streamHash, false);
    if (file.place === null) await this.#findSaved(file, claim);
    return null;
  }

  /** Looks for the saved file under its default name in the download folder, and records it if its hash matches the claim. */
  async #findSaved(file: ManagedFile, claim: Txo): Promise<void> {
    const { manager, files } = this.#deps;
    const { streamHash } = file.row;
    const place = { fileName: file.suggestedFileName, directory: files.settings().downloadDir };
    const sizeBytes = await outputSize(place);
    const { lower, upper } = file.bounds;
    if (sizeBytes === null || sizeBytes < lower || sizeBytes > upper) return;
    if (!(await isOfClaim(pathOf(place), claim).catch(() => false))) return;
    await files.database.setFilePlace(streamHash, place, true, 'finished');
    await manager.reload(streamHash);
    await file.lookAtOutput();
  }
}

/** Shortens a list of texts for the log. */
function shortList(texts: readonly string[]): string {
  const shown = texts.slice(0, 5).join(', ');
  return texts.length > 5 ? `${shown} and ${texts.length - 5} more` : shown;
}
