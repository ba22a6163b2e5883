/**
 * Integration tests of lbry-sdk, with lbcnode in place of lbcd, lbcwallet and the hub (`test/sdk/lbcnode_stack.py`), and with
 * lbcnet in place of the daemon (`test/sdk/lbcnet_daemon.py`). LBRYNET names the program `lbrynet` of a checkout that can run,
 * with `python` in the same folder and `lbry-sdk` in the folder above. By default some tests of each kind run. LBRYNET_TESTS
 * selects others: arguments of pytest, separated by spaces.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const LBRYNET = process.env['LBRYNET'];
const root = fileURLToPath(new URL('../..', import.meta.url));
const SOME = [
  'test_source_filter',
  'test_search_by_text',
  'test_search_by_fee',
  '(test_limit_claims_per_channel and not across_sorted_pages)',
  'test_repost',
  'test_filtering_channels_for_removing_content',
  'test_abandoned_channel_with_signed_claims',
  'test_normalization_resolution',
  'test_early_takeover_zero_delay',
  'test_reorg_change_claim_height',
  'test_server_features',
  'test_client_errors',
  'test_hub_discovery',
  'test_history_edge_cases',
];
/** Some of the tests that pass with lbcnet. Not all, because each test starts a node and a daemon. */
const SOME_OF_DAEMON = [
  'test_publish_updates_file_list',
  'test_sd_blob_fields_fallback',
  'test_file_save_streaming_only_dont_save_blobs',
  'test_txo_list_and_sum_filtering',
  'test_txo_list_my_input_output_filtering',
  'test_claim_list_filtering',
  'test_channel_bids',
  'test_setting_channel_fields',
  'test_signed_supports_with_no_change_txo_regression',
  'test_collections',
  'test_granular_balances',
  'test_commands_across_accounts',
  'test_wallet_reconnect',
  'test_encryption_and_locking',
  'test_txo_dust_prevention',
  'test_transaction_show',
  'test_seller_can_spend_received_purchase_funds',
  'test_colliding_short_id',
  'test_resolve_response',
  'test_resolve_with_includes',
];
const given = process.env['LBRYNET_TESTS']?.split(' ');
const some = (kinds: readonly string[], names: readonly string[]): string[] => [
  ...kinds.map((kind) => `tests/integration/${kind}`),
  '-k',
  names.join(' or '),
];

if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

async function passes(plugins: readonly string[], chosen: readonly string[]): Promise<void> {
  const bin = dirname(LBRYNET!);
  const child = spawn(
    join(bin, 'python'),
    [
      ...['-m', 'pytest', '-q', '-W', 'ignore', '--tb=short'],
      ...plugins.flatMap((plugin) => ['-p', plugin]),
      ...chosen,
    ],
    {
      cwd: join(bin, '..', 'lbry-sdk'),
      env: {
        ...process.env,
        LBCNODE: join(root, 'dist', 'bin', 'lbcnode.js'),
        LBCNET: join(root, 'dist', 'bin', 'lbcnet.js'),
        LBCNODE_NODE: process.execPath,
        PYTHONPATH: join(root, 'test', 'sdk'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let reported = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (reported += text));
  const code = await new Promise((done) => child.once('close', done));
  console.log(reported.split('\n').slice(-40).join('\n'));
  expect(code).toBe(0);
}

it.skipIf(!LBRYNET)(
  'passes the tests of lbry-sdk',
  () => passes(['lbcnode_stack'], given ?? some(['claims', 'takeovers', 'blockchain', 'transactions'], SOME)),
  3_600_000,
);

it.skipIf(!LBRYNET)(
  'passes them with lbcnet as the daemon',
  () =>
    passes(
      ['lbcnode_stack', 'lbcnet_daemon'],
      given ?? some(['claims', 'blockchain', 'transactions', 'takeovers', 'datanetwork'], SOME_OF_DAEMON),
    ),
  3_600_000,
);
