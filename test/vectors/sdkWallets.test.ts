/** Compares wallets, seeds and keys with recordings of lbry-sdk (`../shared/conformance/sdk`). */
import { isLedgerId, ledgerParams } from '../../src/daemon/base/ledgerParams.js';
import { Account, type AccountTools } from '../../src/daemon/wallet/account.js';
import { formatChannelKey, parseChannelKey } from '../../src/daemon/wallet/channelKeyPem.js';
import {
  addressOfKey,
  childKey,
  extendedKeyText,
  KEY_CHAIN,
  signCompact,
  signDoubleHashed,
} from '../../src/daemon/wallet/keys.js';
import {
  isSeedPhrase,
  normalizePhrase,
  numberOfPhrase,
  phraseAbove,
  seedBytes,
} from '../../src/daemon/wallet/seedPhrase.js';
import { parseWalletText, unpackWallet, WalletContents } from '../../src/daemon/wallet/walletContents.js';
import { convertLbryumWallet, isLbryumWallet } from '../../src/daemon/wallet/lbryumWallet.js';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { writePythonJson } from '../../src/daemon/base/pythonJson.js';
import { JsonObject, toPlain } from '../../src/util/json/json.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { checkAccepted, checkSdkVectors, differs, firstOf, type SdkLine } from './sdkVectors.js';
import { systemClock } from '../../src/daemon/base/clock.js';

const accepted = new AcceptedDifferences('sdkWallets');

const NOW_SEC = 1_700_000_000;
let drawn: Buffer[] = [];
const tools: AccountTools = {
  clock: { ...systemClock, nowSec: () => NOW_SEC },
  random: { bytes: (count) => drawn.shift() ?? Buffer.alloc(count, 7) },
};
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const text = (value: unknown): string => value as string;
const isText = (value: unknown): boolean => typeof value === 'string';

/** The error of a request; null if there is none. */
async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked;
    return null;
  } catch (error) {
    return { error: (error as Error).name, text: (error as Error).message };
  }
}

function seedAccount(
  line: SdkLine,
  entries: readonly (readonly [string, string | JsonObject | number])[] = [],
): Account {
  return new Account(
    new JsonObject([['ledger', text(line['ledger'])], ['seed', text(line['seed'])], ...entries]),
    tools,
  );
}

/** The channel keys that accounts have after a start. */
function certificatesDiffer({ accounts }: WalletContents, line: SdkLine): string | null {
  for (const account of accounts) account.refileChannelKeys();
  return differs(
    accounts.map(({ channelKeys }) => toPlain(new JsonObject([...channelKeys]))),
    line['certificates_after_start'],
  );
}

checkSdkVectors('wallets', {
  seed(line) {
    const id = line['ledger'];
    if (!isLedgerId(id)) return 'the ledger is unknown';
    const ledger = ledgerParams(id);
    const account = seedAccount(line, [
      ['name', 'a'],
      ['modified_on', 1],
    ]);
    const single = seedAccount(line, [
      ['name', 'a'],
      ['modified_on', 1],
      ['address_generator', new JsonObject([['name', 'single-address']])],
    ]);
    const { root } = account;
    const addresses = (chain: 0 | 1 | 2, count: number): string[] =>
      Array.from({ length: count }, (_, n) => addressOfKey(account.key(chain, n).publicKey, ledger));
    const first = account.key(KEY_CHAIN.receiving, 0);
    const channels = [0, 1, 2, 3].map((n) => account.key(KEY_CHAIN.channel, n));
    const { index } = line['hardened'] as { index: number };
    const hardened = childKey(root, index);
    const { digest } = line['signature'] as { digest: string };
    const signed = Buffer.from(digest, 'hex');
    return firstOf(
      differs(phraseAbove(BigInt(text(line['entropy']))), line['seed']),
      differs(hex(seedBytes(text(line['seed']))), line['seed_bytes']),
      differs(extendedKeyText(root, true, ledger), line['private_key']),
      differs(account.publicKeyText, line['public_key']),
      differs(account.id, line['account_id']),
      differs(addresses(0, 6), line['receiving']),
      differs(addresses(1, 3), line['change']),
      differs(
        {
          private_key: extendedKeyText(first, true, ledger),
          public_key: extendedKeyText(first, false, ledger),
          wif: `1c${hex(first.privateKey!)}01`,
        },
        line['receiving_0'],
      ),
      differs(
        channels.map(({ publicKey, privateKey }) => ({
          address: addressOfKey(publicKey, ledger),
          public_key: hex(publicKey),
          pem: formatChannelKey(privateKey!),
        })),
        line['channels'],
      ),
      differs({ index, private_key: extendedKeyText(hardened, true, ledger) }, line['hardened']),
      differs(
        {
          digest,
          by_channel_0: hex(signCompact(signed, channels[0]!.privateKey!)),
          der_over_double_hash: hex(signDoubleHashed(signed, channels[0]!.privateKey!)),
        },
        line['signature'],
      ),
      differs(
        {
          account_id: single.id,
          receiving: [0, 1].map((n) => addressOfKey(single.key(KEY_CHAIN.receiving, n).publicKey, ledger)),
          private_key: extendedKeyText(single.root, true, ledger),
          hash: hex(single.hash()),
        },
        line['single'],
      ),
      differs(hex(account.hash()), line['hash']),
    );
  },

  pem(line) {
    const ledger = ledgerParams('lbc_mainnet');
    const secret = Buffer.from(text(line['secret']), 'hex');
    const given = text(line['pem'] ?? line['old_pem']);
    return firstOf(
      differs(addressOfKey(ecdsaBackend().publicKeyOf(secret, true), ledger), line['address']),
      line['pem'] === undefined ? null : differs(formatChannelKey(secret), line['pem']),
      differs(hex(parseChannelKey(given)), line['read'] ?? line['secret']),
    );
  },

  phrase(line) {
    const phrase = text(line['text']);
    let number: unknown;
    try {
      number = String(numberOfPhrase(phrase));
    } catch (error) {
      number = { error: (error as Error).name };
    }
    return firstOf(
      differs(normalizePhrase(phrase), line['normalized']),
      differs(isSeedPhrase(phrase), line['is_seed']),
      differs(hex(seedBytes(phrase, text(line['passphrase']))), line['seed_bytes']),
      differs(
        number,
        isText(line['number']) ? line['number'] : { error: (line['number'] as SdkLine)['error'] },
      ),
    );
  },

  async wallet(line) {
    const open = (file: string): WalletContents => new WalletContents('wallet', parseWalletText(file), tools);
    const password = text(line['password']);
    const wallet = open(text(line['file_text']));
    const packed = line['packed'] as { iv: string; text: string };
    drawn = [Buffer.from(packed.iv, 'hex')];
    const plain = firstOf(
      differs(
        wallet.accounts.map(({ id }) => id),
        line['account_ids'],
      ),
      differs(wallet.exportText(), line['loaded_text']),
      differs(wallet.fileText().text, line['saved_text']),
      differs(hex(wallet.hash()), line['hash']),
      differs(
        wallet.accounts.map((account) => hex(account.hash())),
        line['account_hashes'],
      ),
      differs(writePythonJson(await unpackWallet(password, packed.text)), line['loaded_text']),
      differs(await failureOf(unpackWallet(`${password}?`, packed.text)), line['unpack_wrong']),
    );
    const started = open(text(line['file_text']));
    const encrypted = line['encrypted'] as {
      ivs: Record<string, string>[];
      saved_text: string;
      hash: string;
    };
    wallet.accounts.forEach((account, n) => {
      for (const field of ['seed', 'private_key'] as const) {
        const vector = encrypted.ivs[n]?.[field];
        if (vector !== undefined) account.initVectors.set(field, Buffer.from(vector, 'hex'));
      }
    });
    wallet.encrypt(password);
    const reloaded = open(encrypted.saved_text);
    const wrong_password = text((line['reloaded'] as SdkLine)['wrong_password']);
    const is_locked = reloaded.isLocked;
    const again: Record<string, unknown> = { is_locked, wrong_password, wrong: null };
    if (is_locked) {
      again['wrong'] = open(encrypted.saved_text).unlock(wrong_password);
      again['right'] = reloaded.unlock(password);
      again['hash'] = hex(reloaded.hash());
      again['unlocked_text'] = reloaded.exportText();
      reloaded.lock();
      again['relocked_text'] = writePythonJson(reloaded.toJson());
      again['locked_json'] = await failureOf(Promise.resolve().then(() => reloaded.exportText()));
    }
    return firstOf(
      plain,
      certificatesDiffer(started, line),
      differs(
        { saved_text: wallet.fileText().text, hash: hex(wallet.hash()) },
        {
          saved_text: encrypted.saved_text,
          hash: encrypted.hash,
        },
      ),
      differs(again, line['reloaded']),
    );
  },

  async merge(line) {
    const wallet = new WalletContents('wallet', parseWalletText(text(line['local_text'])), tools);
    const before = hex(wallet.hash());
    const incoming =
      line['data'] === undefined
        ? parseWalletText(text(line['incoming_text']))
        : await unpackWallet(text(line['password']), text(line['data']));
    let ids: { added?: string[]; merged?: string[]; error?: string };
    try {
      const { added, merged } = wallet.merge(incoming);
      ids = { added: added.map(({ id }) => id), merged: merged.map(({ id }) => id) };
    } catch (error) {
      ids = { error: (error as Error).name };
    }
    return firstOf(
      differs(before, line['hash_before']),
      accepted.unless(
        ids.error !== undefined && line['error'] !== undefined,
        'class of a failed merge',
        differs(ids, { added: line['added'], merged: line['merged'], error: line['error'] }),
      ),
      differs(wallet.exportText(), line['result_text']),
      differs(hex(wallet.hash()), line['hash']),
    );
  },

  lbryum(line, lineText) {
    const old = (parseJson(lineText) as JsonObject).get('old') as JsonObject;
    if (!isLbryumWallet(old)) return differs('TypeError', line['error']);
    let converted: ReturnType<typeof convertLbryumWallet>;
    try {
      converted = convertLbryumWallet(old);
    } catch (error) {
      return accepted.unless(
        line['error'] !== undefined,
        'class of a refused lbryum wallet',
        differs((error as Error).name, line['error']),
      );
    }
    const written = writePythonJson(converted.json, { indent: 4, sortKeys: true });
    const wallet = new WalletContents('default_wallet', parseWalletText(written), tools);
    const loaded = JSON.parse(writePythonJson(wallet.toJson())) as unknown;
    const unlocked = line['unlocked'] === undefined ? undefined : wallet.unlock('password');
    if (line['error'] !== undefined)
      return accepted.unless(
        line['left_out'] === 'addr_history',
        'lbryum wallet without addr_history',
        differs(undefined, line['error']),
      );
    return firstOf(
      differs(written, line['new_text']),
      differs(converted.addresses, line['addresses']),
      differs(unlocked, line['unlocked']),
      differs(loaded, line['loaded']),
      unlocked === undefined ? null : differs(JSON.parse(wallet.exportText()), line['after_unlock']),
      unlocked === undefined ? certificatesDiffer(wallet, line) : null,
    );
  },
});

checkAccepted(accepted);
