/**
 * The integration tests of lbry-sdk with lbcnode in the place of lbcd, lbcwallet and the hub (`test/sdk/lbcnode_stack.py`).
 * LBRYNET names the program `lbrynet` of a checkout that runs, beside which lie `python` and, a folder above, `lbry-sdk`.
 * Some of each kind are run; LBRYNET_TESTS chooses others: pytest's arguments with spaces between them.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const LBRYNET = process.env['LBRYNET'];
const root = fileURLToPath(new URL('../..', import.meta.url));
const SOME = [
  'test_basic_claim_search',
  'test_search_by_text',
  'test_search_by_fee',
  'test_limit_claims_per_channel',
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
const chosen = process.env['LBRYNET_TESTS']?.split(' ') ?? [
  ...['claims', 'takeovers', 'blockchain', 'transactions'].map((kind) => `tests/integration/${kind}`),
  '-k',
  SOME.join(' or '),
];

if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

it.skipIf(!LBRYNET)(
  'satisfies the tests of lbry-sdk',
  async () => {
    const bin = dirname(LBRYNET!);
    const child = spawn(
      join(bin, 'python'),
      ['-m', 'pytest', '-q', '-W', 'ignore', '-p', 'lbcnode_stack', '--tb=short', ...chosen],
      {
        cwd: join(bin, '..', 'lbry-sdk'),
        env: {
          ...process.env,
          LBCNODE: join(root, 'dist', 'bin', 'lbcnode.js'),
          LBCNODE_NODE: process.execPath,
          PYTHONPATH: join(root, 'test', 'sdk'),
          PYTHONDONTWRITEBYTECODE: '1',
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let told = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
    const code = await new Promise((done) => child.once('close', done));
    console.log(told.split('\n').slice(-40).join('\n'));
    expect(code).toBe(0);
  },
  3_600_000,
);
