/** Sets the fields of a source (a file, a picture) from the arguments of commands. Source: lbry-sdk lbry/schema/attrs.py. */
import { create } from '@bufbuild/protobuf';
import type { JsonValue } from '../util/json/json.js';
import { hexOf, integerOf, MAX_UINT64, textOf, type Arguments } from './arguments.js';
import { SourceSchema, type Source } from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';

/** Sets a field to the value of an argument. Fields have the names of the reference. Throws `MetadataError`. */
export function setSourceField(source: Source, field: string, argument: string, value: JsonValue): void {
  switch (field) {
    case 'url':
    case 'name':
      source[field] = textOf(value, argument);
      return;
    case 'media_type':
      source.mediaType = textOf(value, argument);
      return;
    case 'size':
      source.size = integerOf(value, argument, 0n, MAX_UINT64);
      return;
    case 'file_hash':
      source.hash = hexOf(value, argument);
      return;
    case 'sd_hash':
      source.sdHash = hexOf(value, argument);
      return;
    case 'bt_infohash':
      source.btInfohash = hexOf(value, argument);
      return;
    default:
      throw new MetadataError(`Unknown argument '${argument}'`);
  }
}

/**
 * Sets the fields of a source from the arguments whose names start with `prefix`. Creates a missing source if there is any
 * such argument.
 */
export function setSource(source: Source | undefined, args: Arguments, prefix: string): Source | undefined {
  let changed = source;
  for (const [name, value] of args.takeAll(prefix)) {
    changed ??= create(SourceSchema);
    setSourceField(changed, name.slice(prefix.length), name, value);
  }
  return changed;
}
