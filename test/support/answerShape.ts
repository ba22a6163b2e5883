/** The shape of an answer: names and types of its members, without values. */
import type { Schema } from '../../src/schema/schema.js';
import { checkJson } from '../../src/schema/schemaCheck.js';
import type { JsonObject } from '../../src/util/json/json.js';
import { jsonTypeName, type JsonValue } from '../../src/util/json/json.js';

/** Equal for answers that differ only in values and in the number of items. Keys that are data are ignored. */
export function answerShape(schema: Schema, value: JsonValue): string {
  switch (schema.kind) {
    case 'union': {
      const fitting = schema.variants.find((variant) => checkJson(variant.schema, value).length === 0);
      return fitting === undefined ? 'nothing declared' : answerShape(fitting.schema, value);
    }
    case 'array':
      return `[${distinct((value as JsonValue[]).map((item) => answerShape(schema.item, item)))}]`;
    case 'tuple':
      return `[${schema.items.map((item, index) => answerShape(item, (value as JsonValue[])[index]!)).join()}]`;
    case 'map':
      return `{*: ${distinct((value as JsonObject).entries.map(([, inner]) => answerShape(schema.value, inner)))}}`;
    case 'object': {
      const members = (value as JsonObject).entries.map(([name, inner]) => {
        const field = schema.fields[name];
        if (field === undefined) return name;
        return `${name}: ${answerShape(field.kind === 'optional' ? field.schema : field, inner)}`;
      });
      return `{${members.join(', ')}}`;
    }
    default:
      return jsonTypeName(value);
  }
}

function distinct(shapes: readonly string[]): string {
  return [...new Set(shapes)].toSorted().join(' | ');
}
