/** Reading the parameters of paths, with the errors of electrs. Source: electrs rest.rs. */
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

/** A hash in wire order; 400 for an invalid text. */
export function hashParam(text: string | undefined): Buffer {
  if (text?.length !== 64 || !isHex(text)) throw badRequest('Invalid hash string');
  return hashFromHex(text);
}

/** A number; 400 for an invalid text. */
export function numberParam(text: string | undefined): number {
  if (text === undefined || !/^[0-9]{1,10}$/.test(text)) throw badRequest('Invalid number');
  return Math.min(Number(text), MAX_HEIGHT);
}

/** The id of the header that the path names; 404 when it is not known. */
export function blockParam({ services: { chain }, params }: EsploraCall): number {
  const id = chain.headers.find(hashParam(params['hash']));
  if (id === NO_HEADER) throw notFound('Block not found');
  return id;
}

/** The script that a path is about, by the key under which the index files it. */
export interface AskedScript {
  readonly key: string;
  /** Its form in answers. */
  readonly as: { readonly address: string } | { readonly scripthash: string };
}

/** An address of the network, or the SHA-256 of an output script; 400 for others. */
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
