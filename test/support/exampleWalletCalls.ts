/** The sample calls of wallet methods. The wallet has coins, claims and labels, and its seed is always the same. */
import { sha256 } from '../../src/crypto/hash.js';
import { networkPrefixes } from '../../src/client/claimOutputs.js';
import { paymentOutput, transactionId, type OutputDraft } from '../../src/client/index.js';
import { encodeSecret } from '../../src/script/wif.js';
import { call, once, type ExampleCase, type ExampleNode } from './exampleCase.js';

const NETWORK = 'regtest';
const wifOf = (text: string): string =>
  encodeSecret(sha256(Buffer.from(text)), true, networkPrefixes(NETWORK));
const PASSPHRASE = 'my pass phrase';

/** Functions of the sample chain that the wallet calls use. */
export interface Payer {
  mine(count: number): Promise<void>;
  spend(outputs: readonly OutputDraft[]): Promise<string>;
}

export interface WalletExamples {
  readonly calls: readonly ExampleCase[];
  /** Calls that lock or empty the wallet. They come last. */
  readonly last: readonly ExampleCase[];
}

/** What the calls name of the wallet. Transactions are in hex. */
interface WalletFacts {
  readonly publicKey: string;
  readonly otherAddress: string;
  readonly address: string;
  readonly segwit: string;
  readonly funds: readonly string[];
  readonly tip: string;
  /** Transactions of claims, and of a support of `claimId`. */
  readonly updated: string;
  readonly abandoned: string;
  readonly supports: string;
  readonly claimId: string;
  readonly sent: string;
  readonly funding: { readonly txid: string; readonly vout: number };
  readonly raw: string;
  readonly unfunded: string;
  readonly psbt: string;
  readonly imported: string;
  readonly proof: string;
}

/** Gives the node's wallet coins and claims. Returns the wallet calls, in the order in which they must be made. */
export async function makeWalletExamples(
  node: ExampleNode,
  payer: Payer,
  keys: { readonly publicKey: string; readonly otherAddress: string },
): Promise<WalletExamples> {
  const facts = await fillWallet(node, payer, keys);
  return {
    calls: [
      ...listingCalls(facts),
      ...spendingCalls(facts),
      ...keyCalls(facts),
      // wallets
      once('createwallet', 'holiday'),
      call('listwallets'),
      call('listwalletdir'),
      once('unloadwallet', 'holiday'),
      once('loadwallet', 'holiday'),
      once('unloadwallet', 'holiday'),
    ],
    last: [
      once('generate', 1),
      once('sethdseed', true, wifOf('another seed')),
      once('encryptwallet', PASSPHRASE),
      once('walletpassphrase', PASSPHRASE, 60),
      once('walletpassphrasechange', PASSPHRASE, `${PASSPHRASE} of late`),
      once('walletlock'),
    ],
  };
}

async function fillWallet(
  node: ExampleNode,
  payer: Payer,
  keys: Pick<WalletFacts, 'publicKey' | 'otherAddress'>,
): Promise<WalletFacts> {
  await node.rpc('sethdseed', [true, wifOf('an example seed')]);
  const address = await node.rpc<string>('getnewaddress', ['rent', 'legacy']);
  const segwit = await node.rpc<string>('getnewaddress', ['savings', 'bech32']);
  const pay = (to: string, amountSat: bigint): OutputDraft =>
    paymentOutput({ network: NETWORK, address: to, amountSat });
  const funds: string[] = [];
  for (let n = 0; n < 6; n++) funds.push(transactionId(await payer.spend([pay(address, 60_000_000n)])));
  await payer.mine(1);
  const tip = await node.rpc<string>('getbestblockhash');
  const [updated, abandoned] = [
    await node.rpc<string>('claimname', ['mint-tea', '0102', 0.1]),
    await node.rpc<string>('claimname', ['sage', '0304', 0.1]),
  ];
  await payer.mine(1);
  const listed = await node.rpc<{ claimId: string; name: string }[]>('listnameclaims');
  const { claimId } = listed.find(({ name }) => name === 'sage')!;
  const supports = await node.rpc<string>('supportclaim', ['sage', claimId, 0.05]);
  await payer.mine(1);
  const sent = await node.rpc<string>('sendtoaddress', [keys.otherAddress, 0.01, '', '', false, true]);
  const [unspent] = await node.rpc<{ txid: string; vout: number }[]>('listunspent', [1]);
  const funding = { txid: unspent!.txid, vout: unspent!.vout };
  const raw = await node.rpc<string>('createrawtransaction', [[funding], { [keys.otherAddress]: 0.01 }]);
  const unfunded = await node.rpc<string>('createrawtransaction', [[], { [keys.otherAddress]: 0.2 }]);
  const { psbt } = await node.rpc<{ psbt: string }>('walletcreatefundedpsbt', [
    [],
    [{ [keys.otherAddress]: 0.1 }],
  ]);
  const imported = await node.rpc<string>('getrawtransaction', [funds[1]!]);
  const proof = await node.rpc<string>('gettxoutproof', [[funds[1]!], tip]);
  return {
    ...keys,
    ...{ address, segwit, funds, tip, updated, abandoned, supports, claimId, sent, funding },
    ...{ raw, unfunded, psbt, imported, proof },
  };
}

/** Calls about the state of the wallet. */
function listingCalls({ address, segwit, funds, tip, funding }: WalletFacts): ExampleCase[] {
  return [
    call('getwalletinfo'),
    once('getnewaddress', 'rent', 'bech32'),
    once('getrawchangeaddress'),
    once('keypoolrefill', 5),
    once('getaddressinfo', segwit),
    call('getbalance'),
    once('getunconfirmedbalance'),
    once('getreceivedbyaddress', address),
    once('getreceivedbylabel', 'rent'),
    once('listreceivedbyaddress'),
    once('listreceivedbylabel'),
    once('listaddressgroupings'),
    once('listlabels'),
    once('getaddressesbylabel', 'rent'),
    once('setlabel', address, 'rent'),
    once('listtransactions', '*', 3),
    once('listsinceblock', tip),
    once('gettransaction', funds[0]),
    call('listunspent'),
    once('lockunspent', false, [funding]),
    once('listlockunspent'),
    once('lockunspent', true),
    once('listnameclaims'),
    // accounts
    once('getaccount', address),
    once('getaccountaddress', 'rent'),
    once('getaddressesbyaccount', 'rent'),
    once('getreceivedbyaccount', 'rent'),
    once('listaccounts'),
    once('listreceivedbyaccount'),
    once('setaccount', address, 'rent'),
    once('move', 'rent', '', 0.1),
  ];
}

/** Calls about payments and claims. */
function spendingCalls({
  otherAddress,
  address,
  updated,
  abandoned,
  supports,
  claimId,
  sent,
  raw,
  unfunded,
  psbt,
}: WalletFacts): ExampleCase[] {
  return [
    // spending
    once('bumpfee', sent),
    once('sendtoaddress', otherAddress, 0.01),
    once('sendmany', '', { [otherAddress]: 0.01, [address]: 0.02 }),
    once('sendfrom', 'rent', otherAddress, 0.01),
    once('settxfee', 0.0005),
    once('fundrawtransaction', unfunded),
    once('walletcreatefundedpsbt', [], [{ [otherAddress]: 0.1 }]),
    once('walletprocesspsbt', psbt),
    once('signrawtransactionwithwallet', raw),
    once('resendwallettransactions'),
    once('signmessage', address, 'my message'),
    // claims
    once('claimname', 'basil', '0506', 0.02),
    once('supportclaim', 'sage', claimId, 0.02),
    once('updateclaim', updated, '0708', 0.1),
    once('abandonsupport', supports, address),
    once('abandonclaim', abandoned, address),
  ];
}

/** Calls about keys and rescans. */
function keyCalls({ publicKey, otherAddress, address, funds, imported, proof }: WalletFacts): ExampleCase[] {
  return [
    // keys
    once('addmultisigaddress', 1, [publicKey]),
    once('addtimelockedaddress', 500, address),
    once('addwitnessaddress', address),
    once('dumpprivkey', address),
    once('importprivkey', wifOf('an imported key'), '', false),
    once('importaddress', otherAddress, '', false),
    once('importpubkey', publicKey, '', false),
    once('importmulti', [{ scriptPubKey: { address: otherAddress }, timestamp: 'now' }], { rescan: false }),
    once('removeprunedfunds', funds[1]),
    once('importprunedfunds', imported, proof),
    once('rescanblockchain', 100),
    once('abortrescan'),
  ];
}
