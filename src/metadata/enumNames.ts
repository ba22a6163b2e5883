/** The names of an enumeration of the messages, in both directions. */
import type { GenEnum } from '@bufbuild/protobuf/codegenv2';
import { MetadataError } from './metadataError.js';

export interface EnumNames<Value extends number> {
  /** Throws `MetadataError` if the number has no name. */
  nameOf(number: number): string;
  /** Throws `MetadataError` if the name is unknown. */
  numberOf(name: string): Value;
}

export function enumNames<Value extends number>(schema: GenEnum<Value>): EnumNames<Value> {
  const names = new Map(schema.values.map(({ name, number }) => [number, name]));
  const numbers = new Map(schema.values.map(({ name, number }) => [name, number]));
  return {
    nameOf: (number) => {
      const name = names.get(number);
      if (name === undefined)
        throw new MetadataError(`Enum ${schema.name} has no name defined for value ${number}`);
      return name;
    },
    numberOf: (name) => {
      const number = numbers.get(name);
      if (number === undefined)
        throw new MetadataError(`Enum ${schema.name} has no value defined for name '${name}'`);
      return number as Value;
    },
  };
}
