/** Files in the form of answers. Source: lbry-sdk lbry/extras/daemon/json_response_encoder.py `encode_file`. */
import { decodeClaim } from '../../metadata/claim.js';
import { claimToJson } from '../../metadata/claimJson.js';
import { mediaTypeOfFile } from '../../metadata/mediaTypes.js';
import { parseTransaction, txid, type Transaction } from '../../primitives/transaction.js';
import { Reader } from '../../util/reader.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { basename } from 'node:path';
import { float } from '../base/answerJson.js';
import type { StoredClaim } from '../content/rows.js';
import type { ManagedFile } from '../files/managedFile.js';
import type { DownloadProgress } from '../exchange/ports.js';
import { pathOf } from '../files/outputs.js';
import { outputsOf } from '../lists/transactionTxos.js';
import { outputToJson, transactionToJson, type ShowPort } from '../txo/outputJson.js';
import { TX_HEIGHT, Txo } from '../txo/txo.js';
import type { DaemonContext } from './context.js';
import { showPortOf } from './showPort.js';
import { hashFromHex } from '../../util/bytes.js';

type Json = Record<string, JsonOut>;

/** Fields of an answer that come from the claim's value. They are null if the value cannot be decoded. */
function valueMembers(claim: StoredClaim | null, port: ShowPort): Json {
  const bytes = claim === null ? null : Buffer.from(claim.value, 'hex');
  try {
    const decoded = bytes === null ? null : decodeClaim(bytes);
    const metadata = decoded === null ? null : claimToJson(decoded, port.ledger.addressPrefixes);
    return { metadata, protobuf: claim?.value ?? null };
  } catch {
    return { metadata: null, protobuf: claim?.value ?? null };
  }
}

/** Spent outputs of a transaction, in the order of its inputs; null for outputs that are not in a loaded wallet. */
async function spentBy(tx: Transaction, { services }: DaemonContext): Promise<(Txo | null)[]> {
  const accountIds = services.runningWallets?.all.flatMap((wallet) => wallet.accountIds) ?? [];
  const outPoints = tx.inputs.map(({ prevout }) => ({ txid: prevout.hash, nout: prevout.index }));
  const rows = await services.ledger.database.txos({ accountIds, outPoints, isMyOutput: null });
  return outPoints.map(({ txid: hash, nout }) => {
    const row = rows.find((one) => one.nout === nout && one.txid.equals(hash));
    return row === undefined ? null : new Txo(row);
  });
}

/**
 * Formats the transaction that paid for the file. The raw transaction contains all its outputs. As in lbry-sdk, the output that
 * pays the creator is of type `payment`, although lists of outputs show it as `purchase`.
 */
async function feeToJson(raw: string | null, port: ShowPort, context: DaemonContext): Promise<JsonOut> {
  if (raw === null) return null;
  const tx = parseTransaction(new Reader(Buffer.from(raw, 'hex')));
  const height = TX_HEIGHT.notBroadcast;
  const outputs = outputsOf(tx, txid(tx), height);
  for (const { notes } of outputs) delete notes.purchasedClaimId;
  return transactionToJson({ tx, height, spent: await spentBy(tx, context), outputs }, port);
}

/** Current height of the file's claim, which may have been unconfirmed when it was stored. */
async function heightOf(claim: StoredClaim | null, { services }: DaemonContext): Promise<number | null> {
  if (claim === null) return null;
  if (claim.height > 0) return claim.height;
  const { runningWallets } = services;
  if (runningWallets === null) return claim.height;
  const [id = '', nout] = claim.outpoint.split(':');
  const accountIds = runningWallets.all.flatMap((wallet) => wallet.accountIds);
  const outPoints = [{ txid: hashFromHex(id), nout: Number(nout) }];
  const [row] = await services.ledger.database.txos({ accountIds, outPoints, isMyOutput: null });
  return row?.height ?? claim.height;
}

/**
 * Progress of the download; no fields if the file is not being downloaded. The connections of a download may last a little
 * longer than the download itself. `completed` is the number of stored data blobs.
 */
export function progressMembers(
  {
    isRunning,
    bounds,
    writtenBytes,
    row,
  }: Pick<ManagedFile, 'isRunning' | 'bounds' | 'writtenBytes' | 'row'>,
  completed: number,
  progress: DownloadProgress | null,
): Json {
  if (progress === null || !isRunning || completed === row.blobsInStream) return {};
  // A file that is only played has no output, and blobs that are not stored do not count as completed.
  const doneBytes = Math.max(writtenBytes ?? 0, (bounds.upper * completed) / row.blobsInStream);
  const leftBytes = Math.max(0, bounds.upper - doneBytes);
  const { peers, bytesPerSecond } = progress;
  return {
    peers,
    bytes_per_second: bytesPerSecond,
    seconds_left: bytesPerSecond === 0 ? null : Math.ceil(leftBytes / bytesPerSecond),
  };
}

/** Progress of the upload to a reflector. As in lbry-sdk, `reflector_progress` is 0 before the start and after the end. */
function reflectorMembers(file: ManagedFile, { services }: DaemonContext): Json {
  const { progress, failure } = services.files.uploadOf(file);
  const percent = progress === null ? 0 : (progress.bytesSent * 100) / Math.max(1, progress.bytesToSend);
  return {
    reflector_progress: Math.min(100, Math.floor(percent)),
    uploading_to_reflector: progress !== null,
    ...(progress === null && failure !== null && { reflector_error: failure }),
  };
}

/** Formats a file. `receipt` is the wallet's payment for the claim, if the caller requested it. */
export async function fileToJson(
  file: ManagedFile,
  context: DaemonContext,
  receipt: Txo | null = null,
): Promise<Json> {
  const { services } = context;
  const { row, place } = file;
  const { claim } = row;
  // Heights of claims need the headers of the component `wallet`.
  const port = services.runningWallets === null ? null : showPortOf(context);
  await file.lookAtOutput();
  await services.blobs.originals.lookAt(row.streamHash);
  const isThere = file.writtenBytes !== null && place !== null;
  const [host, mediaPort] = services.control.mediaAddress();
  const completed = await services.files.blobsCompleted(file);
  const height = await heightOf(claim, context);
  const [claimTxid = null, nout] = claim?.outpoint.split(':') ?? [];
  return {
    streaming_url: `http://${host}:${mediaPort}/stream/${row.sdHash}`,
    completed: file.isCompleted,
    file_name: isThere ? basename(place.fileName) : null,
    download_directory: isThere ? place.directory : null,
    download_path: isThere ? pathOf(place) : null,
    points_paid: float(0),
    stopped: !file.isRunning,
    stream_hash: row.streamHash,
    stream_name: file.streamName,
    suggested_file_name: file.suggestedFileName,
    sd_hash: row.sdHash,
    mime_type: mediaTypeOfFile(file.suggestedFileName).mediaType,
    key: row.key,
    total_bytes_lower_bound: file.bounds.lower,
    total_bytes: file.bounds.upper,
    written_bytes: file.writtenBytes ?? 0,
    blobs_completed: completed,
    blobs_in_stream: row.blobsInStream,
    blobs_remaining: row.blobsInStream - completed,
    status: row.status,
    claim_id: claim?.claimId ?? null,
    txid: claimTxid,
    nout: nout === undefined ? null : Number(nout),
    outpoint: claim?.outpoint ?? null,
    ...(port === null ? { metadata: null, protobuf: claim?.value ?? null } : valueMembers(claim, port)),
    channel_claim_id: claim?.channelClaimId ?? null,
    channel_name: row.channelName,
    claim_name: claim?.name ?? null,
    content_fee: port === null ? null : await feeToJson(row.contentFee, port, context),
    purchase_receipt: receipt === null || port === null ? null : outputToJson(receipt, port),
    added_on: row.addedOn,
    height,
    confirmations: height === null || port === null ? null : height > 0 ? port.height + 1 - height : height,
    timestamp: height === null || port === null ? null : port.timeSecAt(height),
    is_pinned: services.files.pins.has(file),
    original_file: services.blobs.originals.stateOf(row.streamHash),
    is_fully_reflected: await services.files.isReflected(file),
    ...reflectorMembers(file, context),
    ...progressMembers(file, completed, services.files.progressOf(file)),
  };
}
