/**
 * Use of channel keys outside claims: signing data, and moving a key to another wallet. Source: lbry-sdk
 * lbry/extras/daemon/daemon.py `jsonrpc_channel_sign`, `jsonrpc_channel_export`, `jsonrpc_channel_import`,
 * lbry/wallet/transaction.py `sign_data`.
 */
import { sha256 } from '../../crypto/hash.js';
import { decodeBase58, encodeBase58 } from '../../script/base58.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { asBuffer, concatBytes, fromHex, hashToHex, isHex, toHex } from '../../util/bytes.js';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { decodeUtf8, parseJson } from '../../util/json/jsonParse.js';
import { badValue, DaemonError, failure } from '../base/daemonError.js';
import { formatChannelKey, parseChannelKey } from '../wallet/channelKeyPem.js';
import { addressOfKey, extendedKeyText, signCompact } from '../wallet/keys.js';
import type { TxBuilder } from './txBuilder.js';
import { ownChannel, publicKeyOf, type ChannelChoice } from './ownOutputs.js';
import type { WalletPort } from './ports.js';

export interface SignedData {
  /** Signature of 64 bytes in hexadecimal digits. */
  readonly signature: string;
  readonly salt: string;
}

/**
 * Signs the salt, the channel id and the data. The default salt is the current time. Throws if the wallet does not have the
 * channel or its key.
 */
export async function signData(
  { ports: { ledger, clock } }: TxBuilder,
  wallet: WalletPort,
  choice: ChannelChoice,
  hexData: string | undefined,
  givenSalt: string | undefined,
): Promise<SignedData> {
  wallet.assertUnlocked();
  const { signing } = await ownChannel(ledger, wallet, choice);
  // Python's `unhexlify` refuses text with characters beyond ASCII before it parses the digits.
  if (/[^\0-\x7f]/.test(hexData ?? '')) throw badValue('hexdata must be hex digits.');
  if (hexData === undefined || !isHex(hexData))
    // The error has the name of Python's `binascii.Error`.
    throw new DaemonError('Error', 'hexdata must be an even number of hex digits.');
  const salt = givenSalt ?? String(clock.nowSec());
  const digest = sha256(concatBytes(Buffer.from(salt), signing.claimId, fromHex(hexData)));
  return { signature: toHex(signCompact(digest, signing.privateKey)), salt };
}

const EXPORT_FIELDS = [
  'name',
  'channel_id',
  'holding_address',
  'holding_public_key',
  'signing_private_key',
] as const;

type ExportedChannel = Record<(typeof EXPORT_FIELDS)[number], string>;

/**
 * Maximum length of an exported text in characters. Decoding base58 takes quadratic time, so the length is limited.
 * Arbitrary: far above real texts.
 */
const MAX_EXPORT_CHARS = 16_384;

/** Formats an export as one line of ASCII characters without spaces. */
function formatExport(channel: ExportedChannel): string {
  const text = JSON.stringify(channel, EXPORT_FIELDS.slice());
  const ascii = text.replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return encodeBase58(Buffer.from(ascii));
}

/** Throws `ValueError`. */
function parseExport(text: string): ExportedChannel {
  const bytes = text.length <= MAX_EXPORT_CHARS ? decodeBase58(text.trim()) : null;
  const json = bytes && decodeUtf8(bytes);
  const parsed = json === null ? null : jsonOrNull(json);
  if (!(parsed instanceof JsonObject)) throw badValue('The data is not an exported channel.');
  const fields = EXPORT_FIELDS.map((name): [string, string] => {
    const value = parsed.get(name);
    if (typeof value !== 'string') throw badValue(`The exported channel has no ${name}.`);
    return [name, value];
  });
  return Object.fromEntries(fields) as ExportedChannel;
}

function jsonOrNull(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/**
 * Exports the key of a channel with the data that another wallet needs to use it. Throws if the wallet lacks the channel or
 * its key.
 */
export async function exportChannel(
  { ports: { ledger } }: TxBuilder,
  wallet: WalletPort,
  choice: ChannelChoice,
): Promise<string> {
  const { txo, signing } = await ownChannel(ledger, wallet, choice);
  const address = txo.address(ledger.params);
  const accountIds = wallet.accounts.map(({ id }) => id);
  const [row] =
    address === null ? [] : await ledger.database.addresses({ accountIds, address }, { limit: 1 });
  if (address === null || row === undefined)
    throw failure("Can't find public key for address holding the channel.");
  const { publicKey, chainCode, depth, index: childNumber } = row;
  const parentFingerprint = Buffer.alloc(4);
  const key = { publicKey, chainCode, depth, childNumber, parentFingerprint, privateKey: null };
  return formatExport({
    name: txo.claimName ?? '',
    channel_id: hashToHex(signing.claimId),
    holding_address: address,
    holding_public_key: extendedKeyText(key, false, ledger.params),
    signing_private_key: formatChannelKey(asBuffer(signing.privateKey)),
  });
}

/**
 * Imports the key of a channel into the account that owns the channel, or into a new read-only account. When the promise
 * resolves, the key is on disk. The result is a message with the channel's name. Throws if the channel has moved to another
 * owner.
 */
export async function importChannel(txBuilder: TxBuilder, wallet: WalletPort, text: string): Promise<string> {
  const { ledger, claims } = txBuilder.ports;
  const exported = parseExport(text);
  const secret = parseChannelKey(exported.signing_private_key);
  const keyAddress = addressOfKey(ecdsaBackend().publicKeyOf(secret, true), ledger.params);
  const found = await claims.channelOfKey(keyAddress);
  const foundKey = found && publicKeyOf(found);
  const channel = foundKey && addressOfKey(foundKey, ledger.params) === keyAddress ? found : null;
  const holdingAddress = channel?.address(ledger.params) ?? exported.holding_address;
  const account = await wallet.accountOf(holdingAddress);
  if (account === null) {
    await addHoldingAccount(wallet, holdingAddress, exported, ledger.params.id, {
      keyAddress,
      pem: formatChannelKey(secret),
    });
  } else {
    account.channelKeys.import(secret);
    await wallet.save();
  }
  return exported.name;
}

/**
 * Adds a read-only account that contains the imported key from the start. If the key were added afterwards, the channel
 * would temporarily count as a channel whose key is lost.
 */
async function addHoldingAccount(
  wallet: WalletPort,
  address: string,
  exported: ExportedChannel,
  ledgerId: string,
  { keyAddress, pem }: { readonly keyAddress: string; readonly pem: string },
): Promise<void> {
  if (address !== exported.holding_address)
    throw failure(
      'Channel owning account has changed since the channel was exported and ' +
        'it is not an account to which you have access.',
    );
  await wallet.addAccount(
    new JsonObject([
      ['ledger', ledgerId],
      ['name', `Holding Account For Channel ${exported.name}`],
      ['public_key', exported.holding_public_key],
      ['address_generator', new JsonObject([['name', 'single-address']])],
      ['certificates', new JsonObject([[keyAddress, pem]])],
    ]),
  );
}
