/** Declarations of the methods without a group. */
import { t } from '../../../schema/schema.js';
import { declareMethod, required } from '../declaration.js';
import {
  includeIsMyOutput,
  includePurchaseReceipt,
  includeReceivedTips,
  newSdkServer,
} from './listParams.js';
import {
  allowDuplicateName,
  bid,
  clearChannel,
  clearFee,
  clearing,
  creating,
  filePath,
  metadata,
  name,
  optimizeFile,
  signing,
  streamFields,
  validateFile,
  walletId,
} from './params.js';
import { ffmpegShape, peer, statusShape, transaction, txo, versionShape } from './shapes.js';

const [account, wallet, address, ...others] = creating;
/** Parameters whose meaning for an update of a claim differs from the meaning for a new claim. */
const publishing = [
  {
    ...account,
    description:
      'id of the account to search for the claim, and that gets a new claim; default: all accounts are searched, and the default account gets a new claim',
  },
  wallet,
  {
    ...address,
    description:
      'address that gets the claim; default: the present address of the claim, or a new address for a new claim',
  },
  ...others,
] as const;

export const ffmpegFind = declareMethod({
  name: 'ffmpeg_find',
  group: null,
  summary: 'Search for ffmpeg and ffprobe.',
  usage: [],
  params: [],
  result: ffmpegShape,
  needs: [],
});

export const publish = declareMethod({
  name: 'publish',
  group: null,
  summary: 'Publish a stream, or update your stream with the same name.',
  usage: [
    '(<name> | --name=<name>) [--bid=<bid>] [--file_path=<file_path>] [--file_name=<file_name>]',
    '[--file_hash=<file_hash>] [--validate_file] [--optimize_file]',
    '[--fee_currency=<fee_currency>] [--fee_amount=<fee_amount>] [--fee_address=<fee_address>]',
    '[--title=<title>] [--description=<description>] [--author=<author>] [--tags=<tags>...]',
    '[--languages=<languages>...] [--locations=<locations>...] [--license=<license>]',
    '[--license_url=<license_url>] [--thumbnail_url=<thumbnail_url>]',
    '[--release_time=<release_time>] [--width=<width>] [--height=<height>]',
    '[--duration=<duration>] [--sd_hash=<sd_hash>]',
    '[--channel_id=<channel_id> | --channel_name=<channel_name>]',
    '[--channel_account_id=<channel_account_id>...] [--account_id=<account_id>]',
    '[--wallet_id=<wallet_id>] [--claim_address=<claim_address>]',
    '[--funding_account_ids=<funding_account_ids>...] [--preview] [--blocking]',
  ],
  params: [
    required(name),
    {
      ...bid,
      description: 'amount to stake in the claim; default: the present amount; required for a new claim',
    },
    filePath,
    allowDuplicateName,
    ...signing,
    ...publishing,
    validateFile,
    optimizeFile,
    ...streamFields,
    ...metadata,
    ...clearing,
    clearFee,
    clearChannel,
  ],
  result: transaction,
  needs: ['wallet'],
});

export const resolve = declareMethod({
  name: 'resolve',
  group: null,
  summary: 'Resolve URLs to claims.',
  usage: [
    '<urls>... [--wallet_id=<wallet_id>] [--include_purchase_receipt] [--include_is_my_output]',
    '[--include_sent_supports] [--include_sent_tips] [--include_received_tips]',
    '[--new_sdk_server=<new_sdk_server>]',
  ],
  params: [
    { name: 'urls', type: 'strOrList', description: 'URLs of the claims', required: true },
    walletId,
    includePurchaseReceipt,
    includeIsMyOutput,
    {
      name: 'include_sent_supports',
      type: 'bool',
      description: 'include the sum of your supports for each claim',
      default: false,
    },
    {
      name: 'include_sent_tips',
      type: 'bool',
      description: 'include the sum of the tips that you sent for each claim',
      default: false,
    },
    includeReceivedTips,
    newSdkServer,
  ],
  result: t.map(
    'url',
    t.union([
      { when: 'if the claim is found', schema: txo },
      { when: 'otherwise', schema: t.openObject({ error: t.any('reason of the failure') }) },
    ]),
  ),
  needs: ['wallet'],
});

export const routingTableGet = declareMethod({
  name: 'routing_table_get',
  group: null,
  summary: 'Show the routing table of the DHT.',
  usage: [],
  params: [],
  result: t.object({
    buckets: t.map('index', t.array(peer), 'known peers by the index of their bucket'),
    node_id: t.str('own id, 96 hexadecimal digits'),
    prefix_neighbors_count: t.int('peers whose id has the same first byte as the own id'),
  }),
  needs: ['dht'],
});

export const status = declareMethod({
  name: 'status',
  group: null,
  summary: 'Show the state of the daemon and its components.',
  usage: [],
  params: [],
  result: statusShape,
  needs: [],
});

export const stop = declareMethod({
  name: 'stop',
  group: null,
  summary: 'Stop the daemon.',
  usage: [],
  params: [],
  result: t.str('a sentence that confirms the stop'),
  needs: [],
});

export const version = declareMethod({
  name: 'version',
  group: null,
  summary: 'Show the versions of the daemon and of the operating system.',
  usage: [],
  params: [],
  result: versionShape,
  needs: [],
});
