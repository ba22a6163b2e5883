/** Language tags (`en`, `zh-Hant`, `es-419`) and their messages. Source: lbry-sdk lbry/schema/attrs.py, RFC 5646. */
import { create } from '@bufbuild/protobuf';
import { enumNames } from './enumNames.js';
import {
  Language_LanguageSchema,
  Language_ScriptSchema,
  LanguageSchema,
  Location_CountrySchema,
  type Language,
} from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';

const languages = enumNames(Language_LanguageSchema);
const scripts = enumNames(Language_ScriptSchema);
const countries = enumNames(Location_CountrySchema);

/**
 * Name of a region. QUIRK: the reference removes the R before the number of an area, and thereby also the first letter of
 * countries that begin with R.
 */
const regionName = (region: number): string => countries.nameOf(region).replace(/^R/, '');

/** Formats a language as a tag. Empty parts are omitted. Throws `MetadataError` if a number has no name. */
export function formatLanguage({ language, script, region }: Language): string {
  const parts: string[] = [];
  if (language !== 0) parts.push(languages.nameOf(language));
  if (script !== 0) parts.push(scripts.nameOf(script));
  if (region !== 0) parts.push(regionName(region));
  return parts.join('-');
}

/** Sets those parts of the tag that are known. Afterwards throws `MetadataError` if another part is unknown. */
export function setLanguage(message: Language, tag: string): void {
  const parts = tag.split('-');
  message.language = languages.numberOf(parts.shift()!);
  if (parts[0]?.length === 4) message.script = scripts.numberOf(parts.shift()!);
  if (parts[0] !== undefined && /^\p{L}{2}$/u.test(parts[0]))
    message.region = countries.numberOf(parts.shift()!);
  if (parts[0] !== undefined && /^\p{Nd}{3}$/u.test(parts[0]))
    message.region = countries.numberOf(`R${parts.shift()!}`);
  if (parts.length > 0) throw new MetadataError(`Failed to parse language tag: ${tag}`);
}

/** Parses a tag to a language message. Throws `MetadataError` if a part of the tag is unknown. */
export function parseLanguage(tag: string): Language {
  const message = create(LanguageSchema);
  setLanguage(message, tag);
  return message;
}
