// The pages of a name with 5,000 claims beside `getclaimsforname` of lbrycrd, and `gettxinfo` of a transaction with 250 of its claims
// beside `getclaimsfortx` of lbrycrd. The claims have titles of 51 characters, and the name has changed hands 60 times. Part of
// explorer.mjs.
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { OutputMaker } from './crowdedNames.mjs';
import { at, medianOf, print, text, workedMs } from './explorerFigures.mjs';
import { ReferenceCopy } from './explorerReference.mjs';
import { dist } from './searchClaims.mjs';

const { buildClaimPrefix } = await dist('script/claimScript.js');
const { encodeClaim } = await dist('metadata/claim.js');
const { ClaimSchema } = await dist('metadata/messages/claim_pb.js');

const NAME = 'crowd';
const CLAIMS = 5000;
const TAKEOVERS = 60;
/** Blocks after the takeovers, so that each request of an earlier block can have another one. */
const EMPTY_BLOCKS = 70;
const OUTPUTS_A_TRANSACTION = 250;
const TRANSACTIONS_A_BLOCK = 4;
/** Number of pages that are read to find all kinds of pages. */
const READ_PAGES = 120;
/** Number of repeated requests after each block. */
const AGAIN = 4;
const AFTER_BLOCK_MS = 200;
/** Time after which the processor time of an answer is complete. */
const SETTLED_MS = 10;

/** A claim on the name with the metadata of a video, whose title has 51 characters. */
export function titledPrefix(n) {
  const title = `${n} `.padEnd(51, 'How to find the name that everybody wants to have ');
  const hash = Buffer.alloc(48, n);
  const message = create(ClaimSchema, {
    title,
    description: `The claim ${n} of the name, with a description as most claims have it.`,
    tags: ['art', 'science'],
    type: {
      case: 'stream',
      value: {
        releaseTime: BigInt(1_500_000_000 + n),
        source: { mediaType: 'video/mp4', sdHash: hash, name: `video-${n}.mp4`, size: BigInt(1e6 + n) },
        type: { case: 'video', value: { duration: 600, width: 1920, height: 1080 } },
      },
    },
  });
  const value = encodeClaim({ channelId: null, signature: null, claim: message });
  return buildClaimPrefix(Buffer.from(NAME), Buffer.from(value));
}

/** The name with its claims on the chain of a node. */
export class Crowd {
  /** Makes the claims and the takeovers, and coins for `blocks` further claims. */
  static async make(site, blocks) {
    const crowd = new Crowd();
    crowd.site = site;
    const rpc = (method, params) => site.rpc(method, params);
    crowd.maker = await OutputMaker.start(rpc, 25 + TAKEOVERS + blocks);
    const prefixes = Array.from({ length: CLAIMS }, (_, n) => titledPrefix(n));
    const made = await crowd.maker.make(prefixes, OUTPUTS_A_TRANSACTION, null, TRANSACTIONS_A_BLOCK);
    /** Ids of the transactions with 250 claims each. */
    crowd.txids = made.map((id) => Buffer.from(id).reverse().toString('hex'));
    /** The first block after all claims. */
    crowd.first = await site.rpc('getblockcount');
    for (let n = 0; n < TAKEOVERS; n++) {
      await crowd.maker.send([titledPrefix(CLAIMS + n)], 200_000n + 1000n * BigInt(n));
      await crowd.maker.mine();
    }
    for (let n = 0; n < EMPTY_BLOCKS; n++) await crowd.maker.mine();
    return crowd;
  }
}

/** All pages of the name, found by following the links from `first`. */
async function pagesOf(site, first) {
  const seen = new Set();
  const found = [];
  const due = [first];
  while (due.length > 0) {
    const path = due.shift();
    if (seen.has(path) || found.length >= READ_PAGES) continue;
    seen.add(path);
    const answer = await site.ask(path, 'identity');
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
    found.push({ path, gzip: gzipSync(answer.body).length });
    for (const [, href] of answer.body.matchAll(/href="(\/name\/[^"#]*)/g)) {
      const plain = href.replaceAll('&amp;', '&');
      if (plain.startsWith(first)) due.push(plain);
    }
  }
  return found;
}

/** Heights of earlier blocks, each returned once, in a mixed order. */
class EarlierBlocks {
  constructor(site, first, last) {
    this.site = site;
    this.heights = Array.from({ length: last - first }, (_, n) => first + n).sort(
      (a, b) => ((a * 7919) % 101) - ((b * 7919) % 101) || a - b,
    );
    this.taken = 0;
  }

  next() {
    const height = this.heights[this.taken++ % this.heights.length];
    return { height, hash: () => this.site.rpc('getblockhash', [height]) };
  }

  /** Whether each height was taken at most once. */
  get areNew() {
    return this.taken <= this.heights.length;
  }

  /** The path of a page of this kind for another earlier block. A kind without a block keeps its path. */
  async pathOf(path) {
    const url = new URL(path, 'http://node');
    const asked = url.searchParams;
    const isPast = asked.has('block') || asked.has('before');
    if (!isPast) return path;
    const { height, hash } = this.next();
    if (asked.has('block')) asked.set('block', String(height));
    if (asked.has('before')) asked.set('before', String(height - (asked.has('block') ? 1 : 0)));
    // A cursor begins with the hash of the block of the first page.
    if (asked.has('after')) {
      const wire = Buffer.from(await hash(), 'hex')
        .reverse()
        .toString('hex');
      asked.set('after', wire + asked.get('after').slice(wire.length));
    }
    return url.pathname + url.search;
  }
}

/** Times of requests of one kind: milliseconds until the last byte, and of processor time of the whole process. */
class Times {
  ms = [];
  cpuMs = [];

  async add(pid, request) {
    const before = workedMs(pid);
    const ms = await request();
    await sleep(SETTLED_MS);
    this.ms.push(ms);
    this.cpuMs.push(workedMs(pid) - before);
  }

  get median() {
    return { ms: medianOf(this.ms), cpuMs: medianOf(this.cpuMs) };
  }
}

const kindOf = (path) =>
  [...new URL(path, 'http://node').searchParams.keys()].sort().join(' ') || 'the first page';

/** Measures the rows of the name with 5,000 claims. `reference` is the path of lbrycrd; undefined if there is none. */
export async function measureCrowd({ site, maker, txids, first }, reference, blocks) {
  const copy = reference ? await ReferenceCopy.start(reference, site) : null;
  const pages = await pagesOf(site, `/name/${NAME}`);
  const largest = pages.reduce((a, b) => (b.gzip > a.gzip ? b : a));
  print(
    `largest of ${pages.length} pages of a name with 5,000 claims, gzip`,
    '≤ 15 kB',
    `${(largest.gzip / 1000).toFixed(1)} kB (${kindOf(largest.path)})`,
  );
  const kinds = new Map(pages.map(({ path }) => [kindOf(path), path]));
  const earlier = new EarlierBlocks(site, first, await site.rpc('getblockcount'));
  const context = { site, copy, maker, kinds, earlier, txid: txids.at(-1), blocks };
  await measureFirst(context, txids.slice(0, -1));
  await measureAfterBlocks(context, false);
  await measureAfterBlocks(context, true);
  await copy?.stop();
}

/** Measures the first requests of transactions: the call with all outputs, its default page, and the page of the explorer. */
async function measureFirst({ site, copy }, txids) {
  const rows = { all: new Times(), page: new Times(), web: new Times(), their: new Times() };
  for (const [n, txid] of txids.entries()) {
    const { pid } = site.node;
    if (n % 3 === 0) await rows.all.add(pid, () => site.msOf('gettxinfo', [txid, 0, 250]));
    if (n % 3 === 1) await rows.page.add(pid, () => site.msOf('gettxinfo', [txid]));
    if (n % 3 === 2) await rows.web.add(pid, async () => (await site.ask(`/tx/${txid}`)).ms);
    if (copy) await rows.their.add(copy.pid, () => copy.ms('getclaimsfortx', [txid]));
  }
  print(
    'the first gettxinfo of a transaction with 250 claims of that name; with the default count of 100',
    "≤ lbrycrd's getclaimsfortx, which has one of them",
    `${shown(rows.all)}; ${shown(rows.page)}; ` +
      (copy ? `lbrycrd ${shown(rows.their)}` : 'lbrycrd is not here'),
  );
  print('the first /tx of such a transaction', '≤ 100 ms', shown(rows.web));
}

/** With `isChanging`, each block has a new claim of the name; otherwise the blocks do not change the name. */
async function measureAfterBlocks(context, isChanging) {
  const { site, copy, maker, kinds, earlier, txid, blocks } = context;
  const times = new Map([...kinds.keys()].map((kind) => [kind, new Times()]));
  const [own, other] = [new Times(), new Times()];
  const rows = { tx: new Times(), txAgain: new Times(), page: new Times(), web: new Times() };
  Object.assign(rows, { their: new Times(), theirAgain: new Times() });
  for (let n = 0; n < blocks; n++) {
    if (isChanging) await maker.send([titledPrefix(6000 + n)], 1000n);
    await maker.mine();
    await copy?.follow(site);
    // An open page reloads itself up to 1.5 seconds after the block.
    await sleep(AFTER_BLOCK_MS);
    for (const [kind, path] of kinds) {
      const asked = await earlier.pathOf(path);
      await times.get(kind).add(site.node.pid, async () => {
        const { ms, status } = await site.ask(asked);
        if (status !== 200) throw new Error(`${asked} answers ${status}`);
        return ms;
      });
    }
    await rows.tx.add(site.node.pid, () => site.msOf('gettxinfo', [txid, 0, 250]));
    if (copy) await rows.their.add(copy.pid, () => copy.ms('getclaimsfortx', [txid]));
    for (let again = 0; again < AGAIN; again++) {
      await rows.txAgain.add(site.node.pid, () => site.msOf('gettxinfo', [txid, 0, 250]));
      if (copy) await rows.theirAgain.add(copy.pid, () => copy.ms('getclaimsfortx', [txid]));
    }
    await rows.page.add(site.node.pid, () => site.msOf('gettxinfo', [txid]));
    await rows.web.add(site.node.pid, async () => (await site.ask(`/tx/${txid}`)).ms);
    await own.add(site.node.pid, () => site.msOf('getclaimsforname', [NAME]));
    if (copy) await other.add(copy.pid, () => copy.ms('getclaimsforname', [NAME]));
  }
  printPages({ times, own, other, isWith: copy !== null, isChanging, isNew: earlier.areNew });
  printTransactions(rows, copy !== null, isChanging);
}

function printPages({ times, own, other, isWith, isChanging, isNew }) {
  const [ours, theirs] = [own.median, isWith ? other.median : { ms: NaN, cpuMs: NaN }];
  const after = isChanging ? 'a block that changes it' : 'a block';
  const isOld = isNew ? '' : '; some earlier blocks were requested twice';
  print(
    `getclaimsforname of the name, after ${after}`,
    '',
    `${text(ours.ms)} ms (processor ${text(ours.cpuMs)}); lbrycrd ${text(theirs.ms)} ms (processor ${text(theirs.cpuMs)})${isOld}`,
  );
  for (const [kind, found] of times) {
    const { ms, cpuMs } = found.median;
    const shares = [ms / theirs.ms, cpuMs / theirs.cpuMs, at(found.ms, 1) / theirs.ms];
    print(
      `its page: ${kind}, after ${after}`,
      "≤ 0.1 of lbrycrd's getclaimsforname",
      `${shares[0].toFixed(3)} (${text(ms)} ms), processor ${shares[1].toFixed(3)} (${text(cpuMs)} ms); slowest ${shares[2].toFixed(3)}`,
    );
  }
}

const shown = ({ median: { ms, cpuMs } }) => `${text(ms)} ms (processor ${text(cpuMs)})`;

function printTransactions({ tx, txAgain, page, web, their, theirAgain }, isWith, isChanging) {
  print(
    `/tx of that transaction; gettxinfo with the default count, after ${isChanging ? 'a block that changes the name' : 'a block'}`,
    '≤ 100 ms',
    `${shown(web)}; ${shown(page)}`,
  );
  print(
    `gettxinfo of 250 claims of that name, after ${isChanging ? 'a block that changes it' : 'a block'}; repeated`,
    "≤ lbrycrd's getclaimsfortx, which has one of them",
    `${shown(tx)}; ${shown(txAgain)}; ` +
      (isWith ? `lbrycrd ${shown(their)}; ${shown(theirAgain)}` : 'lbrycrd is not here'),
  );
}
