/**
 * The integration tests of lbry-sdk with lbcnode in the place of lbcd, lbcwallet and the hub (`test/sdk/lbcnode_stack.py`).
 * LBRYNET names the program `lbrynet` of a checkout that runs, beside which lie `python` and, a folder above, `lbry-sdk`.
 * LBRYNET_TESTS chooses others than the search over claims.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const LBRYNET = process.env['LBRYNET'];
const root = fileURLToPath(new URL('../..', import.meta.url));
const chosen = process.env['LBRYNET_TESTS']?.split(' ') ?? [
  'tests/integration/claims/test_claim_commands.py',
  '-k',
  'ClaimSearchCommand',
];

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
