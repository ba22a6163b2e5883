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
  filePath,
  making,
  metadata,
  name,
  optimizeFile,
  signing,
  streamFields,
  validateFile,
  walletId,
} from './params.js';
import { ffmpegShape, peer, statusShape, transaction, txo, versionShape } from './shapes.js';

export const ffmpegFind = declareMethod({
  name: 'ffmpeg_find',
  group: null,
  summary: 'Look for ffmpeg.',
  usage: [],
  params: [],
  result: ffmpegShape,
  needs: [],
});

export const publish = declareMethod({
  name: 'publish',
  group: null,
  summary: 'Publish a stream, or update the one that you have at the name.',
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
    bid,
    filePath,
    allowDuplicateName,
    ...signing,
    ...making,
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
    { name: 'urls', type: 'strOrList', description: 'the URLs', required: true },
    walletId,
    includePurchaseReceipt,
    includeIsMyOutput,
    {
      name: 'include_sent_supports',
      type: 'bool',
      description: 'add your supports for each claim',
      default: false,
    },
    { name: 'include_sent_tips', type: 'bool', description: 'add your tips for each claim', default: false },
    includeReceivedTips,
    newSdkServer,
  ],
  result: t.map(
    'url',
    t.union([
      { when: 'when it is found', schema: txo },
      { when: 'else', schema: t.openObject({ error: t.any('what is wrong') }) },
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
    buckets: t.map('index', t.array(peer), 'known peers, by bucket'),
    node_id: t.str('own id, 96 hexadecimal digits'),
    prefix_neighbors_count: t.int('peers whose id has the same first byte as the own id'),
  }),
  needs: ['dht'],
});

export const status = declareMethod({
  name: 'status',
  group: null,
  summary: 'Show how the daemon is doing.',
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
  result: t.str('that it stops'),
  needs: [],
});

export const version = declareMethod({
  name: 'version',
  group: null,
  summary: 'Show versions of the daemon and of the machine.',
  usage: [],
  params: [],
  result: versionShape,
  needs: [],
});
