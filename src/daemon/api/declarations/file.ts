/** Declarations of the methods of the group file, and `get`. */
import { t } from '../../../schema/schema.js';
import { declareMethod, declareParam, required } from '../declaration.js';
import {
  channelClaimId,
  claimName,
  downloadDirectory,
  fileFilter,
  ofChannelName,
  ofClaim,
  ofDescriptor,
  ofFileName,
  ofOutput,
  ofTransaction,
  page,
  pageSize,
  rowid,
  streamHash,
  timeout,
  uri,
} from './listParams.js';
import { walletId } from './params.js';
import { file, filePage } from './shapes.js';

export const fileDelete = declareMethod({
  name: 'file_delete',
  group: 'file',
  summary: 'Delete files.',
  details: [
    'It deletes the rows and blobs of the matching files, except blobs that another stream needs. If several files match, nothing is deleted without delete_all. Without a filter all files match.',
  ],
  usage: [
    '[--delete_from_download_dir] [--delete_all] [--sd_hash=<sd_hash>] [--file_name=<file_name>]',
    '[--stream_hash=<stream_hash>] [--rowid=<rowid>] [--claim_id=<claim_id>] [--txid=<txid>]',
    '[--nout=<nout>] [--claim_name=<claim_name>] [--channel_claim_id=<channel_claim_id>]',
    '[--channel_name=<channel_name>]',
  ],
  params: [
    {
      name: 'delete_from_download_dir',
      type: 'bool',
      description: 'delete the saved file too; for a published file this is the original file',
      default: false,
    },
    {
      name: 'delete_all',
      type: 'bool',
      description: 'delete all that match where there are several',
      default: false,
    },
    ...fileFilter,
  ],
  result: t.bool('whether files were deleted'),
  needs: ['file_manager'],
});

export const fileList = declareMethod({
  name: 'file_list',
  group: 'file',
  summary: 'List the files that were published, downloaded or played.',
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
    { name: 'reverse', type: 'bool', description: 'in descending order', default: false },
    { name: 'comparison', type: 'str', description: 'how filters compare: eq, ne, g, ge, l or le' },
    { ...walletId, description: 'the wallet whose purchases are shown; default: the default wallet' },
    page,
    pageSize,
    ...fileFilter,
    { name: 'added_on', type: 'int', description: 'when it was added (Unix time in seconds)' },
    // The usage text of lbry-sdk omits this filter.
    {
      name: 'claim_height',
      type: 'int',
      description: 'height of its claim, below 1 while that is in no block',
    },
    { name: 'outpoint', type: 'strOrList', description: 'outpoint of its claim, or one of several' },
    { name: 'blobs_in_stream', type: 'int', description: 'data blobs of the stream' },
    { name: 'download_path', type: 'str', description: 'path of the saved file' },
    { name: 'blobs_remaining', type: 'int', description: 'data blobs that are missing' },
    { name: 'uploading_to_reflector', type: 'bool', description: 'whether it is being sent to a reflector' },
    { name: 'is_fully_reflected', type: 'bool', description: 'whether a reflector has it' },
    { name: 'status', type: 'str', description: 'running, finished or stopped' },
    { name: 'completed', type: 'bool', description: 'whether the saved file is complete' },
    { name: 'is_pinned', type: 'bool', description: 'whether its blobs are kept when disk space runs short' },
    { name: 'full_status', type: 'bool', description: 'accepted from older clients; it changes nothing' },
  ],
  result: filePage,
  needs: ['file_manager'],
});

export const fileRebuild = declareMethod({
  name: 'file_rebuild',
  group: 'file',
  summary: 'Rebuild rows of streams and files from the blobs, and look their claims up at the hub.',
  usage: [],
  params: [],
  result: t.object(
    {
      streams: t.int('streams whose rows were made from their descriptors'),
      files: t.int('files that were added to the list'),
      claims: t.int('files that were tied to their claims'),
      without_claim: t.array(t.str('descriptor of a stream'), 'files without a claim at the hub'),
      unreadable: t.array(t.str('hash of a blob'), 'blobs that begin like descriptors and cannot be read'),
      blobs_of_no_stream: t.int('blobs that belong to no descriptor; they are kept'),
    },
    'what was found, and what was not',
  ),
  needs: ['wallet', 'file_manager', 'blob_manager', 'database'],
});

const pinUsage = [
  '[--sd_hash=<sd_hash>] [--file_name=<file_name>] [--stream_hash=<stream_hash>]',
  '[--rowid=<rowid>] [--claim_id=<claim_id>] [--txid=<txid>] [--nout=<nout>]',
  '[--claim_name=<claim_name>] [--channel_claim_id=<channel_claim_id>]',
  '[--channel_name=<channel_name>] [--channel_id=<channel_id>...]',
];
const pinnedChannels = declareParam({
  name: 'channel_id',
  type: 'strOrList',
  description: 'claim ids of channels: all their files, later ones too',
});
const pinsLeft = t.object(
  {
    streams: t.array(t.str('hash of a stream descriptor'), 'files that are pinned by themselves'),
    channels: t.array(t.str('claim id'), 'channels that are pinned'),
  },
  'all pins there are now',
);

export const filePin = declareMethod({
  name: 'file_pin',
  group: 'file',
  summary: 'Keep blobs of files when disk space runs short.',
  details: [
    'Blobs of pinned files are not deleted to keep to blob_storage_limit. Without arguments all pins are shown.',
  ],
  usage: pinUsage,
  params: [...fileFilter, pinnedChannels],
  result: pinsLeft,
  needs: ['file_manager'],
});

export const fileReflect = declareMethod({
  name: 'file_reflect',
  group: 'file',
  summary: 'Send streams to a reflector.',
  details: ['Blobs that the reflector has are not sent. Without a filter all streams of file_list are sent.'],
  usage: [
    '[--sd_hash=<sd_hash>] [--file_name=<file_name>] [--stream_hash=<stream_hash>]',
    '[--rowid=<rowid>] [--reflector=<reflector>] [--server=<server>] [--port=<port>]',
  ],
  params: [
    ofDescriptor,
    { ...ofFileName, description: 'name of the saved file' },
    streamHash,
    rowid,
    {
      name: 'reflector',
      type: 'str',
      description: 'HOST or HOST:PORT of the reflector; default: one of the setting reflector_servers',
    },
    { name: 'server', type: 'str', description: 'another name of reflector' },
    {
      name: 'port',
      type: 'int',
      description: 'port of the reflector, if reflector does not have one; default: 5566',
    },
  ],
  result: t.array(t.str('hash of a blob that was sent')),
  needs: ['file_manager', 'blob_manager', 'database'],
});

export const fileSave = declareMethod({
  name: 'file_save',
  group: 'file',
  summary: 'Save a stream to a file.',
  details: [
    'It returns when the first blob is written. Missing blobs are downloaded. file_name is the name of the new file, not a filter. If the name exists, a number is added.',
  ],
  usage: [
    '[--file_name=<file_name>] [--download_directory=<download_directory>] [--sd_hash=<sd_hash>]',
    '[--stream_hash=<stream_hash>] [--rowid=<rowid>] [--claim_id=<claim_id>] [--txid=<txid>]',
    '[--nout=<nout>] [--claim_name=<claim_name>] [--channel_claim_id=<channel_claim_id>]',
    '[--channel_name=<channel_name>]',
  ],
  params: [
    { name: 'file_name', type: 'str', description: 'name of the saved file; default: the suggested name' },
    downloadDirectory,
    ofDescriptor,
    streamHash,
    rowid,
    ofClaim,
    ofTransaction,
    ofOutput,
    claimName,
    channelClaimId,
    ofChannelName,
  ],
  result: t.union([
    { when: 'when exactly one file matches', schema: file },
    { when: 'else', schema: t.bool('false; nothing is saved') },
  ]),
  needs: ['file_manager'],
});

export const fileSetStatus = declareMethod({
  name: 'file_set_status',
  group: 'file',
  summary: 'Start or stop saving a file.',
  details: [
    'If several files match, the one that was added first is used. A stop keeps the blobs and deletes the partial file.',
  ],
  usage: [
    '(<status> | --status=<status>) [--sd_hash=<sd_hash>] [--file_name=<file_name>]',
    '[--stream_hash=<stream_hash>] [--rowid=<rowid>]',
  ],
  params: [
    { name: 'status', type: 'str', description: 'start or stop', required: true },
    // The usage text of lbry-sdk names four of these filters, but its method accepts all.
    ...fileFilter,
  ],
  result: t.str('what was done'),
  needs: ['file_manager'],
});

export const fileUnpin = declareMethod({
  name: 'file_unpin',
  group: 'file',
  summary: 'Let blobs of files be deleted when disk space runs short.',
  details: ['A file whose channel is pinned stays until that is unpinned by --channel_id.'],
  usage: pinUsage,
  params: [...fileFilter, pinnedChannels],
  result: pinsLeft,
  needs: ['file_manager'],
});

export const get = declareMethod({
  name: 'get',
  group: null,
  summary: 'Download the stream of a claim.',
  details: [
    'It pays the price of the claim, if it has one. It returns when the first blob is written, or, if nothing is saved, when the descriptor is downloaded. For an existing file it returns immediately.',
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
    { ...timeout, description: 'seconds until it fails; default: the setting download_timeout' },
    {
      name: 'save_file',
      type: 'bool',
      description: 'whether to save the file; default: the setting save_files',
    },
    { ...walletId, description: 'the wallet that pays; default: the default wallet' },
  ],
  result: t.union([
    { when: 'when the download began', schema: file },
    { when: 'else', schema: t.object({ error: t.str('what is wrong') }) },
  ]),
  needs: ['wallet', 'exchange_rate_manager', 'blob_manager', 'database', 'file_manager'],
});
