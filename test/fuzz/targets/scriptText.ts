/** Fuzz targets: scripts as text and as templates, addresses and keys from text. */
import { mainParams } from '../../../src/params/main.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { formatAsm } from '../../../src/script/asm.js';
import {
  addressPrefixesOf,
  decodeDestination,
  encodeDestination,
  type AddressPrefixes,
} from '../../../src/script/address.js';
import { decodeBase58, encodeBase58, encodeBase58Check } from '../../../src/script/base58.js';
import { decodeClaimScript, stripClaimPrefix } from '../../../src/script/claimScript.js';
import { isPushOnly, lastPush, nextOp } from '../../../src/script/script.js';
import {
  extractDestination,
  extractDestinations,
  scriptForDestination,
  scriptForMultisig,
  scriptForPublicKey,
  solveScript,
  stripTimelockPrefix,
  type Destination,
} from '../../../src/script/standard.js';
import { decodeSecret, encodeSecret } from '../../../src/script/wif.js';
import { equalBytes, toHex, type Bytes } from '../../../src/util/bytes.js';
import { randomScript, type Random } from '../../differential/support.js';
import { law, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';
import { randomScriptCode } from './scriptMaterial.js';

const NETWORKS: readonly AddressPrefixes[] = [mainParams, regtestParams].map(addressPrefixesOf);

/** Number of operations of a script. A malformed one at the end is counted. */
function countOperations(script: Bytes): { count: number; broken: boolean } {
  let count = 0;
  for (let at = 0; at < script.length; count++) {
    at = nextOp(script, at);
    if (at < 0) return { count: count + 1, broken: true };
  }
  return { count, broken: false };
}

function checkAsm(script: Buffer): void {
  const { count, broken } = countOperations(script);
  for (const decodeSighash of [false, true]) {
    const text = formatAsm(script, decodeSighash);
    law((text === '' && count <= 1) || text.split(' ').length === count, 'a word for every operation');
    law(text.endsWith('[error]') === broken, 'a broken push is told');
    law(/^[ -~]*$/.test(text), 'printable text');
  }
}

function checkTemplate(script: Buffer): string {
  const template = solveScript(script);
  const destination = extractDestination(script);
  const all = extractDestinations(script);
  law(all.type === template.type, 'one type');
  switch (template.type) {
    case 'nonstandard':
    case 'nulldata':
      law(all.destinations.length === 0 && all.required === 0, 'no destinations');
      break;
    case 'pubkey':
      law(scriptForPublicKey(template.publicKey).equals(script), 'P2PK can be built again');
      break;
    case 'multisig': {
      const { required, publicKeys } = template;
      law(required >= 1 && required <= publicKeys.length && publicKeys.length <= 16, 'counts of a multisig');
      law(all.destinations.length === publicKeys.length && all.required === required, 'keys of a multisig');
      const again = solveScript(scriptForMultisig(required, publicKeys));
      law(
        again.type === 'multisig' && again.publicKeys.every((key, i) => equalBytes(key, publicKeys[i]!)),
        'again',
      );
      break;
    }
    default:
      law(scriptForDestination(template).equals(script), 'the script can be built again');
  }
  if (destination !== null) checkDestination(destination);
  return template.type;
}

function checkDestination(destination: Destination): void {
  for (const prefixes of NETWORKS) {
    const text = encodeDestination(destination, prefixes);
    const again = decodeDestination(text, prefixes);
    law(
      again !== null && scriptForDestination(again).equals(scriptForDestination(destination)),
      'address round trip',
    );
  }
}

export function checkScriptText(script: Buffer): string {
  checkAsm(script);
  const type = checkTemplate(script);
  law((lastPush(script) !== null) === isPushOnly(script), 'pushes alone');
  for (const view of [stripClaimPrefix(script), stripTimelockPrefix(script)]) {
    law(script.subarray(script.length - view.length).equals(view), 'stripping leaves the end of the script');
  }
  return decodeClaimScript(script) !== null ? 'claim' : type;
}

export const scriptTextTarget: Target<Buffer> = {
  name: 'script text',
  make(random) {
    if (random.chance(8)) return noise(random, 100);
    if (random.chance(4)) return randomScriptCode(random);
    if (random.chance(6)) return randomMultisig(random);
    const script = randomScript(random);
    return random.chance(3) ? mutateBytes(random, script) : script;
  },
  check: checkScriptText,
  show: toHex,
};

function randomMultisig(random: Random): Buffer {
  const keys = Array.from({ length: 1 + random.below(17) }, () => {
    const key = random.bytes(random.chance(4) ? 65 : 33);
    key[0] = key.length === 33 ? 2 + random.below(2) : 4;
    return key;
  });
  const script = scriptForMultisig(1 + random.below(16), keys.slice(0, 16));
  return random.chance(3) ? mutateBytes(random, script) : script;
}

const WHITE = ' \t\n\v\f\r';

/** The part of a text that the reference decodes as base58: up to the first NUL, without white space around it. */
function base58Core(text: string): string {
  const nul = text.indexOf('\0');
  let end = nul < 0 ? text.length : nul;
  let start = 0;
  while (start < end && WHITE.includes(text[start]!)) start++;
  while (end > start && WHITE.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** Decoding base58 takes time by the square of the length. */
const MOST_DIGITS = 3_000;

export function checkAddressText(text: string): string {
  const bytes = decodeBase58(text, MOST_DIGITS);
  if (bytes !== null) law(encodeBase58(bytes) === base58Core(text), 'base58 round trip');
  let outcome = bytes === null ? 'no base58' : 'base58';
  for (const prefixes of NETWORKS) {
    const destination = decodeDestination(text, prefixes);
    if (destination !== null) {
      const again = encodeDestination(destination, prefixes);
      law(again === base58Core(text) || again === text.toLowerCase(), 'address round trip');
      outcome = destination.type;
    }
    const secret = decodeSecret(text, prefixes);
    if (secret !== null) {
      law(
        encodeSecret(secret.privateKey, secret.compressed, prefixes) === base58Core(text),
        'key round trip',
      );
      outcome = 'key';
    }
  }
  return outcome;
}

function randomDestination(random: Random): Destination {
  switch (random.below(5)) {
    case 0:
      return { type: 'pubkeyhash', hash: random.bytes(20) };
    case 1:
      return { type: 'scripthash', hash: random.bytes(20) };
    case 2:
      return { type: 'witness_v0_keyhash', hash: random.bytes(20) };
    case 3:
      return { type: 'witness_v0_scripthash', hash: random.bytes(32) };
    default:
      return {
        type: 'witness_unknown',
        version: 1 + random.below(16),
        program: random.bytes(2 + random.below(39)),
      };
  }
}

function validText(random: Random): string {
  const prefixes = random.pick(NETWORKS);
  if (random.chance(5)) {
    const secret = random.bytes(32);
    return encodeSecret(secret, random.chance(2), prefixes);
  }
  if (random.chance(8)) return encodeBase58Check(random.bytes(random.below(40)));
  return encodeDestination(randomDestination(random), prefixes);
}

const ODD = ['\0', ' ', '\t', '0', 'O', 'l', 'I', '1', 'ı', 'K', 'ſ', '\ud800', '😀', '\u00a0', 'L', 'q'];

function oddText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at) + random.pick(ODD) + text.slice(at + random.below(2));
    case 1:
      return random.pick(ODD) + text + random.pick(ODD);
    case 2:
      return text.toUpperCase();
    case 3:
      return text.slice(0, at) + text.slice(at).toUpperCase();
    case 4:
      return text.slice(0, at);
    default:
      return mutateBytes(random, Buffer.from(text)).toString('latin1');
  }
}

export const addressTarget: Target<string> = {
  name: 'address',
  make(random) {
    if (random.chance(10)) return noise(random, 80).toString('utf8');
    if (random.chance(20)) return random.pick(ODD).repeat(random.below(200)) + validText(random);
    const text = validText(random);
    return random.chance(4) ? text : oddText(random, text);
  },
  check: checkAddressText,
  show: (text) => JSON.stringify(text),
};
