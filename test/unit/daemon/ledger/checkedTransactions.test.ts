import { expect, it } from 'vitest';
import type { LedgerHeaders } from '../../../../src/daemon/ledger/headers/ledgerHeaders.js';
import type { HubSession } from '../../../../src/daemon/ledger/hub/hubSession.js';
import { fetchChecked } from '../../../../src/daemon/ledger/sync/checkedTransactions.js';

/** More bytes than the maximum size of a block. */
const TOO_LARGE = 8_000_001;

it('a transaction larger than a block is not parsed', async () => {
  const id = '00'.repeat(32);
  const pair = ['00'.repeat(TOO_LARGE), { block_height: -1 }];
  const session = { name: 'liar', call: () => Promise.resolve({ [id]: pair }) } as unknown as HubSession;
  await expect(fetchChecked(session, [Buffer.alloc(32)], {} as LedgerHeaders)).rejects.toThrow(
    `The hub liar sent a transaction ${id} that is larger than a block`,
  );
});
