/** Converts schemas to TypeScript types for generated clients. */
import type { OptionalSchema, Schema } from './schema.js';

/** Converts schemas to types. A named type is defined once, in a separate file. */
export class SchemaTypes {
  private readonly named = new Map<string, string>();
  private readonly heading: string;

  /** Creates the converter. `heading` is the beginning of the file with the named types. */
  constructor(heading: string) {
    this.heading = heading;
  }

  /** Returns the text of the file with the named types that were found. */
  file(): string {
    const texts = [...this.named].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
    return this.heading + texts.map((text) => `// prettier-ignore\n${text}`).join('\n');
  }

  /** Returns the TypeScript type of a schema. The names of the types that it references are added to `used`. */
  typeOf(schema: Schema, used: Set<string>): string {
    const { name } = schema;
    if (name === undefined) return this.bare(schema, used);
    used.add(name);
    if (!this.named.has(name)) {
      this.named.set(name, '');
      this.named.set(name, this.declaration(name, schema));
    }
    return name;
  }

  private declaration(name: string, schema: Schema): string {
    const inner = new Set<string>();
    if (schema.kind !== 'object') return `export type ${name} = ${this.bare(schema, inner)};\n`;
    const fields = Object.entries(schema.fields).map(([key, field]) => {
      const { description } = field.kind === 'optional' ? field.schema : field;
      const comment = description === '' ? '' : `/** ${description.replaceAll('*/', '* /')} */ `;
      return `  ${comment}${this.field(key, field, inner)};\n`;
    });
    if (schema.open) fields.push('  [key: string]: unknown;\n');
    return `export interface ${name} {\n${fields.join('')}}\n`;
  }

  private bare(schema: Schema, used: Set<string>): string {
    switch (schema.kind) {
      case 'null':
        return 'null';
      case 'any':
        return 'unknown';
      case 'boolean':
        return 'boolean';
      case 'string':
      case 'hex':
      case 'hash':
        return 'string';
      case 'number':
      case 'integer':
      case 'coins':
        return 'number';
      case 'enum':
        return schema.values.map((value) => JSON.stringify(value)).join(' | ');
      case 'array': {
        const item = this.typeOf(schema.item, used);
        return /^\w+$/.test(item) ? `${item}[]` : `(${item})[]`;
      }
      case 'tuple':
        return `[${schema.items.map((item) => this.typeOf(item, used)).join(', ')}]`;
      case 'map':
        return `{ [key: string]: ${this.typeOf(schema.value, used)} }`;
      case 'object': {
        const fields = Object.entries(schema.fields).map(([name, field]) => this.field(name, field, used));
        if (schema.open) fields.push('[key: string]: unknown');
        return fields.length === 0 ? 'Record<string, never>' : `{ ${fields.join('; ')} }`;
      }
      case 'union':
        return [...new Set(schema.variants.map((variant) => this.typeOf(variant.schema, used)))].join(' | ');
    }
  }

  private field(name: string, field: Schema | OptionalSchema, used: Set<string>): string {
    if (field.kind === 'optional') return `${propertyName(name)}?: ${this.typeOf(field.schema, used)}`;
    return `${propertyName(name)}: ${this.typeOf(field, used)}`;
  }
}

/** Formats a name as a property of a type, in quotes if necessary. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name).replace(/^"|"$/g, "'");
}
