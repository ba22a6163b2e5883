// Makes the blocks of test/bench/claimtrie.mjs in a process of its own, so that the objects of its transactions do not count as
// memory of the process that is measured. A node, too, packs the claim operations of a block without such objects.
//
// Messages to this process, each answered by one message:
//   { make: 'new', count, height } → a block of new claims at the height: { packed, operations, names }
//   { make: 'mixed', count, height } → a block with all kinds of operations: half new claims, a fifth updates, a fifth supports,
//   a tenth abandoned
//   { transactions: height } → the transactions of one of the last two blocks
//   { state: true } → what `{ restore: state }` needs to continue in a later process
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { packOperations } = await import(
  pathToFileURL(join(root, 'dist/store/claims/packedOperations.js')).href
);

const hash = (text) => createHash('sha256').update(text).digest();
const SYLLABLES =
  'ba be bi bo da de di do fa fi ga go ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi vo za zo'.split(
    ' ',
  );
/** Number of claims that can be updated, supported or spent: a sample of all. */
const SAMPLE = 20_000;

/** A name like those of users: syllables with an occasional dash, and sometimes a number. */
function nameOf(number) {
  const bytes = hash(`name ${number}`);
  let name = number % 5 === 0 ? '@' : '';
  const words = 1 + (bytes[0] % 3);
  for (let word = 0, at = 1; word < words; word++) {
    if (word > 0) name += '-';
    for (let i = 2 + (bytes[at++] % 3); i > 0; i--) name += SYLLABLES[bytes[at++] % SYLLABLES.length];
  }
  return Buffer.from(name + (words === 1 ? number.toString(36) : ''));
}

let height = 0;
let names = 0;
let random = 1;
const alive = [];
const pick = (count) => {
  random = (Math.imul(random, 1103515245) + 12345) >>> 0;
  return random % count;
};

function transaction(block, spends, outputs) {
  const txid = hash(`tx ${height} ${block.length}`);
  block.push({ txid, txOffset: 120 + block.length * 300, spends, outputs });
  return txid;
}

function idOf(txid) {
  const first = createHash('sha256').update(txid).update(Buffer.alloc(4)).digest();
  return createHash('ripemd160').update(first).digest();
}

function newClaim(block) {
  const name = nameOf(names++);
  const amount = BigInt(1000000 + pick(100000000));
  const txid = transaction(block, [], [{ n: 0, kind: 'claim', hasMetadata: false, name, amount }]);
  const claim = {
    txid,
    n: 0,
    coinHeight: height,
    kind: 'claim',
    hasMetadata: false,
    name,
    amount,
    claimId: idOf(txid),
  };
  if (alive.length < SAMPLE) alive.push(claim);
  else alive[pick(alive.length)] = claim;
}

function update(block) {
  const claim = alive[pick(alive.length)];
  if (claim.coinHeight === height) return newClaim(block);
  const { name, amount, claimId } = claim;
  const spend = { ...claim };
  claim.txid = transaction(
    block,
    [spend],
    [{ n: 0, kind: 'update', hasMetadata: false, name, claimId, amount }],
  );
  claim.coinHeight = height;
  claim.kind = 'update';
}

function support(block) {
  const { name, claimId } = alive[pick(alive.length)];
  transaction(block, [], [{ n: 0, kind: 'support', hasMetadata: false, name, claimId, amount: 5000000n }]);
}

function abandon(block) {
  const at = pick(alive.length);
  const claim = alive[at];
  if (claim.coinHeight === height) return newClaim(block);
  transaction(block, [claim], []);
  alive[at] = alive[alive.length - 1];
  alive.pop();
}

function mixedOperation(block, number) {
  const kind = number % 10;
  if (kind < 5) newClaim(block);
  else if (kind < 7) update(block);
  else if (kind < 9) support(block);
  else abandon(block);
}

const made = new Map();

function make({ make: kind, count, height: at }) {
  height = at;
  const block = [];
  for (let i = 0; i < count; i++) {
    if (kind === 'new') newClaim(block);
    else mixedOperation(block, i);
  }
  made.set(height, block);
  made.delete(height - 2);
  return { packed: packOperations({ height, transactions: block }), operations: block.length, names };
}

function answer(message) {
  if (message.make) return make(message);
  if (message.transactions) return made.get(message.transactions);
  if (message.state) return { names, random, alive };
  ({ names, random } = message.restore);
  alive.push(...message.restore.alive);
  return null;
}

process.on('message', (message) => process.send(answer(message)));
process.on('disconnect', () => process.exit(0));
