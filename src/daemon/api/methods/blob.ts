/** Blobs on disk: lists, announcements, deletion. Source: lbry-sdk daemon.py `jsonrpc_blob_*`. */
import { boundedErrorText } from '../../../util/text/errorText.js';
import { Txo } from '../../txo/txo.js';
import { failure } from '../../base/daemonError.js';
import { pageOf, pageOfList } from '../../base/pages.js';
import { isBlobHash } from '../../content/blobHash.js';
import type { DaemonContext } from '../context.js';
import { blobAnnounce, blobClean, blobDelete, blobList, blobRestore } from '../declarations/blob.js';
import { implement, type MethodImplementation } from '../implement.js';

/** Resolves a URL and returns the sd hash of its stream; null if the URL does not lead to a stream. */
async function sdHashOfUrl({ services }: DaemonContext, url: string): Promise<string | null> {
  const resolved = (await services.resolver.resolve([url])).get(url) ?? null;
  const type = resolved instanceof Txo ? resolved.claim?.claim.type : undefined;
  if (type?.case !== 'stream') return null;
  const sdHash = type.value.source?.sdHash;
  return sdHash === undefined || sdHash.length === 0 ? null : Buffer.from(sdHash).toString('hex');
}

interface StreamChoice {
  readonly uri?: string | undefined;
  readonly stream_hash?: string | undefined;
  readonly sd_hash?: string | undefined;
}

/** The sd blob and those data blobs of the chosen stream that the database has rows of. */
async function blobsOf(context: DaemonContext, choice: StreamChoice): Promise<string[]> {
  const { content } = context.services;
  let sdHash: string | null = choice.sd_hash ?? null;
  if (choice.uri) sdHash = await sdHashOfUrl(context, choice.uri);
  else if (choice.stream_hash) sdHash = await content.sdHashOf(choice.stream_hash);
  const streamHash = sdHash === null ? null : await content.streamHashOf(sdHash);
  // For a URL the hash of the sd blob is known even if the database has no blob of the stream.
  if (streamHash === null) return choice.uri && sdHash !== null ? [sdHash] : [];
  const rows = await content.blobsOfStream(streamHash);
  return [sdHash!, ...rows.flatMap(({ hash }) => (hash === null ? [] : [hash]))];
}

const list = implement(blobList, async (context, args) => {
  const { finished } = context.services.blobs;
  const isOfStream = args.uri || args.stream_hash || args.sd_hash;
  let hashes = isOfStream ? await blobsOf(context, args) : [...finished].sort();
  if (args.needed) hashes = hashes.filter((hash) => !finished.has(hash));
  if (args.finished) hashes = hashes.filter((hash) => finished.has(hash));
  return pageOfList(hashes, pageOf(args));
});

const announce = implement(blobAnnounce, async ({ services }, args) => {
  const { content, clock } = services;
  const { blob_hash: blobHash, sd_hash: sdHash, stream_hash: streamHash } = args;
  if (!blobHash && !sdHash && !streamHash) throw failure('single argument must be specified');
  if (!blobHash && sdHash && streamHash)
    throw failure('either the sd hash or the stream hash should be provided, not both');
  if (blobHash) {
    await content.announceSoon([blobHash], clock.nowSec());
    return true;
  }
  const stream = streamHash ?? (await content.streamHashOf(sdHash!));
  if (stream === null) return true;
  const rows = await content.blobsOfStream(stream);
  const hashes = [await content.sdHashOf(stream), ...rows.map(({ hash }) => hash)];
  await content.announceSoon(
    hashes.filter((hash) => hash !== null),
    clock.nowSec(),
  );
  return true;
});

const remove = implement(blobDelete, async ({ services }, args) => {
  const { content, blobs, runningFiles } = services;
  const hash = args.blob_hash;
  if (!isBlobHash(hash)) return boundedErrorText(`Invalid blob hash to delete '${hash}'`);
  // The file manager also ends the uploads of the file, and forgets its decrypted blobs.
  const file = (await runningFiles?.bySdHash(hash)) ?? null;
  const streamHash = file === null ? await content.streamHashOf(hash) : file.row.streamHash;
  if (file !== null) await runningFiles!.delete(file, false);
  else if (streamHash === null) await blobs.delete([hash]);
  else await blobs.deleteStream(streamHash);
  return `Deleted ${hash}`;
});

const clean = implement(blobClean, async ({ services }) => {
  // Files that the database does not know count only when they are checked.
  await services.blobs.settled.catch(() => undefined);
  await services.diskSpace.clean();
  return null;
});

const restore = implement(blobRestore, async ({ services }, args) => {
  const { streams, blobs, bytes, changed } = await services.blobs.restore(args.sd_hash || null);
  return { streams, blobs, bytes, changed: [...changed] };
});

export const blobMethods: readonly MethodImplementation[] = [announce, clean, remove, restore, list];
