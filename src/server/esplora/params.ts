/** Parsing of path parameters, with the error texts of electrs. Source: electrs rest.rs. */
import { scriptKeyOf } from '../../index/addressScripts.js';
import { addressPrefixes } from '../../rpc/format/addresses.js';
import type { RpcServices } from '../../interfaces/services.js';
import { decodeDestination } from '../../script/address.js';
import { scriptForDestination } from '../../script/standard.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashFromHex, isHex, toLatin1 } from '../../util/bytes.js';
import { badRequest, notFound, type EsploraCall } from './declaration.js';

const MAX_HEIGHT = 0x7fffffff;
const SCRIPT_KEY_BYTES = 16;

/** Parses a block or transaction hash into wire order. An invalid text is an error with status 400. */
export function hashParam(text: string | undefined): Buffer {
  if (text?.length !== 64 || !isHex(text)) throw badRequest('Invalid hash string');
  return hashFromHex(text);
}

/** Parses a number of at most ten digits. An invalid text is an error with status 400. */
export function numberParam(text: string | undefined): number {
  if (text === undefined || !/^[0-9]{1,10}$/.test(text)) throw badRequest('Invalid number');
  return Math.min(Number(text), MAX_HEIGHT);
}

/** Header id of the block whose hash is in the path. An unknown block is an error with status 404. */
export function blockParam({ services: { chain }, params }: EsploraCall): number {
  const id = chain.headers.find(hashParam(params['hash']));
  if (id === NO_HEADER) throw notFound('Block not found');
  return id;
}

/** The script that a path refers to, by its key in the index. */
export interface AskedScript {
  readonly key: string;
  /** The script in the form in which responses name it: its address or its script hash. */
  readonly as: { readonly address: string } | { readonly scripthash: string };
}

/**
 * Parses an address of the network, or a script hash (the SHA-256 of an output script). Other texts are an error with status
 * 400.
 */
export function scriptParam({ services, params }: EsploraCall): AskedScript {
  const { address, scripthash } = params;
  return address === undefined ? scriptHash(scripthash ?? '') : addressScript(services, address);
}

function addressScript({ params }: RpcServices, address: string): AskedScript {
  const destination = decodeDestination(address, addressPrefixes(params));
  const key = destination === null ? null : scriptKeyOf(scriptForDestination(destination));
  if (key === null) throw badRequest('Invalid address');
  return { key, as: { address } };
}

function scriptHash(scripthash: string): AskedScript {
  if (scripthash.length !== 64 || !isHex(scripthash)) throw badRequest('Invalid hex string');
  const bytes = Buffer.from(scripthash, 'hex');
  return { key: toLatin1(bytes.subarray(0, SCRIPT_KEY_BYTES)), as: { scripthash } };
}
