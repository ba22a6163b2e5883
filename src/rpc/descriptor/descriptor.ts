/**
 * Output descriptors: expressions that describe the output scripts searched by `scantxoutset`. Parses a descriptor and
 * generates its output scripts. Source: Core 0.17 script/descriptor.cpp.
 */
import { hash160, sha256 } from '../../crypto/hash.js';
import { decodeDestination, type AddressPrefixes } from '../../script/address.js';
import { scriptForDestination, scriptForMultisig, scriptForPublicKey } from '../../script/standard.js';
import { fromHex, isHex, type Bytes } from '../../util/bytes.js';
import { parseKeyExpression, parseUint32, type KeyExpression } from './keyExpression.js';

export interface Descriptor {
  /** Whether the descriptor ends in a range, so that its scripts depend on an index. */
  readonly isRange: boolean;
  /** Returns the scripts at a position in the range. Null if they can only be derived with a private key. */
  scriptsAt(position: number): Buffer[] | null;
}

/**
 * Position of an expression in a descriptor: at the top level, in `sh()` or in `wsh()`. Some expressions are allowed only in
 * certain positions.
 */
type Place = 'top' | 'sh' | 'wsh';

const MAX_MULTISIG_KEYS = 16;
/** Maximum number of keys of a multisig at the top level. Nodes do not relay outputs with more keys. */
const MAX_BARE_MULTISIG_KEYS = 3;
/**
 * Maximum size of a redeem script in bytes, which is the limit of a stack element; and size in bytes of a multisig script
 * without its keys.
 */
const MAX_REDEEM_SCRIPT_SIZE = 520;
const MULTISIG_OVERHEAD = 3;
const COMPRESSED_SIZE = 33;
/** Maximum number of characters that all keys of a multisig can take with the longest paths. */
const MAX_KEYS_CHARS = 1 << 17;

/** Splits off the first expression of a text. It ends at a comma or closing parenthesis outside nested parentheses. */
function splitExpression(text: string): [expression: string, rest: string] {
  let depth = 0;
  let end = 0;
  for (; end < text.length; end++) {
    const char = text[end];
    if (char === '(') depth++;
    else if (depth > 0 && char === ')') depth--;
    else if (depth === 0 && (char === ')' || char === ',')) break;
  }
  return [text.slice(0, end), text.slice(end)];
}

/** Returns the text between the parentheses if the expression is a call of function `name`; otherwise null. */
function argumentsOf(name: string, expression: string): string | null {
  const isCall = expression.startsWith(`${name}(`) && expression.endsWith(')');
  return isCall ? expression.slice(name.length + 1, -1) : null;
}

const payToKeyHash = (key: Bytes): Buffer => scriptForDestination({ type: 'pubkeyhash', hash: hash160(key) });
const payToWitnessKeyHash = (key: Bytes): Buffer =>
  scriptForDestination({ type: 'witness_v0_keyhash', hash: hash160(key) });
const payToScriptHash = (script: Bytes): Buffer =>
  scriptForDestination({ type: 'scripthash', hash: hash160(script) });
const payToWitnessScriptHash = (script: Bytes): Buffer =>
  scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(script) });

function fixedScript(script: Buffer): Descriptor {
  return { isRange: false, scriptsAt: () => [script] };
}

function singleKey(key: KeyExpression | null, scriptsOf: (publicKey: Bytes) => Buffer[]): Descriptor | null {
  if (key === null) return null;
  return {
    isRange: key.isRange,
    scriptsAt(position) {
      const publicKey = key.keyAt(position);
      return publicKey && scriptsOf(publicKey);
    },
  };
}

/** Returns the scripts of all standard forms that pay to a public key. */
function comboScripts(key: Bytes): Buffer[] {
  const scripts = [scriptForPublicKey(key), payToKeyHash(key)];
  if (key.length !== COMPRESSED_SIZE) return scripts;
  const program = payToWitnessKeyHash(key);
  return [...scripts, program, payToScriptHash(program)];
}

function wrapped(inner: Descriptor | null, wrap: (script: Bytes) => Buffer): Descriptor | null {
  if (inner === null) return null;
  return {
    isRange: inner.isRange,
    scriptsAt: (position) => inner.scriptsAt(position)?.map(wrap) ?? null,
  };
}

class Parser {
  private readonly prefixes: AddressPrefixes;

  constructor(prefixes: AddressPrefixes) {
    this.prefixes = prefixes;
  }

  /** Parses the whole text as one descriptor. Returns null if the text is not a valid descriptor. */
  whole(text: string, place: Place): Descriptor | null {
    const [expression, rest] = splitExpression(text);
    return rest === '' ? this.expression(expression, place) : null;
  }

  private key(text: string, allowUncompressed: boolean): KeyExpression | null {
    return parseKeyExpression(text, allowUncompressed, this.prefixes);
  }

  private expression(text: string, place: Place): Descriptor | null {
    const call = (name: string): string | null => argumentsOf(name, text);
    const anyKey = place !== 'wsh';
    let inner = call('pk');
    if (inner !== null) return singleKey(this.key(inner, anyKey), (key) => [scriptForPublicKey(key)]);
    inner = call('pkh');
    if (inner !== null) return singleKey(this.key(inner, anyKey), (key) => [payToKeyHash(key)]);
    inner = call('multi');
    if (inner !== null) return this.multisig(inner, place);
    if (place === 'wsh') return null;
    inner = call('wpkh');
    if (inner !== null) return singleKey(this.key(inner, false), (key) => [payToWitnessKeyHash(key)]);
    inner = call('wsh');
    if (inner !== null) return wrapped(this.whole(inner, 'wsh'), payToWitnessScriptHash);
    return place === 'top' ? this.topExpression(text) : null;
  }

  private topExpression(text: string): Descriptor | null {
    let inner = argumentsOf('combo', text);
    if (inner !== null) return singleKey(this.key(inner, true), comboScripts);
    inner = argumentsOf('sh', text);
    if (inner !== null) return wrapped(this.whole(inner, 'sh'), payToScriptHash);
    inner = argumentsOf('addr', text);
    if (inner !== null) {
      const destination = decodeDestination(inner, this.prefixes);
      return destination && fixedScript(scriptForDestination(destination));
    }
    inner = argumentsOf('raw', text);
    return inner !== null && inner !== '' && isHex(inner) ? fixedScript(fromHex(inner)) : null;
  }

  private multisig(text: string, place: Place): Descriptor | null {
    const [threshold, tail] = splitExpression(text);
    const required = parseUint32(threshold);
    if (required === null) return null;
    const keys: KeyExpression[] = [];
    const most = place === 'top' ? MAX_BARE_MULTISIG_KEYS : MAX_MULTISIG_KEYS;
    for (let rest = tail; rest !== '';) {
      // Parsing stops at the first key above the maximum, because the expression is then invalid.
      if (keys.length === most || !rest.startsWith(',')) return null;
      const [expression, after] = splitExpression(rest.slice(1));
      const key = this.key(expression, place !== 'wsh');
      if (key === null) return null;
      keys.push(key);
      rest = after;
    }
    if (keys.length < 1 || required < 1 || required > keys.length) return null;
    const size = keys.reduce((sum, key) => sum + key.size + 1, MULTISIG_OVERHEAD);
    if (place === 'sh' && size > MAX_REDEEM_SCRIPT_SIZE) return null;
    return {
      isRange: keys.some((key) => key.isRange),
      scriptsAt(position) {
        const publicKeys = keys.map((key) => key.keyAt(position));
        return publicKeys.every((key) => key !== null) ? [scriptForMultisig(required, publicKeys)] : null;
      },
    };
  }
}

/**
 * Parses a descriptor; null if the text is not a descriptor of this network. A text that is longer than any descriptor with
 * keys is parsed only as a raw script, because repeated searches in a long text would be slow.
 */
export function parseDescriptor(text: string, prefixes: AddressPrefixes): Descriptor | null {
  if (text.length > MAX_KEYS_CHARS) {
    const hex = argumentsOf('raw', text);
    return hex !== null && isHex(hex) ? fixedScript(fromHex(hex)) : null;
  }
  return new Parser(prefixes).whole(text, 'top');
}
