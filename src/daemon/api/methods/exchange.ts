/** Blobs from peers and to reflectors. Source: lbry-sdk daemon.py `jsonrpc_blob_get`, `jsonrpc_file_reflect`, `jsonrpc_blob_reflect`. */
import { failureReason } from '../../../util/text/environmentError.js';
import { isHostPort, splitHostPort } from '../../../util/network/hostPort.js';
import { badValue, DaemonError, failure } from '../../base/daemonError.js';
import { isBlobHash } from '../../content/blobHash.js';
import type { BlobPlace } from '../../exchange/links.js';
import type { UploadResult } from '../../exchange/streamUpload.js';
import { ReflectorError } from '../../exchange/reflectorSession.js';
import type { DaemonServices } from '../context.js';
import { blobGet, blobReflect, blobReflectAll } from '../declarations/blob.js';
import { fileReflect } from '../declarations/file.js';
import { queryOf } from './file.js';
import { implement, type MethodImplementation } from '../implement.js';

/** Default port of a reflector. Source: lbry-sdk lbry/conf.py `reflector_servers`. */
const REFLECTOR_PORT = 5566;
const MAX_PORT = 65_535;

const get = implement(blobGet, async ({ services }, args) => {
  const { fetcher, settings, clock } = services;
  const hash = args.blob_hash;
  if (!isBlobHash(hash)) throw new DaemonError('InvalidBlobHashError', hash);
  if (args.timeout !== undefined && args.timeout < 0) throw badValue('timeout must not be negative');
  const seconds = args.timeout || settings.get('blob_download_timeout');
  const late = new AbortController();
  const text = `Failed to download blob ${hash} within ${seconds} seconds.`;
  // lbry-sdk accepts a timeout and ignores it.
  const timer = clock.after(seconds * 1000, () =>
    late.abort(new DaemonError('DownloadDataTimeoutError', text)),
  );
  try {
    const bytes = await fetcher!.fetchBlob(hash, null, { sdHash: hash, signal: late.signal });
    await services.blobs.kept(hash);
    if (!args.read) return `Downloaded blob ${hash}`;
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError && args.read)
      throw new DaemonError('UnicodeDecodeError', `blob ${hash} is not UTF-8 text`);
    throw error;
  } finally {
    timer.cancel();
  }
});

/** A reflector, and whether the caller named it. */
interface ReflectorChoice {
  readonly place: BlobPlace;
  readonly isNamed: boolean;
}

/** Returns the reflector that the caller named, otherwise one of the reflectors in the settings. Throws for a malformed name. */
function reflectorOf(
  { reflecting }: DaemonServices,
  name: string | undefined,
  port?: number,
): ReflectorChoice {
  if (name !== undefined && name !== '') {
    if (!isHostPort(name)) throw badValue(`'${name}' is not a reflector like HOST or HOST:PORT.`);
    const place = splitHostPort(name, port ?? REFLECTOR_PORT);
    if (place.port < 1 || place.port > MAX_PORT)
      throw badValue(`${place.port} is not a port of a reflector.`);
    return { place, isNamed: true };
  }
  if (port !== undefined) throw badValue('port must be given together with reflector');
  const place = reflecting.anyServer();
  if (place === null) throw badValue("The setting 'reflector_servers' contains no reflector.");
  return { place, isNamed: false };
}

/**
 * Throws if an upload sent nothing and is not complete. QUIRK: after a failure lbry-sdk returns an empty list, which also means
 * that the reflector has all blobs.
 */
function throwFailure(results: readonly UploadResult[], { host, port }: BlobPlace): void {
  const failed = results.find(({ sent, isComplete }) => sent.length === 0 && !isComplete);
  if (failed) throw failure(`The stream could not be reflected to ${host}:${port}: ${failed.reason}`);
}

const reflectFile = implement(fileReflect, async ({ services }, args) => {
  const { content, files, reflecting } = services;
  const { place, isNamed } = reflectorOf(services, args.reflector || args.server, args.port);
  const query = queryOf(args, ['reflector', 'server', 'port']);
  const streams = await content.sdHashesOf(await files.findStreams(query));
  const results = await Promise.all(
    streams.map((sdHash) => reflecting.reflectStream(sdHash, place, isNamed)),
  );
  throwFailure(results, place);
  return results.flatMap(({ sent }) => sent);
});

async function sendBlobs(
  services: DaemonServices,
  hashes: readonly string[],
  { place, isNamed }: ReflectorChoice,
): Promise<string[]> {
  const { content, reflecting, blobs } = services;
  const results: UploadResult[] = [];
  const single: string[] = [];
  for (const hash of hashes) {
    if (!blobs.finished.has(hash)) throw failure(`The blob ${hash} is not stored here.`);
    // A descriptor is sent with its stream; otherwise a reflector would not recognize it as a descriptor.
    if ((await content.streamHashOf(hash)) === null) single.push(hash);
    else results.push(await reflecting.reflectStream(hash, place, isNamed));
  }
  throwFailure(results, place);
  const sent = new Set(results.flatMap((result) => result.sent));
  try {
    const left = [...new Set(single)].filter((hash) => !sent.has(hash));
    return [...sent, ...(await reflecting.reflectBlobs(left, place))];
  } catch (error) {
    if (!(error instanceof ReflectorError)) throw error;
    throw failure(`Blobs could not be sent to ${place.host}:${place.port}: ${failureReason(error)}`);
  }
}

const reflectBlobs = implement(blobReflect, async ({ services }, args) => {
  for (const hash of args.blob_hashes)
    if (!isBlobHash(hash)) throw new DaemonError('InvalidBlobHashError', hash);
  return sendBlobs(services, args.blob_hashes, reflectorOf(services, args.reflector_server));
});

const reflectAll = implement(blobReflectAll, async ({ services }) => {
  await sendBlobs(services, [...services.blobs.finished].sort(), reflectorOf(services, undefined));
  return true;
});

export const exchangeMethods: readonly MethodImplementation[] = [get, reflectBlobs, reflectAll, reflectFile];
