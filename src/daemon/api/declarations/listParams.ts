/** Parameters of lists: which outputs, which files, which page. */
import { declareParam } from '../declaration.js';
import { accountId, walletId } from './params.js';

export const page = declareParam({ name: 'page', type: 'int', description: 'number of the page, from 1' });
export const pageSize = declareParam({ name: 'page_size', type: 'int', description: 'most items of a page' });
export const resolve = declareParam({
  name: 'resolve',
  type: 'bool',
  description: 'show claims as the claim index has them',
  default: false,
});
export const noTotals = declareParam({
  name: 'no_totals',
  type: 'bool',
  description: 'leave out how many there are',
  default: false,
});
export const orderBy = declareParam({
  name: 'order_by',
  type: 'str',
  description: 'order: name, height, amount or none',
});
export const includeReceivedTips = declareParam({
  name: 'include_received_tips',
  type: 'bool',
  description: 'add the tips that were received for each claim',
  default: false,
});
export const isSpent = declareParam({
  name: 'is_spent',
  type: 'bool',
  description: 'those that are spent too, or only those',
});
export const isNotSpent = declareParam({
  name: 'is_not_spent',
  type: 'bool',
  description: 'only those that are not spent',
});
export const isMyInputOrOutput = declareParam({
  name: 'is_my_input_or_output',
  type: 'bool',
  description: 'those that an account of the wallet paid or was paid by',
});
export const isMyOutput = declareParam({
  name: 'is_my_output',
  type: 'bool',
  description: 'those that pay to an account of the wallet',
});
export const isNotMyOutput = declareParam({
  name: 'is_not_my_output',
  type: 'bool',
  description: 'those that pay to others',
});
export const isMyInput = declareParam({
  name: 'is_my_input',
  type: 'bool',
  description: 'those that an account of the wallet paid',
});
export const isNotMyInput = declareParam({
  name: 'is_not_my_input',
  type: 'bool',
  description: 'those that others paid',
});
export const excludeInternalTransfers = declareParam({
  name: 'exclude_internal_transfers',
  type: 'bool',
  description: 'leave out payments from the wallet to itself',
  default: false,
});
export const hasSource = declareParam({
  name: 'has_source',
  type: 'bool',
  description: 'claims with a source',
});
export const hasNoSource = declareParam({
  name: 'has_no_source',
  type: 'bool',
  description: 'claims without a source',
});
export const txoType = declareParam({
  name: 'type',
  type: 'strOrList',
  description: 'types: stream, channel, support, purchase, collection, repost, other',
});
export const inTransactions = declareParam({
  name: 'txid',
  type: 'strOrList',
  description: 'of these transactions',
});
export const ofClaims = declareParam({ name: 'claim_id', type: 'strOrList', description: 'of these claims' });
export const inChannels = declareParam({
  name: 'channel_id',
  type: 'strOrList',
  description: 'signed by these channels',
});
export const notInChannels = declareParam({
  name: 'not_channel_id',
  type: 'strOrList',
  description: 'not signed by these channels',
});
export const withNames = declareParam({ name: 'name', type: 'strOrList', description: 'of these names' });
export const repostsOf = declareParam({
  name: 'reposted_claim_id',
  type: 'strOrList',
  description: 'reposts of these claims',
});
export const includePurchaseReceipt = declareParam({
  name: 'include_purchase_receipt',
  type: 'bool',
  description: 'add the purchase where the claim was bought',
  default: false,
});
export const includeIsMyOutput = declareParam({
  name: 'include_is_my_output',
  type: 'bool',
  description: 'add whether the claim is yours',
  default: false,
});
export const newSdkServer = declareParam({
  name: 'new_sdk_server',
  type: 'str',
  description: 'taken for the sake of older clients; claims are asked for at the hub',
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
export const ofFileName = declareParam({
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
  description: 'its claim, or one of several',
});
export const ofTransaction = declareParam({
  name: 'txid',
  type: 'str',
  description: 'transaction of its claim',
});
export const ofOutput = declareParam({ name: 'nout', type: 'int', description: 'output of its claim' });
export const claimName = declareParam({ name: 'claim_name', type: 'str', description: 'name of its claim' });
export const channelClaimId = declareParam({
  name: 'channel_claim_id',
  type: 'strOrList',
  description: 'channel of its claim',
});
export const ofChannelName = declareParam({
  name: 'channel_name',
  type: 'str',
  description: 'name of the channel of its claim',
});
export const timeout = declareParam({
  name: 'timeout',
  type: 'int',
  description: 'how long to try, in seconds',
});
export const downloadDirectory = declareParam({
  name: 'download_directory',
  type: 'str',
  description:
    'full path of the folder for the saved file, created if missing; default: the setting download_dir',
});

/** Filters that choose outputs; a list of values matches any of them. */
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

/** Common parameters of lists of outputs. */
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

/** Filters that choose files. */
export const fileFilter = [
  ofDescriptor,
  ofFileName,
  streamHash,
  rowid,
  ofClaim,
  ofTransaction,
  ofOutput,
  claimName,
  channelClaimId,
  ofChannelName,
] as const;
