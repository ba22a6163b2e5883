/**
 * Reserves the coins of an account one by one, adds new ones, and prints each step, for a test that kills it. Usage:
 *   node coinReserver.mjs <database> <seed transactions as JSON>
 */
import { openStore } from '../../../dist/daemon/ledger/store/openStore.js';

const [path, input] = process.argv.slice(2);
const { key, transactions } = JSON.parse(input);
const bytes = (hex) => Buffer.from(hex, 'hex');
const store = openStore({ path, ledgerId: 'lbc_regtest' });
const keyFields = { publicKey: bytes(key.publicKey), chainCode: bytes(key.chainCode), depth: 2, index: 0 };
await store.addKeys('alice', 0, [{ ...keyFields, address: key.address }]);
const txids = [];
for (const { txid, raw } of transactions) {
  const place = { height: 1, position: txids.length, isVerified: true };
  await store.saveTransactions([{ txid: bytes(txid), raw: bytes(raw), ...place }]);
  txids.push(bytes(txid));
  await store.saveHistories([{ address: key.address, status: 's', txids: Buffer.concat(txids) }], [], []);
  console.log(JSON.stringify({ saved: txid }));
  const isReserved = await store.reserve([{ txid: bytes(txid), nout: 0 }]);
  if (isReserved) console.log(JSON.stringify({ reserved: txid }));
}
// It runs until it is killed.
setInterval(() => undefined, 1000);
