/**
 * Sample calls of every method on one small chain with claims. The examples of the documents are recorded from them, and schema
 * validators check the answers. The chain is always the same: keys, times and signatures are fixed.
 */
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { networkPrefixes } from '../../src/client/claimOutputs.js';
import {
  buildTransaction,
  claimIdOf,
  claimOutput,
  paymentOutput,
  scriptForAddress,
  signTransaction,
  supportOutput,
  transactionId,
  type OutputDraft,
} from '../../src/client/index.js';
import { call, documented, lbcd, lbrycrd, once, type ExampleCase, type ExampleNode } from './exampleCase.js';
import { makeWalletExamples } from './exampleWalletCalls.js';
import { encodeDestination } from '../../src/script/address.js';
import { encodeSecret } from '../../src/script/wif.js';
import { signingKeyOf } from '../../src/signing/signingProvider.js';

const NETWORK = 'regtest';
const KEY = signingKeyOf(sha256(Buffer.from('an example')), true);
const WIF = encodeSecret(KEY.privateKey, true, networkPrefixes(NETWORK));
const ADDRESS = encodeDestination(
  { type: 'pubkeyhash', hash: hash160(KEY.publicKey) },
  networkPrefixes(NETWORK),
);
/** It is paid once, so that it has few coins. */
const OTHER_ADDRESS = encodeDestination(
  { type: 'pubkeyhash', hash: hash160(Buffer.from('another example')) },
  networkPrefixes(NETWORK),
);
const FEE_SAT = 20_000n;
/** The time of the node, so that answers have the same times in each run. */
const MOCK_TIME = 1_700_000_000;
/** Blocks before the first claim: twelve coinbases and the hundred blocks that make them spendable. */
const COINBASES = 112;

/** Options with which the node must be started. */
export const EXAMPLE_NODE_ARGS: readonly string[] = [
  `-mocktime=${MOCK_TIME}`,
  '-txindex',
  '-spendindex',
  '-addressindex',
  '-blockfilterindex',
  '-claimindex',
  '-claimsearch',
  ...['getclaimsintrie', 'getnamesintrie', 'signrawtransaction', 'accounts', 'addwitnessaddress'].map(
    (name) => `-deprecatedrpc=${name}`,
  ),
  '-claimproofwindow=all',
  '-listen=1',
];

/** Methods without a recorded sample, with the reason. */
export const WITHOUT_EXAMPLE: readonly string[] = [
  // Its answer is the document that contains the examples.
  'rpc.discover',
  // Stops the node.
  'stop',
  // Works only with -prune, which excludes a transaction index.
  'pruneblockchain',
  // Write or read files.
  'backupwallet',
  'dumpsnapshot',
  'dumpwallet',
  'importwallet',
  'migratewallet',
  'verifysnapshot',
  // Accepts only transactions that the mempool does not have.
  'abandontransaction',
  // The reference has removed them; they only return an error that says so.
  'estimatefee',
  'getclaimtrie',
];

/** What the calls name of the chain. Transactions and blocks are in hex. */
interface ExampleFacts {
  readonly publicKey: string;
  readonly claim: string;
  readonly claimId: string;
  readonly claimTxid: string;
  /** Hash of the block that contains the claim. */
  readonly claimBlock: string;
  readonly claimBlockHex: string;
  readonly parent: string;
  /** Spends `parent`. */
  readonly child: string;
  readonly unsent: string;
  readonly tip: string;
  readonly spent: { readonly txid: string; readonly vout: number };
  readonly raw: string;
  readonly psbt: string;
  readonly proof: string;
  readonly signature: string;
}

const OUTPUTS = [{ [ADDRESS]: 0.1 }, { data: '00010203' }];

/** Makes the chain. Returns the calls that work on it, in the order in which they must be made. */
export async function makeExampleCalls(node: ExampleNode): Promise<ExampleCase[]> {
  const example = new ExampleChain(node);
  const publicKey = Buffer.from(KEY.publicKey).toString('hex');
  const { claim, claimId } = await mineClaims(example);
  const wallet = await makeWalletExamples(node, example, { publicKey, otherAddress: OTHER_ADDRESS });
  const facts = await makeFacts(node, example, { publicKey, claim, claimId });
  return [
    ...chainCalls(facts),
    ...claimCalls(facts),
    ...controlCalls(facts),
    ...networkCalls(),
    ...transactionCalls(facts),
    ...wallet.calls,
    // zmq
    call('getzmqnotifications'),
    // Calls that change the chain or disconnect peers come last.
    once('generatetoaddress', 1, ADDRESS),
    once('invalidateblock', facts.tip),
    once('reconsiderblock', facts.tip),
    once('setnetworkactive', true),
    ...wallet.last,
    once('disconnectnode', '', 0),
  ];
}

/** Mines the blocks with the claims and the support. Returns the transaction and the id of the first claim. */
async function mineClaims(example: ExampleChain): Promise<{ claim: string; claimId: string }> {
  await example.mine(COINBASES);
  const claim = await example.spend([
    claimOutput({ ...common(10_000_000n), name: 'MindBlown', value: 'a value' }),
    paymentOutput({ ...common(2_000_000n), address: OTHER_ADDRESS }),
  ]);
  await example.mine(1);
  const claimId = claimIdOf(transactionId(claim), 0);
  await example.spend([
    supportOutput({ ...common(7_000_000n), name: 'MindBlown', claimId }),
    claimOutput({ ...common(5_000_000n), name: 'MindBlown', value: 'another value' }),
    claimOutput({ ...common(3_000_000n), name: 'mint', value: 'a third value' }),
  ]);
  await example.mine(2);
  return { claim, claimId };
}

async function makeFacts(
  node: ExampleNode,
  example: ExampleChain,
  claimed: Pick<ExampleFacts, 'publicKey' | 'claim' | 'claimId'>,
): Promise<ExampleFacts> {
  const parent = await example.spend([paymentOutput(common(50_000_000n))]);
  const child = await example.spend([paymentOutput(common(40_000_000n))], example.change(parent));
  const claimTxid = transactionId(claimed.claim);
  const claimBlock = await node.rpc<string>('getblockhash', [COINBASES + 1]);
  const spent = { txid: claimTxid, vout: 0 };
  return {
    ...claimed,
    ...{ parent, child, claimTxid, claimBlock, spent },
    unsent: await example.make([paymentOutput(common(30_000_000n))]),
    tip: await node.rpc('getbestblockhash'),
    claimBlockHex: await node.rpc('getblock', [claimBlock, 0]),
    raw: await node.rpc('createrawtransaction', [[spent], OUTPUTS]),
    psbt: await node.rpc('createpsbt', [[spent], OUTPUTS]),
    proof: await node.rpc('gettxoutproof', [[claimTxid], claimBlock]),
    signature: await node.rpc('signmessagewithprivkey', [WIF, 'my message']),
  };
}

/** Calls about addresses, blocks and the mempool. */
function chainCalls({ claimTxid, claimBlock, parent, child, tip, proof }: ExampleFacts): ExampleCase[] {
  return [
    // addressindex
    call('getaddressbalance', ADDRESS),
    call('getaddressmempool', ADDRESS),
    call('getaddresstxids', { addresses: [ADDRESS], start: COINBASES, end: COINBASES + 1 }),
    call('getaddressutxos', { addresses: [ADDRESS], limit: 2, mempool: true }),
    // blockchain
    call('getbestblockhash'),
    call('getblock', claimBlock),
    call('getblock', claimBlock, 2),
    lbcd('getbestblock'),
    call('getblockfilter', claimBlock),
    lbcd('getcfilter', claimBlock, 0),
    lbcd('getcfilterheader', claimBlock, 0),
    lbcd('getheaders', [claimBlock], tip),
    call('getblockchaininfo'),
    call('getblockcount'),
    call('getblockhash', COINBASES + 1),
    call('getblockheader', claimBlock),
    call('getblockheader', claimBlock, false),
    call('getblockstats', COINBASES + 1, ['avgfeerate', 'minfeerate', 'txs']),
    call('getchainseries', 'transactions', 0, 100, 3),
    call('getchaintips'),
    call('getchaintxstats', 10),
    call('getdifficulty'),
    call('getmempoolancestors', transactionId(child)),
    call('getmempooldescendants', transactionId(parent), true),
    call('getmempoolentry', transactionId(child)),
    call('getmempoolinfo'),
    call('getmempoolsummary'),
    call('getrawmempool'),
    call('getrawmempool', true),
    call('gettxout', claimTxid, 0),
    call('gettxoutproof', [claimTxid], claimBlock),
    call('gettxoutsetinfo'),
    once('preciousblock', tip),
    call('savemempool'),
    call('scantxoutset', 'start', [`addr(${OTHER_ADDRESS})`]),
    call('verifychain', 1, 2),
    call('verifytxoutproof', proof),
  ];
}

/** Calls about claims, names and the hub. */
function claimCalls({ claimId, claimTxid, claimBlock, tip }: ExampleFacts): ExampleCase[] {
  return [
    // claimindex
    call('getclaim', claimId),
    call('getclaimindexinfo'),
    call('getclaimstatus', claimId),
    call('getclaimstates', [claimId, '00'.repeat(20)]),
    call('listchannelclaims', claimId),
    call('resolve', ['lbry://MindBlown', '@nobody/anything']),
    call('searchclaims', { name: 'MindBlown' }),
    call('searchclaims', { namehex: '4d696e64426c6f776e' }),
    // claimtrie
    call('checknormalization', 'MindBlown'),
    call('getblockevents', claimBlock),
    call('getchangesinblock', claimBlock),
    call('getclaimbybid', 'MindBlown', 0),
    call('getclaimbyid', claimId),
    documented('getclaimbyid', claimId, 1),
    call('getclaimbyseq', 'MindBlown', 0),
    call('getclaimproofbybid', 'MindBlown', 0),
    call('getclaimproofbyseq', 'MindBlown', 0),
    call('getclaimsforname', 'MindBlown'),
    call('getclaimsforname', 'mint'),
    documented('getclaimsforname', 'MindBlown', tip, false, 1),
    lbcd('getclaimsfornamebybid', 'MindBlown', [0]),
    lbcd('getclaimsfornamebyid', 'MindBlown', [claimId.slice(0, 4)]),
    lbcd('getclaimsfornamebyseq', 'MindBlown', [0]),
    call('getclaimsfortx', claimTxid),
    documented('getclaimsfortx', claimTxid, 0, 1),
    call('getclaimsintrie'),
    call('getnamehistory', 'MindBlown'),
    call('getnameproof', 'mint'),
    call('getnamesintrie'),
    call('gettotalclaimednames'),
    call('gettotalclaims'),
    call('gettotalvalueofclaims', true),
    call('getvalueforname', 'MindBlown'),
    call('listclaims', 'MindBlown', 1),
    call('listmempoolclaims'),
    call('listnames', 'mi', 1),
    call('listnewclaims', 10),
    call('listsupports', claimId),
    call('listupcoming', 2000),
    lbcd('normalize', 'MindBlown'),
    // hub
    once('addhub', 'hub.example.com:50001'),
    call('gethubinfo'),
  ];
}

/** Calls about control and mining. */
function controlCalls({ claimBlockHex, child, tip }: ExampleFacts): ExampleCase[] {
  return [
    // control
    call('getmemoryinfo'),
    lbcd('debuglevel', 'show'),
    lbcd('version'),
    call('help', 'getblockcount'),
    call('logging', ['http'], ['http']),
    call('uptime'),
    // hidden
    call('echo', 'a word', 2),
    call('echojson', { a: 1 }),
    call('getinfo'),
    call('setmocktime', MOCK_TIME),
    call('syncwithvalidationinterfacequeue'),
    call('waitforblock', tip, 1000),
    call('waitforblockheight', COINBASES, 1000),
    call('waitfornewblock', 1),
    // mining
    call('getblocktemplate', { rules: ['segwit'] }),
    call('getmininginfo'),
    lbcd('getgenerate'),
    lbcd('gethashespersec'),
    lbcd('setgenerate', false),
    call('getnetworkhashps'),
    once('prioritisetransaction', transactionId(child), 0, 10_000),
    call('submitblock', claimBlockHex),
  ];
}

/** Calls about the peer network. */
function networkCalls(): ExampleCase[] {
  return [
    // network
    once('addnode', '192.0.2.6:9246', 'add'),
    lbrycrd('getaddednodeinfo', '192.0.2.6:9246'),
    lbcd('getaddednodeinfo', true),
    lbcd('node', 'connect', '192.0.2.7:9246', 'temp'),
    once('addnode', '192.0.2.6:9246', 'remove'),
    once('setban', '192.0.2.0/24', 'add', 86_400),
    call('listbanned'),
    once('clearbanned'),
    call('getconnectioncount'),
    lbcd('getcurrentnet'),
    call('getnettotals'),
    call('getnetworkinfo'),
    call('getnodeaddresses', 8),
    call('getpeerinfo'),
    call('ping'),
  ];
}

/** Calls about transactions and signatures. */
function transactionCalls({
  publicKey,
  claim,
  claimTxid,
  unsent,
  raw,
  psbt,
  signature,
  spent,
}: ExampleFacts): ExampleCase[] {
  return [
    // rawtransactions
    call('combinepsbt', [psbt]),
    call('combinerawtransaction', [unsent]),
    call('converttopsbt', raw),
    call('createpsbt', [spent], OUTPUTS),
    call('createrawtransaction', [spent], OUTPUTS),
    call('decodepsbt', psbt),
    call('decoderawtransaction', claim),
    call('decodescript', `76a914${Buffer.from(hash160(KEY.publicKey)).toString('hex')}88ac`),
    call('finalizepsbt', psbt),
    call('getrawtransaction', claimTxid),
    call('getrawtransaction', claimTxid, true),
    call('gettxinfo', claimTxid),
    lbcd('searchrawtransactions', OTHER_ADDRESS),
    call('signrawtransactionwithkey', raw, [WIF]),
    call('signrawtransaction', raw, [], [WIF]),
    call('testmempoolaccept', [unsent]),
    once('sendrawtransaction', unsent),
    // util
    call('createmultisig', 1, [publicKey]),
    call('estimaterawfee', 6),
    call('estimatesmartfee', 6),
    call('getindexinfo'),
    call('signmessagewithprivkey', WIF, 'my message'),
    call('validateaddress', ADDRESS),
    call('verifymessage', ADDRESS, signature, 'my message'),
  ];
}

function common(amountSat: bigint): { network: 'regtest'; address: string; amountSat: bigint } {
  return { network: NETWORK, address: ADDRESS, amountSat };
}

interface Coin {
  readonly txid: string;
  readonly vout: number;
  readonly amountSat: bigint;
  readonly script: Uint8Array;
}

/** A chain whose coinbases pay to one address, and transactions that spend them, the oldest first. */
class ExampleChain {
  private readonly node: ExampleNode;
  private nextCoinbase = 1;

  constructor(node: ExampleNode) {
    this.node = node;
  }

  async mine(count: number): Promise<void> {
    await this.node.rpc('generatetoaddress', [count, ADDRESS]);
  }

  /** Makes a signed transaction with these outputs, followed by the change output. */
  async make(outputs: readonly OutputDraft[], given?: Coin): Promise<string> {
    const coin = given ?? (await this.coinbase());
    const paid = outputs.reduce((sum, { value }) => sum + value, 0n);
    const change = paymentOutput(common(coin.amountSat - paid - FEE_SAT));
    const hex = buildTransaction({ inputs: [coin], outputs: [...outputs, change] });
    return signTransaction({ network: NETWORK, hex, spent: [coin], privateKeys: [WIF] }).hex;
  }

  /** Makes the same transaction and sends it to the node. */
  async spend(outputs: readonly OutputDraft[], given?: Coin): Promise<string> {
    const hex = await this.make(outputs, given);
    await this.node.rpc('sendrawtransaction', [hex]);
    return hex;
  }

  /** The first output of a transaction that pays 0.5 LBC to `ADDRESS` with this output. */
  change(hex: string): Coin {
    return {
      txid: transactionId(hex),
      vout: 0,
      amountSat: 50_000_000n,
      script: scriptForAddress(ADDRESS, NETWORK),
    };
  }

  private async coinbase(): Promise<Coin> {
    const block = await this.node.rpc<string>('getblockhash', [this.nextCoinbase++]);
    const { tx } = await this.node.rpc<{ tx: string[] }>('getblock', [block]);
    const { value } = await this.node.rpc<{ value: number }>('gettxout', [tx[0], 0]);
    const script = scriptForAddress(ADDRESS, NETWORK);
    return { txid: tx[0]!, vout: 0, amountSat: BigInt(Math.round(value * 1e8)), script };
  }
}
