/**
 * The keys by which clients of lbcd's WebSocket protocol watch scripts ("watch keys"). Computes the watch keys of addresses,
 * of the destinations of an output, and of the script that an input reveals. Source: lbcd txscript/standard.go
 * `ExtractPkScriptAddrs`, txscript/pkscript.go `ComputePkScript`, lbcutil address.go `DecodeAddress`.
 */
import { hash160, sha256 } from '../../crypto/hash.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { inputScriptAt, witnessTopAt, type ParsedBlock } from '../../primitives/blockView.js';
import { INPUT_SCRIPT_LENGTH, INPUT_STRIDE } from '../../primitives/blockLayout.js';
import { decodeDestination, type AddressPrefixes } from '../../script/address.js';
import { stripClaimPrefix } from '../../script/claimScript.js';
import { isPushOnly, lastPush } from '../../script/script.js';
import { solveScript, type Destination } from '../../script/standard.js';
import { fromHex, isHex, toLatin1, type Bytes } from '../../util/bytes.js';

const KEY_HASH = 'p';
const SCRIPT_HASH = 's';
const WITNESS_KEY = 'w';
const WITNESS_SCRIPT = 'W';
const PUBLIC_KEY = 'k';

const COMPRESSED_SIZE = 33;
/** Minimum and maximum length of input scripts in which lbcd searches for a public key. Source: lbcd txscript/pkscript.go. */
const [MIN_KEY_INPUT, MAX_KEY_INPUT] = [43, 108];

/** Watch keys (keys by which clients watch scripts) of the destinations of an output. */
export interface Payees {
  /** Watch keys of hashes and witness programs. */
  readonly hashes: readonly string[];
  /** Bare public keys of a P2PK or multisig output. */
  readonly publicKeys: readonly Bytes[];
}

const NO_PAYEES: Payees = { hashes: [], publicKeys: [] };

/** Watch key of an address or of a public key in hex; null if lbcd rejects the text. */
export function addressKey(text: string, prefixes: AddressPrefixes): string | null {
  if ((text.length === 66 || text.length === 130) && isHex(text)) {
    const key = fromHex(text);
    return ecdsaBackend().isFullyValidPublicKey(key) ? publicKeyKey(key) : null;
  }
  // lbrycrd ignores white space around an address; lbcd rejects it.
  if (!/^[0-9a-zA-Z]+$/.test(text)) return null;
  const destination = decodeDestination(text, prefixes);
  return destination && destinationKey(destination);
}

function destinationKey(destination: Destination): string | null {
  switch (destination.type) {
    case 'pubkeyhash':
      return KEY_HASH + toLatin1(destination.hash);
    case 'scripthash':
      return SCRIPT_HASH + toLatin1(destination.hash);
    case 'witness_v0_keyhash':
      return WITNESS_KEY + toLatin1(destination.hash);
    case 'witness_v0_scripthash':
      return WITNESS_SCRIPT + toLatin1(destination.hash);
    case 'witness_unknown':
      return null;
  }
}

/** The destinations of an output script. A claim prefix is ignored. */
export function payeesOf(script: Bytes): Payees {
  const template = solveScript(stripClaimPrefix(script));
  switch (template.type) {
    case 'nonstandard':
    case 'nulldata':
    case 'witness_unknown':
      return NO_PAYEES;
    case 'pubkey':
      return { hashes: [], publicKeys: [template.publicKey] };
    case 'multisig':
      return { hashes: [], publicKeys: template.publicKeys };
    default:
      return { hashes: [destinationKey(template)!], publicKeys: [] };
  }
}

export const publicKeyKey = (key: Bytes): string => PUBLIC_KEY + toLatin1(key);
export const publicKeyHashKey = (key: Bytes): string => KEY_HASH + toLatin1(hash160(key));

/** Watch key of the output script that an input unlocks; null if the input does not reveal this script. */
export function unlockedKey(bytes: Buffer, parsed: ParsedBlock, input: number): string | null {
  const length = parsed.inputs[input * INPUT_STRIDE + INPUT_SCRIPT_LENGTH]!;
  if (length > 0) return keyOfInputScript(inputScriptAt(bytes, parsed, input));
  const top = witnessTopAt(bytes, parsed, input, 3);
  const last = top[top.length - 1];
  if (last === undefined) return null;
  return top.length === 2 && last.length === COMPRESSED_SIZE
    ? WITNESS_KEY + toLatin1(hash160(last))
    : WITNESS_SCRIPT + toLatin1(sha256(last));
}

function keyOfInputScript(script: Buffer): string | null {
  if (!isPushOnly(script)) return null;
  if (script.length >= MIN_KEY_INPUT && script.length <= MAX_KEY_INPUT) {
    const key = script.subarray(script.length - COMPRESSED_SIZE);
    if (key[0] === 2 || key[0] === 3) return publicKeyHashKey(key);
  }
  const redeemScript = lastPush(script);
  return redeemScript && SCRIPT_HASH + toLatin1(hash160(redeemScript));
}
