/** Parameters that recur in the declarations of methods, and lists of them. */
import { declareParam } from '../declaration.js';

export const accountId = declareParam({
  name: 'account_id',
  type: 'str',
  description: 'the account; otherwise all of them, or the default one where only one can be meant',
});
export const walletId = declareParam({
  name: 'wallet_id',
  type: 'str',
  description: 'the wallet; otherwise the default one',
});
export const accountName = declareParam({
  name: 'account_name',
  type: 'str',
  description: 'name of the account',
});
export const singleKey = declareParam({
  name: 'single_key',
  type: 'bool',
  description: 'one address of one key instead of chains of them',
  default: false,
});
export const confirmations = declareParam({
  name: 'confirmations',
  type: 'int',
  description: 'count only what has at least so many confirmations',
  default: 0,
});
export const page = declareParam({ name: 'page', type: 'int', description: 'number of the page, from 1' });
export const pageSize = declareParam({ name: 'page_size', type: 'int', description: 'most items of a page' });
export const preview = declareParam({
  name: 'preview',
  type: 'bool',
  description: 'make the transaction without sending it',
  default: false,
});
export const blocking = declareParam({
  name: 'blocking',
  type: 'bool',
  description: 'wait until the wallet has taken the transaction in',
  default: false,
});
export const amount = declareParam({ name: 'amount', type: 'positiveLbc', description: 'how much to send' });
export const addresses = declareParam({
  name: 'addresses',
  type: 'strOrList',
  description: 'where to, each the whole amount',
});
export const name = declareParam({ name: 'name', type: 'str', description: 'name of the claim' });
export const bid = declareParam({
  name: 'bid',
  type: 'positiveLbc',
  description: 'amount that the claim holds',
});
export const allowDuplicateName = declareParam({
  name: 'allow_duplicate_name',
  type: 'bool',
  description: 'make it even though you have one of that name',
  default: false,
});
export const claimAddress = declareParam({
  name: 'claim_address',
  type: 'str',
  description: 'address that the claim is at; otherwise a new one of the account',
});
export const fundingAccountIds = declareParam({
  name: 'funding_account_ids',
  type: 'strOrList',
  description: 'accounts that pay; otherwise all of the wallet',
});
export const claimId = declareParam({ name: 'claim_id', type: 'str', description: 'the claim' });
export const txid = declareParam({
  name: 'txid',
  type: 'str',
  description: 'transaction of the claim, with `nout` in place of `claim_id`',
});
export const nout = declareParam({ name: 'nout', type: 'int', description: 'output of `txid`' });
export const channelId = declareParam({ name: 'channel_id', type: 'str', description: 'channel that signs' });
export const channelName = declareParam({
  name: 'channel_name',
  type: 'str',
  description: 'name of the channel that signs',
});
export const channelAccountId = declareParam({
  name: 'channel_account_id',
  type: 'strOrList',
  description: 'accounts in which to look for the channel that signs',
});
export const title = declareParam({ name: 'title', type: 'str', description: 'title', refusesNull: true });
export const description = declareParam({
  name: 'description',
  type: 'str',
  description: 'description',
  refusesNull: true,
});
export const author = declareParam({
  name: 'author',
  type: 'str',
  description: 'author, where it is not the publisher',
  refusesNull: true,
});
export const tags = declareParam({ name: 'tags', type: 'strOrList', description: 'tags', refusesNull: true });
export const languages = declareParam({
  name: 'languages',
  type: 'strOrList',
  description: 'languages as RFC 5646 has them (`en`, `pt-BR`)',
  refusesNull: true,
});
export const locations = declareParam({
  name: 'locations',
  type: 'any',
  description: 'places: objects or texts `country:state:city:code:latitude:longitude`, one or a list',
  refusesNull: true,
});
export const thumbnailUrl = declareParam({
  name: 'thumbnail_url',
  type: 'str',
  description: 'URL of a picture',
  refusesNull: true,
});
export const coverUrl = declareParam({
  name: 'cover_url',
  type: 'str',
  description: 'URL of a cover picture',
  refusesNull: true,
});
export const license = declareParam({
  name: 'license',
  type: 'str',
  description: 'license',
  refusesNull: true,
});
export const licenseUrl = declareParam({
  name: 'license_url',
  type: 'str',
  description: 'URL of the license',
  refusesNull: true,
});
export const releaseTime = declareParam({
  name: 'release_time',
  type: 'int',
  description: 'when it was released (seconds since 1970)',
  refusesNull: true,
});
export const width = declareParam({
  name: 'width',
  type: 'int',
  description: 'width of picture or film; read from the file where it is not given',
  refusesNull: true,
});
export const height = declareParam({
  name: 'height',
  type: 'int',
  description: 'height of picture or film; read from the file where it is not given',
  refusesNull: true,
});
export const duration = declareParam({
  name: 'duration',
  type: 'int',
  description: 'duration of film or sound in seconds; read from the file where it is not given',
  refusesNull: true,
});
export const filePath = declareParam({ name: 'file_path', type: 'str', description: 'the file to publish' });
export const fileName = declareParam({
  name: 'file_name',
  type: 'str',
  description: 'name of the file, where there is none at hand',
  refusesNull: true,
});
export const fileHash = declareParam({
  name: 'file_hash',
  type: 'str',
  description: 'SHA-384 of the file in hex, where there is none at hand',
  refusesNull: true,
});
export const fileSize = declareParam({
  name: 'file_size',
  type: 'int',
  description: 'size of the file in bytes, where there is none at hand',
  refusesNull: true,
});
export const sdHash = declareParam({
  name: 'sd_hash',
  type: 'str',
  description: 'hash of the stream descriptor, where there is no file at hand',
  refusesNull: true,
});
export const btInfohash = declareParam({
  name: 'bt_infohash',
  type: 'str',
  description: 'info hash of a torrent, where there is no file at hand',
  refusesNull: true,
});
export const validateFile = declareParam({
  name: 'validate_file',
  type: 'bool',
  description: 'check with ffmpeg that the film plays everywhere',
  default: false,
});
export const optimizeFile = declareParam({
  name: 'optimize_file',
  type: 'bool',
  description: 'make the film one that plays everywhere, with ffmpeg',
  default: false,
});
export const feeCurrency = declareParam({
  name: 'fee_currency',
  type: 'str',
  description: 'currency of the price: lbc, btc or usd',
  refusesNull: true,
});
export const feeAmount = declareParam({
  name: 'fee_amount',
  type: 'str',
  description: 'the price',
  refusesNull: true,
});
export const feeAddress = declareParam({
  name: 'fee_address',
  type: 'str',
  description: 'address that the price is paid to; otherwise that of the claim',
  refusesNull: true,
});
export const email = declareParam({
  name: 'email',
  type: 'str',
  description: 'mail address',
  refusesNull: true,
});
export const websiteUrl = declareParam({
  name: 'website_url',
  type: 'str',
  description: 'URL of a web site',
  refusesNull: true,
});
export const featured = declareParam({
  name: 'featured',
  type: 'strOrList',
  description: 'claim ids that the channel shows',
  refusesNull: true,
});
export const clearFeatured = declareParam({
  name: 'clear_featured',
  type: 'bool',
  description: 'drop all featured claims first',
  default: false,
});
export const clearTags = declareParam({
  name: 'clear_tags',
  type: 'bool',
  description: 'drop all tags first',
  default: false,
});
export const clearLanguages = declareParam({
  name: 'clear_languages',
  type: 'bool',
  description: 'drop all languages first',
  default: false,
});
export const clearLocations = declareParam({
  name: 'clear_locations',
  type: 'bool',
  description: 'drop all places first',
  default: false,
});
export const clearChannel = declareParam({
  name: 'clear_channel',
  type: 'bool',
  description: 'no longer signed by a channel',
  default: false,
});
export const clearFee = declareParam({
  name: 'clear_fee',
  type: 'bool',
  description: 'no price any more',
  default: false,
});
export const clearClaims = declareParam({
  name: 'clear_claims',
  type: 'bool',
  description: 'drop all claims first',
  default: false,
});
export const replace = declareParam({
  name: 'replace',
  type: 'bool',
  description: 'drop all values that are not given anew',
  default: false,
});
export const claims = declareParam({
  name: 'claims',
  type: 'strOrList',
  description: 'claim ids in the collection',
});
export const password = declareParam({ name: 'password', type: 'str', description: 'the password' });
export const data = declareParam({ name: 'data', type: 'str', description: 'an exported wallet' });
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
export const ofFileName = declareParam({ name: 'file_name', type: 'str', description: 'name of the file' });
export const rowid = declareParam({
  name: 'rowid',
  type: 'int',
  description: 'number of the file in the database',
});
export const ofClaim = declareParam({ name: 'claim_id', type: 'str', description: 'its claim' });
export const ofTransaction = declareParam({
  name: 'txid',
  type: 'str',
  description: 'transaction of its claim',
});
export const ofOutput = declareParam({ name: 'nout', type: 'int', description: 'output of its claim' });
export const claimName = declareParam({ name: 'claim_name', type: 'str', description: 'name of its claim' });
export const channelClaimId = declareParam({
  name: 'channel_claim_id',
  type: 'str',
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
  description: 'full path of the folder to save to',
});

/** Which outputs a list has; lists of values mean any of them. */
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

/** What lists of outputs have in common. */
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

/** What claims of every type say. */
export const metadata = [title, description, tags, languages, locations, thumbnailUrl] as const;

/** The channel that signs what is made. */
export const signing = [channelId, channelName, channelAccountId] as const;

/** What all methods that make claims take. */
export const making = [accountId, walletId, claimAddress, fundingAccountIds, preview, blocking] as const;

/** What updates of claims can empty. */
export const clearing = [clearTags, clearLanguages, clearLocations] as const;

/** What streams say beyond other claims. */
export const streamFields = [
  fileName,
  fileHash,
  fileSize,
  sdHash,
  btInfohash,
  feeCurrency,
  feeAmount,
  feeAddress,
  author,
  license,
  licenseUrl,
  releaseTime,
  width,
  height,
  duration,
] as const;

/** Which files are meant. */
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
