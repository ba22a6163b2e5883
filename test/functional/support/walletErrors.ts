/** Errors of wallet methods in a form that can be compared between nodes, and wallets in states that cause errors. */
import { regtestParams } from '../../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../../src/script/address.js';
import { encodeSecret } from '../../../src/script/wif.js';
import { RIGHT_CALLS, type CallPlaces } from '../scenarios/malformedWalletCalls.js';
import type { RegtestNode } from './node.js';
import { envelopeFrom, type Call, type Envelope } from './reference.js';

const PREFIXES = addressPrefixesOf(regtestParams);
const OTHER = 'mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8';
const WITNESS = encodeDestination({ type: 'witness_v0_keyhash', hash: Buffer.alloc(20, 1) }, PREFIXES);
const SECRET = encodeSecret(Buffer.alloc(32, 3), true, PREFIXES);
/** The public key of the private key 1. */
const PUBLIC_KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';

export const WALLET_ERROR_ARGS: readonly string[] = [
  '-deprecatedrpc=accounts',
  '-deprecatedrpc=addwitnessaddress',
  '-keypool=20',
  '-fallbackfee=0.0002',
  // The default of lbrycrd.
  '-walletrejectlongchains=0',
];
export const WALLET_METHODS: readonly string[] = Object.keys(RIGHT_CALLS);

/** States of the called wallet, with the path of the calls. `enterState` brings a node to a state. */
export const WALLET_STATES = {
  open: '/wallet/',
  keyless: '/wallet/keyless',
  several: '/',
  unknown: '/wallet/nobody',
  locked: '/wallet/locked',
} as const;
export type WalletState = keyof typeof WALLET_STATES;

/** A node that answers calls at the paths of its wallets. */
export interface WalletSide {
  readonly at: (path: string) => Call;
  rpc<T = unknown>(path: string, method: string, ...params: unknown[]): Promise<T>;
}

export function walletSide(at: (path: string) => Call): WalletSide {
  return {
    at,
    async rpc<T>(path: string, method: string, ...params: unknown[]): Promise<T> {
      const { result, error } = await at(path)(method, params);
      if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
      return result as T;
    },
  };
}

export function sideOfNode(node: RegtestNode): WalletSide {
  const { username, password, host } = new URL(node.url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return walletSide((path) => envelopeFrom(`http://${host}${path}`, credentials));
}

/** The answer without values that differ between nodes and without help texts. */
export function reported({ error }: Envelope, folder: string): string {
  if (!error) return 'answered';
  // Both show how the method is called: lbrycrd by its help, in which `setaccount` is `setlabel`.
  const [, first = ''] = /^([a-z]+)\b/u.exec(error.message) ?? [];
  if (error.code === -1 && first in RIGHT_CALLS) return HELP;
  const text = error.message
    .split('\n')[0]!
    .replaceAll(folder, '<folder>')
    .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/gu, '<hash>')
    .replaceAll(/\b\d+\.\d+\b/gu, '<amount>')
    .replaceAll(/\b[mn2][1-9A-HJ-NP-Za-km-z]{25,34}\b/gu, '<address>');
  return `${error.code} ${text}`;
}

export const HELP = '-1 <help>';

/** Brings a node to a state. Returns other values for the calls if they must be of another wallet than before. */
export async function enterState(
  side: WalletSide,
  state: WalletState,
  folder: string,
): Promise<CallPlaces | null> {
  if (state === 'keyless') await side.rpc('/', 'createwallet', 'keyless', true);
  if (state === 'open') return placesOf(side, folder, WALLET_STATES.open);
  if (state !== 'locked') return null;
  await side.rpc('/', 'createwallet', 'locked');
  const places = await placesOf(side, folder, WALLET_STATES.locked);
  await side.rpc(WALLET_STATES.locked, 'encryptwallet', 'secret');
  return places;
}

/** A wallet that has mined, paid and claimed. */
async function placesOf(side: WalletSide, folder: string, path: string): Promise<CallPlaces> {
  const rpc = <T>(method: string, ...params: unknown[]): Promise<T> => side.rpc<T>(path, method, ...params);
  const own = await rpc<string>('getnewaddress', '', 'legacy');
  await rpc('generate', 110);
  const txid = await rpc<string>('sendtoaddress', own, 5);
  const claimTxid = await rpc<string>('claimname', 'taken', '00', 1);
  const [blockHash] = await rpc<string[]>('generate', 1);
  const { claims } = await rpc<{ claims: { claimId: string; txId?: string; txid?: string }[] }>(
    'getclaimsforname',
    'taken',
  );
  const { claimId } = claims.find(({ txId, txid: id }) => (txId ?? id) === claimTxid)!;
  const support = await rpc<string | { txId: string }>('supportclaim', 'taken', claimId, 1);
  await rpc('generate', 1);
  const waitingTxid = await rpc<string>('sendtoaddress', OTHER, 1, '', '', false, true);
  const rawTx = await rpc<string>('createrawtransaction', [], [{ [OTHER]: 0.1 }]);
  const psbt = await rpc<string>('createpsbt', [{ txid, vout: 0 }], [{ [OTHER]: 0.1 }]);
  return {
    own,
    other: OTHER,
    witness: WITNESS,
    txid,
    waitingTxid,
    claimTxid,
    supportTxid: typeof support === 'string' ? support : support.txId,
    claimId,
    blockHash: blockHash!,
    secret: SECRET,
    publicKey: PUBLIC_KEY,
    rawTx,
    psbt,
    folder,
  };
}

/** Errors by state, one per line: method, number of the call (`malformedCalls`), error. */
export type RefusalRecord = Partial<Record<WalletState, [method: string, call: number, said: string][]>>;

export function formatRecord(record: RefusalRecord): string {
  const states = Object.entries(record).map(([state, calls]) => {
    const lines = calls.map((call) => JSON.stringify(call));
    return `"${state}": [\n${lines.join(',\n')}\n]`;
  });
  return `{\n${states.join(',\n')}\n}\n`;
}
