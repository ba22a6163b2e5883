/** Parameters of methods that return lists: filters for outputs and files, and the page. */
import { declareParam, fileFilterOf } from '../declaration.js';
import { accountId, walletId } from './params.js';

export const page = declareParam({
  name: 'page',
  type: 'int',
  description: 'number of the page; default: 1',
});
export const pageSize = declareParam({
  name: 'page_size',
  type: 'int',
  description: 'maximum number of items per page; default: 20',
});
export const resolve = declareParam({
  name: 'resolve',
  type: 'bool',
  description: 'include the data of each claim from the claim index',
  default: false,
});
export const noTotals = declareParam({
  name: 'no_totals',
  type: 'bool',
  description: 'do not return the total numbers of items and pages',
  default: false,
});
const orderBy = declareParam({
  name: 'order_by',
  type: 'str',
  description: 'order: height (default, newest first), name, amount (smallest first) or none',
});
export const includeReceivedTips = declareParam({
  name: 'include_received_tips',
  type: 'bool',
  description: 'include the sum of the tips received for each claim',
  default: false,
});
export const isSpent = declareParam({
  name: 'is_spent',
  type: 'bool',
  description: 'only spent outputs; without it, lists of claims and supports contain only unspent outputs',
});
const isNotSpent = declareParam({
  name: 'is_not_spent',
  type: 'bool',
  description: 'only outputs that are neither spent nor reserved for a transaction',
});
export const isMyInputOrOutput = declareParam({
  name: 'is_my_input_or_output',
  type: 'bool',
  description: 'only outputs that pay to one of the accounts or were funded by one of them',
});
export const isMyOutput = declareParam({
  name: 'is_my_output',
  type: 'bool',
  description: 'only outputs that pay to one of the accounts (default)',
});
const isNotMyOutput = declareParam({
  name: 'is_not_my_output',
  type: 'bool',
  description: 'only outputs that pay to others',
});
export const isMyInput = declareParam({
  name: 'is_my_input',
  type: 'bool',
  description: 'only outputs that one of the accounts funded',
});
const isNotMyInput = declareParam({
  name: 'is_not_my_input',
  type: 'bool',
  description: 'only outputs that others funded',
});
export const excludeInternalTransfers = declareParam({
  name: 'exclude_internal_transfers',
  type: 'bool',
  description: 'omit plain payments from the accounts to themselves, for example change',
  default: false,
});
export const hasSource = declareParam({
  name: 'has_source',
  type: 'bool',
  description: 'only claims with a source',
});
export const hasNoSource = declareParam({
  name: 'has_no_source',
  type: 'bool',
  description: 'only claims without a source',
});
export const txoType = declareParam({
  name: 'type',
  type: 'strOrList',
  description: 'only outputs of these types: stream, channel, support, purchase, collection, repost, other',
});
export const inTransactions = declareParam({
  name: 'txid',
  type: 'strOrList',
  description: 'only outputs of the transactions with these ids',
});
const ofClaims = declareParam({
  name: 'claim_id',
  type: 'strOrList',
  description: 'only claims with these ids, and supports and purchases of these claims',
});
export const inChannels = declareParam({
  name: 'channel_id',
  type: 'strOrList',
  description: 'only claims that the channels with these ids signed',
});
const notInChannels = declareParam({
  name: 'not_channel_id',
  type: 'strOrList',
  description: 'omit claims that the channels with these ids signed',
});
const withNames = declareParam({
  name: 'name',
  type: 'strOrList',
  description: 'only claims and supports with these names',
});
export const repostsOf = declareParam({
  name: 'reposted_claim_id',
  type: 'strOrList',
  description: 'only reposts of the claims with these ids',
});
export const includePurchaseReceipt = declareParam({
  name: 'include_purchase_receipt',
  type: 'bool',
  description: 'include the receipt of each claim that the wallet has bought',
  default: false,
});
export const includeIsMyOutput = declareParam({
  name: 'include_is_my_output',
  type: 'bool',
  description: 'include whether the wallet owns the claim',
  default: false,
});
export const newSdkServer = declareParam({
  name: 'new_sdk_server',
  type: 'str',
  description: 'accepted for older clients, without effect',
});
export const uri = declareParam({ name: 'uri', type: 'str', description: 'URL of the claim' });
export const blobHash = declareParam({ name: 'blob_hash', type: 'str', description: 'hash of the blob' });
export const streamHash = declareParam({
  name: 'stream_hash',
  type: 'str',
  description: 'hash of the stream',
});
export const ofDescriptor = declareParam({
  name: 'sd_hash',
  type: 'str',
  description: 'hash of the stream descriptor',
});
const ofFileName = declareParam({
  name: 'file_name',
  type: 'str',
  description: 'name of the saved file, or the suggested name if it is not saved',
});
export const rowid = declareParam({
  name: 'rowid',
  type: 'int',
  description: 'number of the file in the database',
});
export const ofClaim = declareParam({
  name: 'claim_id',
  type: 'strOrList',
  description: 'id of the claim, or a list of ids',
});
export const ofTransaction = declareParam({
  name: 'txid',
  type: 'str',
  description: 'id of the transaction of the claim',
});
const ofOutput = declareParam({
  name: 'nout',
  type: 'int',
  description: 'index of the claim output in its transaction',
});
export const claimName = declareParam({ name: 'claim_name', type: 'str', description: 'name of the claim' });
export const channelClaimId = declareParam({
  name: 'channel_claim_id',
  type: 'strOrList',
  description: 'id of the channel that signed the claim, or a list of ids',
});
const ofChannelName = declareParam({
  name: 'channel_name',
  type: 'str',
  description: 'name of the channel that signed the claim',
});
export const timeout = declareParam({
  name: 'timeout',
  type: 'int',
  description: 'time limit in seconds',
});
export const downloadDirectory = declareParam({
  name: 'download_directory',
  type: 'str',
  description:
    'full path of the folder for the saved file, created if missing; default: the setting download_dir',
});

/** Filters that select outputs. If a filter has a list of values, an output matches if any of them matches. */
export const txoFilter = [
  txoType,
  inTransactions,
  ofClaims,
  withNames,
  inChannels,
  notInChannels,
  repostsOf,
  isSpent,
  isNotSpent,
  hasSource,
  hasNoSource,
  isMyInputOrOutput,
  isMyOutput,
  isNotMyOutput,
  isMyInput,
  isNotMyInput,
  excludeInternalTransfers,
] as const;

/** Parameters that all methods which list outputs have. */
export const listing = [
  accountId,
  walletId,
  page,
  pageSize,
  resolve,
  orderBy,
  noTotals,
  includeReceivedTips,
] as const;

/** Filters that select files by other members than their name. */
export const unnamedFileFilter = [
  fileFilterOf(streamHash),
  fileFilterOf(rowid),
  fileFilterOf(ofClaim),
  fileFilterOf(ofTransaction),
  fileFilterOf(ofOutput),
  fileFilterOf(claimName),
  fileFilterOf(channelClaimId),
  fileFilterOf(ofChannelName),
] as const;

/** Filters that select files. */
export const fileFilter = [
  fileFilterOf(ofDescriptor),
  fileFilterOf(ofFileName),
  ...unnamedFileFilter,
] as const;

/** Filters by the state of a file: its claim's outpoint, its blobs, its path and its upload. The filter `status` is separate. */
export const fileStateFilter = [
  fileFilterOf({
    name: 'added_on',
    type: 'int',
    description: 'time at which the file was added (Unix time in seconds)',
  }),
  // Filter by the height of the claim. The usage text of lbry-sdk omits this filter.
  fileFilterOf({
    name: 'claim_height',
    type: 'int',
    description: 'height of the claim; below 1 while the claim is unconfirmed',
  }),
  fileFilterOf({
    name: 'outpoint',
    type: 'strOrList',
    description: 'outpoint (TXID:NOUT) of the claim, or a list of outpoints',
  }),
  fileFilterOf({ name: 'blobs_in_stream', type: 'int', description: 'number of data blobs of the stream' }),
  fileFilterOf({ name: 'download_path', type: 'str', description: 'path of the saved file' }),
  fileFilterOf({ name: 'blobs_remaining', type: 'int', description: 'number of missing data blobs' }),
  fileFilterOf({
    name: 'uploading_to_reflector',
    type: 'bool',
    description: 'whether the stream is being sent to a reflector',
  }),
  fileFilterOf({
    name: 'is_fully_reflected',
    type: 'bool',
    description: 'whether a reflector has the stream',
  }),
  fileFilterOf({ name: 'completed', type: 'bool', description: 'whether the saved file is complete' }),
  fileFilterOf({
    name: 'is_pinned',
    type: 'bool',
    description: 'whether the blobs are kept when disk space runs short',
  }),
] as const;
export const ofStatus = fileFilterOf(
  declareParam({ name: 'status', type: 'str', description: 'status: running, finished or stopped' }),
);
export const fileComparison = declareParam({
  name: 'comparison',
  type: 'str',
  description: 'comparison of the filters: eq (default), ne, g, ge, l or le',
});
