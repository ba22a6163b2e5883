/** Files: lists, downloads, saving, states. Source: lbry-sdk daemon.py `jsonrpc_get`, `jsonrpc_file_*`. */
import { pythonRepr } from '../../base/pythonText.js';
import { failure } from '../../base/daemonError.js';
import { paged, pageOf } from '../../base/pages.js';
import type { FileFilter, FileQuery } from '../../files/fileFilters.js';
import type { ManagedFile } from '../../files/managedFile.js';
import { usablePlace } from '../../files/outputs.js';
import { listPurchases } from '../../lists/listTxos.js';
import { callErrorText, EnvironmentError } from '../../../util/text/environmentError.js';
import { boundedErrorText } from '../../../util/text/errorText.js';
import { JsonObject, type JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { DaemonContext } from '../context.js';
import {
  fileDelete,
  fileList,
  filePin,
  fileRebuild,
  fileSave,
  fileSetStatus,
  fileUnpin,
  get,
} from '../declarations/file.js';
import { fileToJson } from '../fileJson.js';
import { implement, type MethodImplementation } from '../implement.js';
import { listPortsOf } from './listing.js';

/** Names of arguments that do not select files. */
const NO_FILTERS = new Set([
  'sort',
  'reverse',
  'comparison',
  'wallet_id',
  'page',
  'page_size',
  'status_to_set',
  'delete_from_download_dir',
  'delete_all',
  'others',
  'download_directory',
]);

/** First page with two files. Two rows are enough to see whether exactly one file matches. */
const FIRST_TWO = { offset: 0, limit: 2 };

/** Arguments that select files, without those named in `besides`. */
function filterOf(args: object, besides: readonly string[] = []): FileFilter {
  const entries = Object.entries(args as Readonly<Record<string, JsonValue | undefined>>);
  const given = entries.filter(
    ([name, value]) => value !== undefined && !NO_FILTERS.has(name) && !besides.includes(name),
  );
  return Object.fromEntries(
    given.map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null && !Array.isArray(value) ? null : value,
    ]),
  ) as FileFilter;
}

/** Converts the arguments of a call to a query for files. The arguments in `besides` are not filters. */
export const queryOf = (
  args: { readonly comparison?: string | undefined },
  besides: readonly string[] = [],
): FileQuery => ({ filter: filterOf(args, besides), comparison: args.comparison });

/** Purchase receipts of the wallet for the claims of these files, by claim id. */
async function receiptsOf(
  context: DaemonContext,
  files: readonly ManagedFile[],
  walletId: string | undefined,
) {
  const { services } = context;
  const claimIds = files.flatMap(({ row }) => row.claim?.claimId ?? []);
  if (services.runningWallets === null || claimIds.length === 0) return new Map<string, never>();
  const wallet = services.wallets.get(walletId);
  const filter = { accountIds: wallet.accountIds, isPurchase: true, purchasedClaimIds: claimIds };
  const found = await listPurchases({ filter, page: {}, isResolved: false }, listPortsOf(context, wallet));
  return new Map(found.map((txo) => [txo.notes.purchasedClaimId, txo] as const));
}

const list = implement(fileList, async (context, args) => {
  const page = pageOf(args);
  const query = { ...queryOf(args), sort: args.sort, isReversed: args.reverse };
  const { files, total } = await context.services.files.findPart(query, {
    offset: page.offset,
    limit: page.pageSize,
  });
  const receipts = await receiptsOf(context, files, args.wallet_id);
  const items = await Promise.all(
    files.map((file) => fileToJson(file, context, receipts.get(file.row.claim?.claimId ?? '') ?? null)),
  );
  return paged(items, total, page);
});

const download = implement(get, async (context, args) => {
  const { services } = context;
  const wallet = services.wallets.get(args.wallet_id);
  try {
    const file = await services.downloads.get({
      url: args.uri,
      wallet,
      accountIds: wallet.accountIds,
      fileName: args.file_name,
      directory: args.download_directory,
      timeoutMs: args.timeout === undefined ? undefined : args.timeout * 1000,
      savesFile: args.save_file,
    });
    return await fileToJson(file, context);
  } catch (error) {
    const text = error instanceof EnvironmentError ? callErrorText(error) : (error as Error).message;
    return { error: boundedErrorText(text) };
  }
});

const setStatus = implement(fileSetStatus, async ({ services }, args) => {
  const { status } = args;
  if (status !== 'start' && status !== 'stop') throw failure('Status must be "start" or "stop".');
  const query = queryOf(args, ['status']);
  const [file] = (await services.files.findPart(query, FIRST_TWO)).files;
  if (file === undefined) {
    const given = {
      ...query.filter,
      ...(args.comparison === undefined ? {} : { comparison: args.comparison }),
    };
    const shown = new JsonObject(Object.entries(given) as [string, JsonValue][]);
    throw failure(`Unable to find a file for ${pythonRepr(shown)}`);
  }
  if (status === 'stop') {
    if (!file.isRunning) return 'File was already stopped';
    await file.stop();
    return 'Stopped download';
  }
  // A file that was streamed without being saved is saved from here on. A finished file is saved already.
  await file.lookAtOutput();
  if (file.isSaving || (file.row.isSaved && file.isCompleted)) return 'File was already being downloaded';
  await file.saveInTime({});
  return 'Resumed download';
});

const remove = implement(fileDelete, async ({ services }, args) => {
  const { files } = services;
  const streams = await files.findStreams(queryOf(args));
  if (streams.length === 0 || (streams.length > 1 && !args.delete_all)) return false;
  for (const streamHash of streams) {
    const file = await files.byStreamHash(streamHash);
    if (file !== null) await files.delete(file, args.delete_from_download_dir);
  }
  return true;
});

const save = implement(fileSave, async (context, args) => {
  const query = queryOf(args, ['file_name']);
  const place = usablePlace({ fileName: args.file_name, directory: args.download_directory });
  const { files } = await context.services.files.findPart(query, FIRST_TWO);
  const [file] = files;
  if (file === undefined || files.length > 1) return false;
  await file.saveInTime(place);
  return fileToJson(file, context);
});

const rebuild = implement(fileRebuild, async ({ services }) => {
  const { withoutClaim, blobsOfNoStream, streams, files, claims, unreadable } = await services.library.run();
  return {
    streams,
    files,
    claims,
    without_claim: [...withoutClaim],
    unreadable: [...unreadable],
    blobs_of_no_stream: blobsOfNoStream,
  };
});

/** Sets the pin of the files and channels that the arguments choose. Without a filter no file is chosen. */
async function pinChoice(
  { services }: DaemonContext,
  args: {
    readonly channel_id?: readonly string[] | undefined;
    readonly comparison?: string | undefined;
  },
) {
  const query = queryOf(args, ['channel_id']);
  const streams = Object.keys(query.filter).length === 0 ? [] : await services.files.findStreams(query);
  return { streams, channels: args.channel_id ?? [] };
}

async function pinsToJson({ services: { content, files } }: DaemonContext): Promise<JsonOut> {
  return { streams: await content.sdHashesOf(files.pins.streams), channels: files.pins.channels };
}

const pin = implement(filePin, async (context, args) => {
  await context.services.files.pins.add(await pinChoice(context, args));
  return pinsToJson(context);
});

const unpin = implement(fileUnpin, async (context, args) => {
  await context.services.files.pins.remove(await pinChoice(context, args));
  return pinsToJson(context);
});

export const fileMethods: readonly MethodImplementation[] = [
  list,
  download,
  pin,
  setStatus,
  unpin,
  remove,
  rebuild,
  save,
];
