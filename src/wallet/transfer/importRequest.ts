/**
 * One request of `importmulti`: checks whether its fields are compatible, and imports the keys and scripts. The order of
 * checks and changes is that of the reference, because changes before an error are kept. Source: lbrycrd wallet/rpcdump.cpp
 * `ProcessImport`.
 */
import { hash160 } from '../../crypto/hash.js';
import { decodeDestination } from '../../script/address.js';
import { isPayToScriptHash } from '../../script/script.js';
import {
  extractDestination,
  scriptForDestination,
  scriptForPublicKey,
  type Destination,
} from '../../script/standard.js';
import { decodeSecret, type DecodedSecret } from '../../script/wif.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { equalBytes, fromHex, isHex, type Bytes } from '../../util/bytes.js';
import { plainMetadata } from '../keys/keyRecords.js';
import type { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { addressText, ImportError, publicKeyOf, refuseOwn } from './imports.js';

export interface ImportRequest {
  /** Output to import: a script in hex, or an address. */
  readonly output: { readonly script: string } | { readonly address: string };
  /** Redeem script in hex; empty if the request has none. */
  readonly redeemScript: string;
  readonly publicKeys: readonly string[];
  /** Private keys in WIF format. */
  readonly privateKeys: readonly string[];
  readonly isInternal: boolean;
  readonly isWatchOnly: boolean;
  /** Label of the address; null if absent. */
  readonly label: string | null;
  /** Creation time of the keys in seconds since 1970; at least 1. */
  readonly timeSec: number;
}

const fail = (kind: ImportError['kind'], message: string): never => {
  throw new ImportError(kind, message);
};

/** Imports the keys and scripts of a request. Throws `ImportError`. Changes that were already added to the batch are kept. */
export function processImport(wallet: Wallet, batch: WalletBatch, request: ImportRequest): void {
  const { redeemScript, publicKeys, privateKeys, isInternal } = request;
  const isScript = 'script' in request.output;
  const script = outputScript(wallet, request);
  if (request.isWatchOnly && privateKeys.length > 0)
    fail('parameter', 'Incompatibility found between watchonly and keys');
  if (isInternal && request.label !== null)
    fail('parameter', 'Incompatibility found between internal and label');
  if (!isInternal && isScript) fail('parameter', 'Internal must be set for hex scriptPubKey');
  if (redeemScript === '' && (privateKeys.length > 1 || publicKeys.length > 1))
    fail('parameter', 'More than private key given for one address');
  if (!isHex(redeemScript)) fail('address', 'Invalid redeem script');
  const work = new Import(wallet, batch, request, script);
  if (redeemScript !== '') {
    work.payToScript(fromHex(redeemScript));
    return;
  }
  if (publicKeys.length > 0 && privateKeys.length === 0) work.publicKey(publicKeys[0]!);
  if (privateKeys.length > 0) work.privateKey(privateKeys[0]!);
  if (publicKeys.length === 0 && privateKeys.length === 0) work.scriptOnly();
}

function outputScript({ prefixes }: Wallet, { output }: ImportRequest): Buffer {
  if ('script' in output) {
    if (output.script === '' || !isHex(output.script)) fail('address', 'Invalid scriptPubKey');
    return fromHex(output.script);
  }
  const destination = decodeDestination(output.address, prefixes);
  if (destination === null) throw new ImportError('address', 'Invalid address');
  return scriptForDestination(destination);
}

class Import {
  private readonly wallet: Wallet;
  private readonly batch: WalletBatch;
  private readonly request: ImportRequest;
  private readonly script: Buffer;
  private readonly label: string;

  constructor(wallet: Wallet, batch: WalletBatch, request: ImportRequest, script: Buffer) {
    this.wallet = wallet;
    this.batch = batch;
    this.request = request;
    this.script = script;
    this.label = request.isInternal ? '' : (request.label ?? '');
  }

  payToScript(redeemScript: Buffer): void {
    const { keyring } = this.wallet;
    if (!isPayToScriptHash(this.script)) fail('address', 'Invalid P2SH address / script');
    this.watch(redeemScript);
    const id = hash160(redeemScript);
    if (keyring.script(id) === null && !keyring.addScript(this.batch, redeemScript))
      fail('wallet', 'Error adding p2sh redeemScript to wallet');
    const output = scriptForDestination({ type: 'scripthash', hash: id });
    refuseOwn(this.wallet, output);
    this.watch(output);
    if ('address' in this.request.output) this.enterLabel(extractDestination(this.script)!);
    for (const text of this.request.privateKeys)
      this.withSecret(text, (secret) => this.takeKey(secret, 'address', 'Already have this key'));
  }

  publicKey(text: string): void {
    if (text === '' || !isHex(text)) fail('address', 'Pubkey must be a hex string');
    const publicKey = fromHex(text);
    if (!ecdsaBackend().isFullyValidPublicKey(publicKey)) fail('address', 'Pubkey is not a valid public key');
    const keyId = hash160(publicKey);
    this.checkConsistency(keyId);
    const output = scriptForDestination({ type: 'pubkeyhash', hash: keyId });
    refuseOwn(this.wallet, output);
    this.watch(output);
    if (!this.request.isInternal) this.enterLabel({ type: 'pubkeyhash', hash: keyId });
    const bare = scriptForPublicKey(publicKey);
    refuseOwn(this.wallet, bare);
    this.watch(bare);
  }

  privateKey(text: string): void {
    const known = 'The wallet already contains the private key for this address or script';
    this.withSecret(text, (secret) => {
      this.checkConsistency(hash160(publicKeyOf(secret)));
      this.takeKey(secret, 'wallet', known);
    });
  }

  scriptOnly(): void {
    refuseOwn(this.wallet, this.script);
    this.watch(this.script);
    if ('address' in this.request.output) this.enterLabel(extractDestination(this.script)!);
  }

  /** Checks that the output pays to the imported key, if the output script has a single key. */
  private checkConsistency(keyId: Bytes): void {
    const paid = extractDestination(this.script);
    if (paid === null) return;
    if (paid.type !== 'pubkeyhash' || !equalBytes(paid.hash, keyId))
      fail('address', 'Consistency check failed');
  }

  /** Decodes a private key and passes it to `use`. Overwrites the key afterwards, even if it was not imported. */
  private withSecret(text: string, use: (secret: DecodedSecret) => void): void {
    const secret = decodeSecret(text, this.wallet.prefixes);
    if (secret === null) throw new ImportError('address', 'Invalid private key encoding');
    try {
      use(secret);
    } finally {
      secret.privateKey.fill(0);
    }
  }

  private takeKey(secret: DecodedSecret, kind: ImportError['kind'], known: string): void {
    const { keyring, hasPrivateKeys, isLocked } = this.wallet;
    const publicKey = publicKeyOf(secret);
    const keyId = hash160(publicKey);
    if (!hasPrivateKeys) fail('wallet', 'Error: Private keys are disabled for this wallet');
    this.enterLabel({ type: 'pubkeyhash', hash: keyId });
    if (keyring.hasKey(keyId)) fail(kind, known);
    // Keys are imported one by one, and the wallet may have been locked since the last one.
    if (isLocked) fail('wallet', 'Error adding key to wallet');
    keyring.addKey(this.batch, secret.privateKey, publicKey, plainMetadata(this.request.timeSec));
  }

  private watch(script: Buffer): void {
    this.wallet.keyring.watch(this.batch, script, plainMetadata(this.request.timeSec));
  }

  private enterLabel(destination: Destination): void {
    this.wallet.book.set(this.batch, addressText(this.wallet, destination), this.label, 'receive');
  }
}
