/** Sets the fields of a source (a file, a picture) from the arguments of commands. Source: lbry-sdk lbry/schema/attrs.py. */
import { create } from '@bufbuild/protobuf';
import type { JsonValue } from '../util/json.js';
import { hexOf, integerOf, MAX_UINT64, textOf, type Arguments } from './arguments.js';
import { SourceSchema, type Source } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';

/** Sets one field by the name that arguments have for it. Throws `MetadataError`. */
export function setSourceField(source: Source, name: string, value: JsonValue): void {
  switch (name) {
    case 'url':
    case 'name':
      source[name] = textOf(value, name);
      return;
    case 'media_type':
      source.mediaType = textOf(value, name);
      return;
    case 'size':
      source.size = integerOf(value, name, 0n, MAX_UINT64);
      return;
    case 'file_hash':
      source.hash = hexOf(value, name);
      return;
    case 'sd_hash':
      source.sdHash = hexOf(value, name);
      return;
    case 'bt_infohash':
      source.btInfohash = hexOf(value, name);
      return;
    default:
      throw new MetadataError(`A source has no ${name}`);
  }
}

/** Sets what is given under names with this beginning; a source that is not there is made when something is. */
export function setSource(source: Source | undefined, args: Arguments, prefix: string): Source | undefined {
  let changed = source;
  for (const [name, value] of args.takeAll(prefix)) {
    changed ??= create(SourceSchema);
    setSourceField(changed, name, value);
  }
  return changed;
}
