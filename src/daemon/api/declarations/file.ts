/** Declarations of the methods of the group file, and `get`. */
import { t } from '../../../schema/schema.js';
import { declareMethod, declareParam, fileFilterOf, required } from '../declaration.js';
import {
  downloadDirectory,
  fileComparison,
  fileFilter,
  fileStateFilter,
  ofDescriptor,
  ofStatus,
  page,
  pageSize,
  timeout,
  unnamedFileFilter,
  uri,
} from './listParams.js';
import { walletId } from './params.js';
import { file, filePage } from './shapes.js';

/**
 * Usage text of the filters by state. In lbry-sdk only the usage text of `file_list` contains these filters, but the other methods
 * of files accept them too.
 */
const stateUsage = [
  '[--outpoint=<outpoint>] [--added_on=<added_on>] [--claim_height=<claim_height>]',
  '[--blobs_in_stream=<blobs_in_stream>] [--blobs_remaining=<blobs_remaining>]',
  '[--download_path=<download_path>] [--completed=<completed>] [--is_pinned=<is_pinned>]',
  '[--uploading_to_reflector=<uploading_to_reflector>]',
  '[--is_fully_reflected=<is_fully_reflected>] [--comparison=<comparison>]',
];
const statusUsage = '[--status=<status>]';
const stateFilter = [...fileStateFilter, fileComparison] as const;

export const fileDelete = declareMethod({
  name: 'file_delete',
  group: 'file',
  summary: 'Delete files.',
  details: [
    'It deletes the database rows and blobs of the matching files, except blobs that another stream needs. If several files match, nothing is deleted without delete_all. Without a filter all files match.',
  ],
  usage: [
    '[--delete_from_download_dir] [--delete_all] [--sd_hash=<sd_hash>] [--file_name=<file_name>]',
    '[--stream_hash=<stream_hash>] [--rowid=<rowid>] [--claim_id=<claim_id>] [--txid=<txid>]',
    '[--nout=<nout>] [--claim_name=<claim_name>] [--channel_claim_id=<channel_claim_id>]',
    '[--channel_name=<channel_name>]',
    statusUsage,
    ...stateUsage,
  ],
  params: [
    {
      name: 'delete_from_download_dir',
      type: 'bool',
      description: 'also delete the saved file; for a published file this is the original file',
      default: false,
    },
    {
      name: 'delete_all',
      type: 'bool',
      description: 'delete all matching files, even if there are several',
      default: false,
    },
    ...fileFilter,
    ofStatus,
    ...stateFilter,
  ],
  result: t.bool('whether files were deleted'),
  needs: ['file_manager'],
});

export const fileList = declareMethod({
  name: 'file_list',
  group: 'file',
  summary: 'List published, downloaded and played files.',
  details: [
    'A file is listed if it matches all filters. The default order is the order in which files were added.',
  ],
  usage: [
    '[--sd_hash=<sd_hash>] [--file_name=<file_name>] [--stream_hash=<stream_hash>]',
    '[--rowid=<rowid>] [--added_on=<added_on>] [--claim_id=<claim_id>] [--outpoint=<outpoint>]',
    '[--txid=<txid>] [--nout=<nout>] [--channel_claim_id=<channel_claim_id>]',
    '[--channel_name=<channel_name>] [--claim_name=<claim_name>]',
    '[--blobs_in_stream=<blobs_in_stream>] [--download_path=<download_path>]',
    '[--blobs_remaining=<blobs_remaining>] [--uploading_to_reflector=<uploading_to_reflector>]',
    '[--is_fully_reflected=<is_fully_reflected>] [--status=<status>] [--completed=<completed>]',
    '[--is_pinned=<is_pinned>] [--sort=<sort_by>] [--comparison=<comparison>]',
    '[--full_status=<full_status>] [--reverse]',
    '[--page=<page>] [--page_size=<page_size>] [--wallet_id=<wallet_id>]',
  ],
  params: [
    { name: 'sort', type: 'str', description: 'field to sort by: one of the filters' },
    { name: 'reverse', type: 'bool', description: 'sort in descending order', default: false },
    fileComparison,
    {
      ...walletId,
      description: 'id of the wallet whose purchases are returned; default: the default wallet',
    },
    page,
    pageSize,
    ...fileFilter,
    ofStatus,
    ...fileStateFilter,
    { name: 'full_status', type: 'bool', description: 'accepted for older clients, without effect' },
  ],
  result: filePage,
  needs: ['file_manager'],
});

export const fileRebuild = declareMethod({
  name: 'file_rebuild',
  group: 'file',
  summary:
    'Rebuild the database rows of streams and files from stored blobs, and find their claims at the hub.',
  usage: [],
  params: [],
  result: t.object(
    {
      streams: t.int('number of streams that were restored from their descriptors'),
      files: t.int('number of files that were added to the list'),
      claims: t.int('number of files whose claim was found'),
      without_claim: t.array(
        t.str('hash of a stream descriptor'),
        'files whose claim was not found at the hub',
      ),
      unreadable: t.array(t.str('hash of a blob'), 'blobs that begin like descriptors but cannot be parsed'),
      blobs_of_no_stream: t.int('number of blobs that no descriptor lists; they are kept'),
    },
    'result of the rebuild',
  ),
  needs: ['wallet', 'file_manager', 'blob_manager', 'database'],
});

const pinUsage = [
  '[--sd_hash=<sd_hash>] [--file_name=<file_name>] [--stream_hash=<stream_hash>]',
  '[--rowid=<rowid>] [--claim_id=<claim_id>] [--txid=<txid>] [--nout=<nout>]',
  '[--claim_name=<claim_name>] [--channel_claim_id=<channel_claim_id>]',
  '[--channel_name=<channel_name>] [--channel_id=<channel_id>...]',
  statusUsage,
  ...stateUsage,
];
const pinnedChannels = declareParam({
  name: 'channel_id',
  type: 'strOrList',
  description: 'ids of channels whose present and future files are meant',
});
const pinsLeft = t.object(
  {
    streams: t.array(t.str('hash of a stream descriptor'), 'individually pinned files'),
    channels: t.array(t.str('claim id'), 'pinned channels'),
  },
  'all present pins',
);

export const filePin = declareMethod({
  name: 'file_pin',
  group: 'file',
  summary: 'Keep blobs of files when disk space runs short.',
  details: [
    'Pinned blobs are not deleted to enforce blob_storage_limit. Without arguments the method only returns all pins.',
  ],
  usage: pinUsage,
  params: [...fileFilter, pinnedChannels, ofStatus, ...stateFilter],
  result: pinsLeft,
  needs: ['file_manager'],
});

export const fileReflect = declareMethod({
  name: 'file_reflect',
  group: 'file',
  summary: 'Send streams to a reflector.',
  details: [
    'Blobs that the reflector already has are not sent. Without a filter all streams of file_list are sent.',
  ],
  usage: [
    '[--sd_hash=<sd_hash>] [--file_name=<file_name>] [--stream_hash=<stream_hash>]',
    '[--rowid=<rowid>] [--reflector=<reflector>] [--server=<server>] [--port=<port>]',
    '[--claim_id=<claim_id>] [--txid=<txid>] [--nout=<nout>] [--claim_name=<claim_name>]',
    '[--channel_claim_id=<channel_claim_id>] [--channel_name=<channel_name>]',
    statusUsage,
    ...stateUsage,
  ],
  params: [
    // The usage text of lbry-sdk names four of these filters, but its method accepts all.
    ...fileFilter,
    {
      name: 'reflector',
      type: 'str',
      description: 'HOST or HOST:PORT of the reflector; default: a server of the setting reflector_servers',
    },
    { name: 'server', type: 'str', description: 'another name of the parameter reflector' },
    {
      name: 'port',
      type: 'int',
      description:
        'port of the reflector, if reflector contains none; only together with reflector; default: 5566',
    },
    ofStatus,
    ...stateFilter,
  ],
  result: t.array(t.str('hash of a blob that was sent')),
  needs: ['file_manager', 'blob_manager', 'database'],
});

export const fileSave = declareMethod({
  name: 'file_save',
  group: 'file',
  summary: 'Save a stream to a file.',
  details: [
    'It returns when the first blob is written to the file, or with an error after the setting download_timeout. Missing blobs are downloaded. file_name is the name of the new file, not a filter. If a file with this name exists, a number is appended.',
  ],
  usage: [
    '[--file_name=<file_name>] [--download_directory=<download_directory>] [--sd_hash=<sd_hash>]',
    '[--stream_hash=<stream_hash>] [--rowid=<rowid>] [--claim_id=<claim_id>] [--txid=<txid>]',
    '[--nout=<nout>] [--claim_name=<claim_name>] [--channel_claim_id=<channel_claim_id>]',
    '[--channel_name=<channel_name>]',
    statusUsage,
    ...stateUsage,
  ],
  params: [
    { name: 'file_name', type: 'str', description: 'name of the saved file; default: the suggested name' },
    downloadDirectory,
    fileFilterOf(ofDescriptor),
    ...unnamedFileFilter,
    ofStatus,
    ...stateFilter,
  ],
  result: t.union([
    { when: 'if exactly one file matches', schema: file },
    { when: 'otherwise', schema: t.bool('false; nothing is saved') },
  ]),
  needs: ['file_manager'],
});

export const fileSetStatus = declareMethod({
  name: 'file_set_status',
  group: 'file',
  summary: 'Start or stop saving a file.',
  details: [
    'If several files match, the file that was added first is used. stop keeps the blobs, deletes the partial file and disconnects players.',
  ],
  usage: [
    '(<status> | --status=<status>) [--sd_hash=<sd_hash>] [--file_name=<file_name>]',
    '[--stream_hash=<stream_hash>] [--rowid=<rowid>]',
    '[--claim_id=<claim_id>] [--txid=<txid>] [--nout=<nout>] [--claim_name=<claim_name>]',
    '[--channel_claim_id=<channel_claim_id>] [--channel_name=<channel_name>]',
    ...stateUsage,
  ],
  params: [
    { name: 'status', type: 'str', description: 'start (save the file) or stop', required: true },
    // The usage text of lbry-sdk names four of these filters, but its method accepts all.
    ...fileFilter,
    ...stateFilter,
  ],
  result: t.str('a sentence about the change'),
  needs: ['file_manager'],
});

export const fileUnpin = declareMethod({
  name: 'file_unpin',
  group: 'file',
  summary: 'Allow blobs of files to be deleted when disk space runs short.',
  details: ['A file of a pinned channel stays pinned until the channel is unpinned with --channel_id.'],
  usage: pinUsage,
  params: [...fileFilter, pinnedChannels, ofStatus, ...stateFilter],
  result: pinsLeft,
  needs: ['file_manager'],
});

export const get = declareMethod({
  name: 'get',
  group: null,
  summary: 'Download the stream of a claim.',
  details: [
    'It pays the price of the claim, if the claim has a price. It returns when the first blob is written to the file. If no file is saved, it returns when the descriptor is downloaded. For an existing file it returns immediately.',
  ],
  usage: [
    '<uri> [<file_name> | --file_name=<file_name>]',
    '[<download_directory> | --download_directory=<download_directory>]',
    '[<timeout> | --timeout=<timeout>] [--save_file=<save_file>] [--wallet_id=<wallet_id>]',
  ],
  params: [
    required(uri),
    { name: 'file_name', type: 'str', description: 'name of the saved file; the file is then always saved' },
    {
      ...downloadDirectory,
      description: 'full path of an existing folder for the saved file; default: the setting download_dir',
    },
    { ...timeout, description: 'seconds until the call fails; default: the setting download_timeout' },
    {
      name: 'save_file',
      type: 'bool',
      description: 'whether to save the file; default: the setting save_files',
    },
    { ...walletId, description: 'id of the wallet that pays; default: the default wallet' },
  ],
  result: t.union([
    { when: 'if the download has begun', schema: file },
    { when: 'otherwise', schema: t.object({ error: t.str('reason of the failure') }, 'an error') },
  ]),
  // lbry-sdk also requires `exchange_rate_manager`. Here the rates are settings, which need no running component.
  needs: ['wallet', 'blob_manager', 'database', 'file_manager'],
});
