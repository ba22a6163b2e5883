/**
 * A solo miner for tests: requests block templates from a node, searches for a nonce on one processor, and submits the block.
 *
 *   node contrib/mining/soloMiner.mjs <RPC URL> <file with user:password> [blocks]
 *
 * The node must have a -miningaddress, so that its template contains the coinbase transaction. One processor tries some 100,000
 * nonces a second: enough for regtest and for an idle test network. Sources: BIP 22 and 23; lbrycrd hash.h `PoWHash`.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [url, cookieFile, wanted = '1'] = process.argv.slice(2);
if (url === undefined || cookieFile === undefined) {
  console.error('usage: node contrib/mining/soloMiner.mjs <RPC URL> <file with user:password> [blocks]');
  process.exit(2);
}
const authorization = `Basic ${Buffer.from(readFileSync(cookieFile, 'utf8').trim()).toString('base64')}`;

const hash = (name, data) => createHash(name).update(data).digest();
const sha256d = (data) => hash('sha256', hash('sha256', data));
const reversed = (hex) => Buffer.from(hex, 'hex').reverse();

/** The proof-of-work hash of a header, as a big-endian number in hex. */
function powHash(header) {
  const wide = hash('sha512', sha256d(header));
  const halves = [wide.subarray(0, 32), wide.subarray(32)].map((half) => hash('ripemd160', half));
  return sha256d(Buffer.concat(halves)).reverse().toString('hex');
}

async function call(method, ...params) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, method, params }),
  });
  if (response.status === 401) throw new Error('the node refused the password');
  const { result, error } = await response.json();
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Merkle root of transaction ids in wire order. An odd last id is paired with itself. */
function merkleRoot(ids) {
  let level = ids;
  while (level.length > 1) {
    const next = [];
    for (let i = 0; i < level.length; i += 2)
      next.push(sha256d(Buffer.concat([level[i], level[i + 1] ?? level[i]])));
    level = next;
  }
  return level[0];
}

/** A number as Bitcoin writes counts. */
function compactSize(value) {
  if (value < 0xfd) return Buffer.of(value);
  const bytes = Buffer.of(0xfd, 0, 0);
  bytes.writeUInt16LE(value, 1);
  return bytes;
}

/** The header of 112 bytes: unlike Bitcoin's it has the root of the claim trie behind the merkle root. */
function headerOf(template, transactions) {
  const header = Buffer.alloc(112);
  header.writeInt32LE(template.version, 0);
  reversed(template.previousblockhash).copy(header, 4);
  merkleRoot(transactions.map(({ txid }) => reversed(txid))).copy(header, 36);
  reversed(template.claimtrie).copy(header, 68);
  header.writeUInt32LE(template.curtime, 100);
  header.writeUInt32LE(Number.parseInt(template.bits, 16), 104);
  return header;
}

/** Mines one block; null when the nonces of a template are used up. */
async function mineOne() {
  const template = await call('getblocktemplate', { rules: ['segwit'], capabilities: ['coinbasetxn'] });
  if (!template.coinbasetxn) throw new Error('the node has no -miningaddress');
  const transactions = [template.coinbasetxn, ...template.transactions];
  const header = headerOf(template, transactions);
  for (let nonce = 0; nonce <= 0xffffffff; nonce++) {
    header.writeUInt32LE(nonce, 108);
    if (powHash(header) > template.target) continue;
    const parts = transactions.map(({ data }) => Buffer.from(data, 'hex'));
    const block = Buffer.concat([header, compactSize(parts.length), ...parts]);
    const refusal = await call('submitblock', block.toString('hex'));
    if (refusal !== null) throw new Error(`the node refused the block: ${refusal}`);
    return { height: template.height, id: sha256d(header).reverse().toString('hex') };
  }
  return null;
}

for (let mined = 0; mined < Number(wanted);) {
  const block = await mineOne();
  if (block === null) continue;
  console.log(`block ${block.height}: ${block.id}`);
  mined++;
}
