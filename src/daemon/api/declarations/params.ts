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
  description: 'count only what has at least this many confirmations',
  default: 0,
});
export const preview = declareParam({
  name: 'preview',
  type: 'bool',
  description: 'show the transaction without sending or storing it',
  default: false,
});
export const blocking = declareParam({
  name: 'blocking',
  type: 'bool',
  description: 'wait until the wallet has taken the transaction in',
  default: false,
});
export const amount = declareParam({ name: 'amount', type: 'lbc', description: 'how much to send' });
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
  emptyIsAbsent: true,
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
});
export const height = declareParam({
  name: 'height',
  type: 'int',
  description: 'height of picture or film; read from the file where it is not given',
});
export const duration = declareParam({
  name: 'duration',
  type: 'int',
  description: 'duration of film or sound in seconds; read from the file where it is not given',
});
export const filePath = declareParam({
  name: 'file_path',
  type: 'str',
  description: 'the file to publish',
});
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
  description: 'reject a video that not all players can play (needs ffmpeg)',
  default: false,
});
export const optimizeFile = declareParam({
  name: 'optimize_file',
  type: 'bool',
  description: 'publish a converted copy of the video that all players can play (needs ffmpeg)',
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
  refusesNull: true,
});
export const clearTags = declareParam({
  name: 'clear_tags',
  type: 'bool',
  description: 'drop all tags first',
  default: false,
  refusesNull: true,
});
export const clearLanguages = declareParam({
  name: 'clear_languages',
  type: 'bool',
  description: 'drop all languages first',
  default: false,
  refusesNull: true,
});
export const clearLocations = declareParam({
  name: 'clear_locations',
  type: 'bool',
  description: 'drop all places first',
  default: false,
  refusesNull: true,
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
  refusesNull: true,
});
export const replace = declareParam({
  name: 'replace',
  type: 'bool',
  description: 'remove all values that are not given',
  default: false,
});
export const claims = declareParam({
  name: 'claims',
  type: 'strOrList',
  description: 'claim ids in the collection',
  refusesNull: true,
});
export const password = declareParam({ name: 'password', type: 'str', description: 'the password' });
export const data = declareParam({ name: 'data', type: 'str', description: 'an exported wallet' });

/** Fields of all claim types. */
export const metadata = [title, description, tags, languages, locations, thumbnailUrl] as const;

/** The channel that signs the new claim. */
export const signing = [channelId, channelName, channelAccountId] as const;

/** Parameters of all methods that create claims. */
export const making = [accountId, walletId, claimAddress, fundingAccountIds, preview, blocking] as const;

/** Fields that an update can clear. */
export const clearing = [clearTags, clearLanguages, clearLocations] as const;

/** Additional fields of streams. */
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
