/** Fuzz target: the three transaction parsers, with the witness marker and without. */
import { parseTxFallback } from '../../../src/primitives/blockScan.js';
import {
  formatTransaction,
  parseTransaction,
  type Transaction,
} from '../../../src/primitives/transaction.js';
import { Reader } from '../../../src/util/reader.js';
import { coinbaseTx, randomOutPoint, randomTx, type Random } from '../../differential/support.js';
import { law, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';
import { accepts, parseBothWays, sameTransactions } from './parsing.js';

/** Invariants of the format without witness, which `decoderawtransaction` tries too: a parsed transaction can be serialized. */
function checkLegacyForm(bytes: Buffer): void {
  const reader = new Reader(bytes);
  accepts(() => {
    const tx = parseTransaction(reader, false);
    law(formatTransaction(tx, false).equals(bytes.subarray(0, reader.offset)), 'the legacy form round-trips');
  });
}

export function checkTransactionBytes(bytes: Buffer): string {
  const parsed = parseBothWays(parseTxFallback, 'parseTx', bytes);
  checkLegacyForm(bytes);
  const reader = new Reader(bytes);
  let tx: Transaction | null = null;
  const accepted = accepts(() => {
    tx = parseTransaction(reader);
  });
  law(
    accepted === (parsed !== null),
    () => `plain parser ${accepted ? 'accepts' : 'refuses'}, the table's does not`,
  );
  if (tx === null || parsed === null) return 'refused';
  law(parsed.consumedBytes === reader.offset, 'both end at the same byte');
  sameTransactions(bytes, parsed, [tx], 0);
  if (parsed.sizeBytes !== parsed.consumedBytes) return 'accepted in another form';
  law(
    formatTransaction(tx).equals(bytes.subarray(0, reader.offset)),
    'formatting what was parsed gives the bytes back',
  );
  return 'accepted';
}

function fresh(random: Random): Buffer {
  if (random.chance(8)) return formatTransaction(coinbaseTx(random));
  const inputs = Array.from({ length: random.below(4) }, () => randomOutPoint(random));
  return formatTransaction(randomTx(random, { inputs, outputs: random.below(4), witness: random.chance(2) }));
}

/** The same bytes with a witness marker before the inputs, and optional bytes before the lock time. */
function withMarker(random: Random, tx: Buffer): Buffer {
  const marker = Buffer.of(0, random.pick([1, 1, 1, 0, 2, 3, 0xff]));
  const stacks = Buffer.alloc(random.below(4));
  return Buffer.concat([tx.subarray(0, 4), marker, tx.subarray(4, -4), stacks, tx.subarray(-4)]);
}

export const transactionTarget: Target<Buffer> = {
  name: 'transaction',
  make(random) {
    if (random.chance(10)) return noise(random, 200);
    const tx = random.chance(6) ? withMarker(random, fresh(random)) : fresh(random);
    return random.chance(8) ? tx : mutateBytes(random, tx, fresh(random));
  },
  check: checkTransactionBytes,
  show: (bytes) => bytes.toString('hex'),
};
