/** Methods of lbcwallet for the state of the wallet, and methods that always return an error. */
import { walletBalance } from '../../../wallet/lbcd/coins.js';
import { hashToHex } from '../../../util/bytes.js';
import { coins } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, RpcError, rpcError } from '../../declare/errors.js';
import type { RpcMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { walletOf } from '../wallet/wallets/walletOf.js';
import { callNode, lbcwalletMethod } from './lbcwalletMethod.js';

/**
 * Seconds for which a wallet is unlocked if the caller passes the timeout 0. Source: `MAX_SLEEP_TIME` of the reference.
 */
const LONGEST_SEC = 100_000_000;

export const getBestBlock = lbcwalletMethod({
  name: 'getbestblock',
  summary: 'Returns the block up to which the wallet has processed the chain.',
  params: [],
  result: t.object({ hash: t.hash('the hash of the block'), height: t.int('the height of the block') }),
  run(ctx) {
    const { node, followedHeight: height } = walletOf(ctx);
    const hash = node.chain.hashAt(height);
    if (hash === null) throw rpcError(RPC_ERROR.WALLET_ERROR, 'the wallet has not processed any block yet');
    return { hash: hashToHex(hash), height };
  },
});

export const getInfo = lbcwalletMethod({
  name: 'getinfo',
  summary: 'Returns the state of node and wallet.',
  params: [],
  result: t.object({
    version: t.int('the version of the node'),
    protocolversion: t.int('the protocol version'),
    walletversion: t.int('the version of the wallet'),
    balance: t.coins('the balance without claims and supports'),
    blocks: t.int('the height of the chain'),
    timeoffset: t.int('offset of the clocks of peers in seconds'),
    connections: t.int('the number of connections'),
    proxy: t.str('the proxy; empty if there is none'),
    difficulty: t.num('the current difficulty'),
    testnet: t.bool('whether this is the test network'),
    keypoololdest: t.int('always 0'),
    keypoolsize: t.int('always 0'),
    unlocked_until: t.int('always 0'),
    paytxfee: t.coins('always 0'),
    relayfee: t.coins('minimum relay fee per 1,000 virtual bytes'),
    errors: t.str('network and blockchain warnings'),
    staked: t.coins('the sum of claims and supports'),
  }),
  async run(ctx) {
    const wallet = walletOf(ctx);
    const node = (await callNode(ctx, 'getinfo', [])) as Readonly<Record<string, JsonOut>>;
    const { balanceSat, stakedSat } = walletBalance(wallet, 1);
    const { version, protocolversion, blocks, timeoffset, connections, proxy, difficulty, testnet } = node;
    return {
      version,
      protocolversion,
      walletversion: wallet.version,
      balance: coins(balanceSat),
      blocks,
      timeoffset,
      connections,
      proxy,
      difficulty,
      testnet,
      keypoololdest: 0,
      keypoolsize: 0,
      unlocked_until: 0,
      paytxfee: coins(0n),
      relayfee: node['relayfee'],
      errors: node['errors'],
      staked: coins(stakedSat),
    };
  },
});

export const walletIsLocked = lbcwalletMethod({
  name: 'walletislocked',
  summary: 'Returns whether the wallet is locked.',
  params: [],
  result: t.bool('whether the wallet is locked'),
  run: (ctx) => walletOf(ctx).isLocked,
});

/** Runs a task. A wrong passphrase gives lbcwallet's error with `message`. */
async function withPassphrase(task: () => Promise<JsonOut>, message: string): Promise<JsonOut> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof RpcError && error.code === RPC_ERROR.WALLET_PASSPHRASE_INCORRECT)
      throw rpcError(error.code, message);
    throw error;
  }
}

export const walletPassphrase = lbcwalletMethod({
  name: 'walletpassphrase',
  summary: 'Unlocks the wallet.',
  params: [
    { name: 'passphrase', type: 'string', required: true, description: 'The passphrase' },
    {
      name: 'timeout',
      type: 'integer',
      required: true,
      description: 'Number of seconds until the wallet is locked again; 0 for the maximum',
    },
  ],
  result: t.none(),
  run(ctx, { passphrase, timeout }) {
    return withPassphrase(
      () => callNode(ctx, 'walletpassphrase', [passphrase, timeout === 0 ? LONGEST_SEC : timeout]),
      'invalid passphrase for master private key',
    );
  },
});

export const walletPassphraseChange = lbcwalletMethod({
  name: 'walletpassphrasechange',
  summary: 'Changes the passphrase of the wallet.',
  params: [
    { name: 'oldpassphrase', type: 'string', required: true, description: 'The passphrase' },
    { name: 'newpassphrase', type: 'string', required: true, description: 'The new passphrase' },
  ],
  result: t.none(),
  run(ctx, { oldpassphrase, newpassphrase }) {
    return withPassphrase(
      () => callNode(ctx, 'walletpassphrasechange', [oldpassphrase, newpassphrase]),
      'Incorrect passphrase',
    );
  },
});

/** Declares a method that always returns an error. */
function refusal(name: string, message: string): RpcMethod {
  return lbcwalletMethod({
    name,
    summary: `Always returns the error: ${message}.`,
    params: [],
    maxArgs: 100,
    result: t.none(),
    run() {
      throw rpcError(RPC_ERROR.MISC_ERROR, message);
    },
  });
}

const UNIMPLEMENTED = ['backupwallet', 'dumpwallet', 'getwalletinfo', 'importwallet', 'listaddressgroupings'];

export const REFUSED: readonly RpcMethod[] = [
  ...UNIMPLEMENTED.map((name) => refusal(name, 'Method unimplemented')),
  refusal('encryptwallet', 'Request unsupported by lbcwallet'),
  refusal('stop', "The wallet is part of the node and stops with it. Call stop on the node's own RPC port"),
];
