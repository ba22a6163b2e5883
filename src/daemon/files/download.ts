/**
 * Implements `get`: resolves a URL, pays the price and starts the download of the file. Error texts are lbry-sdk's. Source:
 * lbry-sdk lbry/file/file_manager.py `download_from_uri`.
 */
import { stat } from 'node:fs/promises';
import { formatTransaction } from '../../primitives/transaction.js';
import { hashToHex } from '../../util/bytes.js';
import { Lru } from '../../util/lru.js';
import { JsonObject } from '../../util/json/json.js';
import { mediaTypeOfFile } from '../../metadata/mediaTypes.js';
import { parseUrl } from '../../metadata/url.js';
import { DaemonError, failure } from '../base/daemonError.js';
import { pythonStr } from '../base/pythonText.js';
import { ResolveError } from '../base/resolveError.js';
import type { MadeTransaction, TxBuilder } from '../txBuilding/txBuilder.js';
import { buildPurchase, isBought, priceIn } from '../txBuilding/purchases.js';
import type { Resolver } from '../resolve/resolver.js';
import { Txo } from '../txo/txo.js';
import type { WalletPort } from '../txBuilding/ports.js';
import { sdHashOf, type FileManager } from './fileManager.js';
import type { ManagedFile } from './managedFile.js';
import { usablePlace, type ChosenPlace } from './outputs.js';
import type { FilesDeps } from './ports.js';

/** Source: `resolve_timeout`. */
const RESOLVE_MS = 3000;
/** Number of streams that are described without being files of the daemon. Arbitrary. */
const DESCRIBED_STREAMS = 1000;

/** What a claim states about its stream. */
export interface DescribedStream {
  readonly sdHash: string;
  /** Null if the claim does not contain the size. */
  readonly sizeBytes: number | null;
  readonly mimeType: string;
}

export interface DownloadRequest {
  readonly url: string;
  readonly wallet: WalletPort;
  readonly accountIds: readonly string[];
  readonly fileName?: string | undefined;
  readonly directory?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly savesFile?: boolean | undefined;
}

export interface DownloadPorts {
  readonly manager: FileManager;
  readonly files: FilesDeps;
  readonly txBuilder: TxBuilder;
  readonly resolver: Pick<Resolver, 'resolve'>;
}

/** Returns a signal that aborts with an error after `timeoutMs` milliseconds. */
function timeLimit(
  { clock }: FilesDeps,
  ms: number,
  error: () => Error,
): { signal: AbortSignal; end(): void } {
  const ending = new AbortController();
  const timer = clock.after(Math.max(0, ms), () => ending.abort(error()));
  return { signal: ending.signal, end: () => timer.cancel() };
}

async function withLimit<T>(
  files: FilesDeps,
  ms: number,
  error: () => Error,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = timeLimit(files, ms, error);
  const late = new Promise<never>((_resolve, reject) =>
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason as Error), { once: true }),
  );
  try {
    return await Promise.race([run(limit.signal), late]);
  } finally {
    limit.end();
  }
}

/** Resolves a URL to a claim. Throws an error with lbry-sdk's text if the claim does not exist or has no downloadable stream. */
async function resolveStream(
  { url, accountIds }: DownloadRequest,
  { files, resolver }: DownloadPorts,
): Promise<Txo> {
  const parsed = parseUrl(url);
  if (parsed === null || parsed.stream === null)
    throw new DaemonError('InvalidStreamURLError', `Invalid LBRY stream URL: '${url}'`);
  const timeout = (): Error =>
    new DaemonError('ResolveTimeoutError', `Failed to resolve '${url}' within the timeout.`);
  let found;
  try {
    const includes = { purchaseReceipt: true, isMyOutput: true };
    found = await withLimit(files, RESOLVE_MS, timeout, () => resolver.resolve([url], accountIds, includes));
  } catch (error) {
    if (error instanceof DaemonError && error.name === 'ResolveTimeoutError') throw error;
    throw new ResolveError('hub failed', `Unexpected error resolving stream: ${(error as Error).message}`);
  }
  const resolved = found.get(url) ?? null;
  if (resolved instanceof Txo) return resolved;
  if (resolved === null) throw new ResolveError('not found', `Failed to resolve stream at '${url}'`);
  const { name, text } = resolved.failure;
  const shown = new JsonObject([
    [
      'error',
      new JsonObject([
        ['name', name],
        ['text', text],
      ]),
    ],
  ]);
  const problem = name === 'BLOCKED' ? 'blocked' : 'not found';
  throw new ResolveError(problem, `Failed to resolve stream at '${url}': ${pythonStr(shown)}`);
}

/** Returns the hash of the claim's descriptor. Throws `ResolveError` if the claim has none. */
function sourceOf(claim: Txo, url: string): string {
  const sdHash = sdHashOf(claim);
  if (sdHash === null)
    throw new ResolveError('no file', `There is nothing to download at ${url} - Source is unknown or unset`);
  return sdHash;
}

function describe(claim: Txo, sdHash: string): DescribedStream {
  const type = claim.claim?.claim.type;
  const source = type?.case === 'stream' ? type.value.source : undefined;
  return {
    sdHash,
    sizeBytes: Number(source?.size ?? 0n) || null,
    // The name decides, as for a file.
    mimeType: (source?.name === '' && source.mediaType) || mediaTypeOfFile(source?.name ?? '').mediaType,
  };
}

interface Attempt {
  readonly claim: Txo;
  readonly sdHash: string;
  /** How the file is saved; null if it is not saved. */
  readonly save: ChosenPlace | null;
  readonly timeoutMs: number;
  readonly startedMs: number;
}

/** Saves an existing file of the claim if requested and the saved file is missing. */
async function resume(file: ManagedFile, attempt: Attempt, ports: DownloadPorts): Promise<ManagedFile> {
  const problem = await ports.manager.keepClaim(
    attempt.claim,
    ports.txBuilder.ports.ledger.params,
    file.row.streamHash,
  );
  if (problem !== null) throw failure(problem);
  await openInTime(attempt, ports);
  await file.lookAtOutput();
  if (attempt.save !== null && file.writtenBytes === null && !file.isSaving)
    await saveInTime(file, attempt.save, attempt, ports);
  return file;
}

/** Downloads the descriptor within the time limit. If that fails, throws `DownloadSDTimeoutError`, and no file or row remains. */
function openInTime({ sdHash, timeoutMs }: Attempt, { files, manager }: DownloadPorts) {
  const { blobTimeoutMs } = files.settings();
  // A descriptor on disk is not downloaded, so the limit of the request does not apply.
  const ms = files.blobs.finished.has(sdHash) ? blobTimeoutMs : Math.min(timeoutMs, blobTimeoutMs);
  const late = (): Error =>
    new DaemonError('DownloadSDTimeoutError', `Failed to download sd blob ${sdHash} within timeout.`);
  return withLimit(files, ms, late, (signal) => manager.reader.open(sdHash, signal));
}

/**
 * Starts to save the file within what is left of the time limit. If that fails, throws `DownloadDataTimeoutError`; the file
 * stays in the list of files.
 */
const saveInTime = (
  file: ManagedFile,
  options: ChosenPlace,
  { timeoutMs, startedMs }: Attempt,
  { files }: DownloadPorts,
): Promise<void> => file.saveInTime(options, timeoutMs - (files.clock.nowMs() - startedMs));

/** Creates the stream's rows and file. The price is paid after the descriptor has arrived. */
async function begin(
  { wallet }: DownloadRequest,
  attempt: Attempt,
  replaced: ManagedFile | null,
  ports: DownloadPorts,
): Promise<ManagedFile> {
  const { claim, sdHash, save } = attempt;
  const { files, txBuilder, manager } = ports;
  const mustPay =
    replaced === null &&
    !claim.notes.isMyOutput &&
    priceIn(claim) !== undefined &&
    !claim.notes.purchaseReceipt &&
    // The claim may have been bought after it was resolved.
    !(await isBought(txBuilder, wallet.accountsOrAll(undefined), hashToHex(claim.claimId!)));
  let payment: MadeTransaction | null = mustPay ? await buildPurchase(txBuilder, wallet, claim) : null;
  try {
    const { descriptor, sdLengthBytes } = await openInTime(attempt, ports);
    await files.database.addStream({
      descriptor,
      sdHash,
      sdLengthBytes,
      addedOn: files.clock.nowSec(),
      isMine: false,
    });
    if (replaced !== null) await manager.delete(replaced, false);
    const paid = payment;
    if (paid !== null) {
      payment = null;
      await txBuilder.send(paid);
    }
    const file = await manager.add({
      streamHash: descriptor.streamHash,
      place: null,
      status: 'running',
      isSaved: false,
      contentFee: paid === null ? null : formatTransaction(paid.tx).toString('hex'),
      addedOn: files.clock.nowSec(),
    });
    const problem = await manager.keepClaim(claim, txBuilder.ports.ledger.params, descriptor.streamHash);
    if (problem !== null) throw failure(problem);
    // A file without a reader is stopped after a short time, so a reader is opened and closed here.
    if (save === null) await file.withReader(() => Promise.resolve());
    else await saveInTime(file, save, attempt, ports);
    return file;
  } finally {
    if (payment !== null) await txBuilder.release(payment);
  }
}

/** The listed file of the stream; null if it is not listed. Throws `ResolveError` if it belongs to another claim. */
async function knownFile({ claim, sdHash }: Attempt, manager: FileManager): Promise<ManagedFile | null> {
  const known = await manager.bySdHash(sdHash);
  const tied = known?.row.claim ?? null;
  const claimId = hashToHex(claim.claimId!);
  if (tied !== null && tied.claimId !== claimId)
    throw new ResolveError(
      'collision',
      `stream for ${tied.claimId} collides with existing download ${claimId}`,
    );
  return known;
}

async function download(request: DownloadRequest, ports: DownloadPorts): Promise<ManagedFile> {
  const { files, manager, txBuilder } = ports;
  const settings = files.settings();
  const savesFile = request.savesFile ?? settings.savesFiles;
  const startedMs = files.clock.nowMs();
  const claim = await resolveStream(request, ports);
  await manager.keepClaim(claim, txBuilder.ports.ledger.params, null);
  const sdHash = sourceOf(claim, request.url);
  const claimId = hashToHex(claim.claimId!);
  const { fileName, directory = settings.downloadDir } = request;
  const attempt: Attempt = {
    claim,
    sdHash,
    // If the caller gives a file name, the file is saved.
    save: savesFile || fileName ? { fileName, directory } : null,
    timeoutMs: request.timeoutMs || settings.downloadTimeoutMs,
    startedMs,
  };
  const known = await knownFile(attempt, manager);
  if (known !== null) return resume(known, attempt, ports);
  return txBuilder.withPurchase(claimId, async () => {
    // Another request may have begun the download while this one waited.
    const begun = await knownFile(attempt, manager);
    if (begun !== null) return resume(begun, attempt, ports);
    return begin(request, attempt, await manager.byClaimId(claimId), ports);
  });
}

export class Downloads {
  readonly #ports: DownloadPorts;
  /** Running downloads by request. Equal concurrent requests share one download. */
  readonly #running = new Map<string, Promise<ManagedFile>>();
  readonly #described = new Lru<string, DescribedStream>(DESCRIBED_STREAMS);

  constructor(ports: DownloadPorts) {
    this.#ports = ports;
  }

  /** Descriptor hash of the stream that a URL names. Throws the same errors as `get`, and starts no download. */
  async lookUp(request: DownloadRequest): Promise<string> {
    const claim = await resolveStream(request, this.#ports);
    const sdHash = sourceOf(claim, request.url);
    this.#described.set(sdHash, describe(claim, sdHash));
    return sdHash;
  }

  /** What the claim of a recently requested stream states; null for other streams. */
  described(sdHash: string): DescribedStream | null {
    return this.#described.get(sdHash) ?? null;
  }

  /** Downloads a file. Throws with the text that `get` returns as `error`. */
  async get(asked: DownloadRequest): Promise<ManagedFile> {
    const request = { ...asked, ...usablePlace(asked) };
    const { url, directory, fileName, timeoutMs, savesFile, accountIds } = request;
    if (directory && !(await stat(directory).catch(() => null))?.isDirectory())
      throw failure(`specified download directory "${asked.directory}" does not exist`);
    const key = JSON.stringify([url, directory, fileName, timeoutMs, savesFile, accountIds]);
    const running = this.#running.get(key);
    if (running) return running;
    const begun = download(request, this.#ports).finally(() => this.#running.delete(key));
    this.#running.set(key, begun);
    return begun;
  }
}
