/** Parameters that recur in the declarations of methods, and lists of them. */
import { declareParam } from '../declaration.js';

/** Parameter `account_id` of methods that read from one account, or from all accounts if it is absent. */
export const accountId = declareParam({
  name: 'account_id',
  type: 'str',
  description: 'id of the account; default: all accounts of the wallet',
});
/** Parameter `account_id` of methods that need exactly one account. */
export const oneAccountId = declareParam({
  name: 'account_id',
  type: 'str',
  description: 'id of the account; default: the default account',
});
/** Parameter `account_id` of methods that create a claim or support. */
export const holderAccountId = declareParam({
  name: 'account_id',
  type: 'str',
  description: 'id of the account that gets the new output; default: the default account',
});
/** Parameter `account_id` of methods that spend a claim or support. */
export const searchedAccountId = declareParam({
  name: 'account_id',
  type: 'str',
  description: 'id of the account to search for the claim or support; default: all accounts of the wallet',
});
export const walletId = declareParam({
  name: 'wallet_id',
  type: 'str',
  description: 'id of the wallet; default: the default wallet',
});
export const accountName = declareParam({
  name: 'account_name',
  type: 'str',
  description: 'name of the account',
});
export const singleKey = declareParam({
  name: 'single_key',
  type: 'bool',
  description: 'create an account with a single address instead of chains of addresses',
  default: false,
});
export const confirmations = declareParam({
  name: 'confirmations',
  type: 'int',
  description: 'count only outputs with at least this many confirmations',
  default: 0,
});
export const preview = declareParam({
  name: 'preview',
  type: 'bool',
  description: 'return the transaction without sending or storing it',
  default: false,
});
export const blocking = declareParam({
  name: 'blocking',
  type: 'bool',
  description: 'wait until the wallet has processed the transaction',
  default: false,
});
export const amount = declareParam({ name: 'amount', type: 'lbc', description: 'amount to send' });
export const addresses = declareParam({
  name: 'addresses',
  type: 'strOrList',
  description: 'addresses to pay; each gets the whole amount',
});
export const name = declareParam({ name: 'name', type: 'str', description: 'name of the claim' });
export const bid = declareParam({
  name: 'bid',
  type: 'positiveLbc',
  description: 'amount to stake in the claim',
});
export const allowDuplicateName = declareParam({
  name: 'allow_duplicate_name',
  type: 'bool',
  description: 'create the claim even if the wallet has a claim with this name',
  default: false,
});
export const claimAddress = declareParam({
  name: 'claim_address',
  type: 'str',
  description: 'address that gets the claim; default: a new address of the account',
});
export const updatedClaimAddress = declareParam({
  name: 'claim_address',
  type: 'str',
  description: 'address that gets the claim; default: the present address of the claim',
});
export const fundingAccountIds = declareParam({
  name: 'funding_account_ids',
  type: 'strOrList',
  description: 'ids of the accounts that pay; default: all accounts of the wallet',
  emptyIsAbsent: true,
});
export const claimId = declareParam({ name: 'claim_id', type: 'str', description: 'id of the claim' });
export const txid = declareParam({
  name: 'txid',
  type: 'str',
  description: 'id of the transaction with the output; needs `nout` and replaces `claim_id`',
});
export const nout = declareParam({
  name: 'nout',
  type: 'int',
  description: 'index of the output in the transaction `txid`',
});
export const channelId = declareParam({
  name: 'channel_id',
  type: 'str',
  description: 'id of the channel that signs',
});
export const channelName = declareParam({
  name: 'channel_name',
  type: 'str',
  description: 'name of the channel that signs',
});
export const channelAccountId = declareParam({
  name: 'channel_account_id',
  type: 'strOrList',
  description: 'ids of the accounts to search for the channel that signs; default: all accounts',
  emptyIsAbsent: true,
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
  description: 'author, if the publisher is not the author',
  refusesNull: true,
});
export const tags = declareParam({ name: 'tags', type: 'strOrList', description: 'tags', refusesNull: true });
export const languages = declareParam({
  name: 'languages',
  type: 'strOrList',
  description: 'language tags of RFC 5646 (`en`, `pt-BR`)',
  refusesNull: true,
});
export const locations = declareParam({
  name: 'locations',
  type: 'any',
  description:
    'locations: one or a list; each is an object or a text `country:state:city:code:latitude:longitude`',
  refusesNull: true,
});
const thumbnailUrl = declareParam({
  name: 'thumbnail_url',
  type: 'str',
  description: 'URL of the thumbnail image',
  refusesNull: true,
});
export const coverUrl = declareParam({
  name: 'cover_url',
  type: 'str',
  description: 'URL of the cover image',
  refusesNull: true,
});
export const license = declareParam({
  name: 'license',
  type: 'str',
  description: 'name or text of the license',
  refusesNull: true,
});
export const licenseUrl = declareParam({
  name: 'license_url',
  type: 'str',
  description: 'URL of the text of the license',
  refusesNull: true,
});
export const releaseTime = declareParam({
  name: 'release_time',
  type: 'int',
  description: 'release time (seconds since 1970)',
  refusesNull: true,
});
export const width = declareParam({
  name: 'width',
  type: 'int',
  description: 'width of the image or video in pixels; default: read from the file',
});
export const height = declareParam({
  name: 'height',
  type: 'int',
  description: 'height of the image or video in pixels; default: read from the file',
});
export const duration = declareParam({
  name: 'duration',
  type: 'int',
  description: 'duration of the video or audio in seconds; default: read from the file',
});
export const filePath = declareParam({
  name: 'file_path',
  type: 'str',
  description: 'path of the file to publish',
});
export const fileName = declareParam({
  name: 'file_name',
  type: 'str',
  description: 'name of the file, for a claim without file_path',
  refusesNull: true,
});
export const fileHash = declareParam({
  name: 'file_hash',
  type: 'str',
  description: 'SHA-384 hash of the file in hex, for a claim without file_path',
  refusesNull: true,
});
const fileSize = declareParam({
  name: 'file_size',
  type: 'int',
  description: 'size in bytes that the claim states; default: the size of the file file_path',
  refusesNull: true,
});
export const sdHash = declareParam({
  name: 'sd_hash',
  type: 'str',
  description: 'hash of the stream descriptor, for a claim without file_path',
  refusesNull: true,
});
export const btInfohash = declareParam({
  name: 'bt_infohash',
  type: 'str',
  description: 'info hash of a torrent, for a claim without file_path',
  refusesNull: true,
});
export const validateFile = declareParam({
  name: 'validate_file',
  type: 'bool',
  description: 'reject a video that not all players can play (needs ffmpeg)',
  default: false,
});
export const optimizeFile = declareParam({
  name: 'optimize_file',
  type: 'bool',
  description: 'if not all players can play the video, publish a converted copy (needs ffmpeg)',
  default: false,
});
export const feeCurrency = declareParam({
  name: 'fee_currency',
  type: 'str',
  description: 'currency of the price: lbc, btc or usd',
});
export const feeAmount = declareParam({
  name: 'fee_amount',
  type: 'str',
  description: 'price in the currency fee_currency',
});
const feeAddress = declareParam({
  name: 'fee_address',
  type: 'str',
  description: 'address that receives the price; default: the address of the claim',
  refusesNull: true,
});
export const email = declareParam({
  name: 'email',
  type: 'str',
  description: 'e-mail address',
  refusesNull: true,
});
export const websiteUrl = declareParam({
  name: 'website_url',
  type: 'str',
  description: 'URL of the web site',
  refusesNull: true,
});
export const featured = declareParam({
  name: 'featured',
  type: 'strOrList',
  description: 'ids of the claims that the channel features',
  refusesNull: true,
});
export const clearFeatured = declareParam({
  name: 'clear_featured',
  type: 'bool',
  description: 'first remove all featured claims',
  default: false,
  refusesNull: true,
});
const clearTags = declareParam({
  name: 'clear_tags',
  type: 'bool',
  description: 'first remove all tags',
  default: false,
  refusesNull: true,
});
export const clearLanguages = declareParam({
  name: 'clear_languages',
  type: 'bool',
  description: 'first remove all languages',
  default: false,
  refusesNull: true,
});
const clearLocations = declareParam({
  name: 'clear_locations',
  type: 'bool',
  description: 'first remove all locations',
  default: false,
  refusesNull: true,
});
export const clearChannel = declareParam({
  name: 'clear_channel',
  type: 'bool',
  description: 'remove the signature of the channel',
  default: false,
});
export const clearFee = declareParam({
  name: 'clear_fee',
  type: 'bool',
  description: 'remove the price',
  default: false,
});
export const clearClaims = declareParam({
  name: 'clear_claims',
  type: 'bool',
  description: 'first remove all claims',
  default: false,
  refusesNull: true,
});
export const replace = declareParam({
  name: 'replace',
  type: 'bool',
  description: 'first remove all values, except the source of a stream and the key of a channel',
  default: false,
});
export const claims = declareParam({
  name: 'claims',
  type: 'strOrList',
  description: 'ids of the claims in the collection',
  refusesNull: true,
});
export const password = declareParam({
  name: 'password',
  type: 'str',
  description: 'password of the wallet',
});
export const data = declareParam({ name: 'data', type: 'str', description: 'text of an exported wallet' });

/** Parameters for the metadata fields that all claim types have. */
export const metadata = [title, description, tags, languages, locations, thumbnailUrl] as const;

/** Parameters that choose the channel that signs the new claim. */
export const signing = [channelId, channelName, channelAccountId] as const;

/** Parameters of all methods that create claims. */
export const creating = [
  holderAccountId,
  walletId,
  claimAddress,
  fundingAccountIds,
  preview,
  blocking,
] as const;

/** Parameters of all methods that update claims. */
export const updating = [
  searchedAccountId,
  walletId,
  updatedClaimAddress,
  fundingAccountIds,
  preview,
  blocking,
] as const;

/** Parameters of update methods that clear fields of the claim. */
export const clearing = [clearTags, clearLanguages, clearLocations] as const;

/** Parameters for the additional metadata fields of streams. */
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
