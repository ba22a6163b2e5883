/**
 * Markup as tagged templates, for components that appear hundreds of times in a page: this takes less time than an element for
 * each tag.
 * Based on the precompiled templates of Preact (`jsxTemplate` and `jsxEscape`).
 */
import { Fragment, type ComponentChildren, type VNode } from 'preact';
import { jsxEscape, jsxTemplate } from 'preact/jsx-runtime';

/** A precompiled template of Preact: texts that are markup, and between them elements that are rendered later. */
interface Template {
  readonly tpl: readonly string[];
  readonly exprs: readonly VNode[];
}

const templateOf = (value: object): Template | null => {
  const { type, props } = value as VNode<Partial<Template>>;
  return type === Fragment && props.tpl !== undefined ? (props as Template) : null;
};

/**
 * Returns the element with its markup as one string in memory instead of a tree of its parts, so that pages that contain it are
 * written faster. Null if the element has elements that are rendered later.
 */
export function compact(element: VNode): VNode | null {
  const text = textOf(element);
  // V8 joins the parts of a string when one of its characters is read.
  return text === null || Number.isNaN(text.charCodeAt(0)) ? null : jsxTemplate([text]);
}

/** Returns the markup of a value; null if it has elements that are rendered later. */
function textOf(value: ComponentChildren): string | null {
  if (typeof value === 'string' || typeof value === 'number') return jsxEscape(value) as string;
  if (typeof value !== 'object' || value === null) return '';
  if (!Array.isArray(value)) {
    const template = templateOf(value);
    return template?.tpl.length === 1 ? template.tpl[0]! : null;
  }
  let text = '';
  for (const one of value as ComponentChildren[]) {
    const part = textOf(one);
    if (part === null) return null;
    text += part;
  }
  return text;
}

/** Appends a value to a template, which has one more text than elements. */
function append(texts: string[], elements: VNode[], value: ComponentChildren): void {
  const text = textOf(value);
  if (text !== null) texts[texts.length - 1] += text;
  else if (Array.isArray(value)) for (const one of value as ComponentChildren[]) append(texts, elements, one);
  else {
    const { tpl, exprs } = templateOf(value as object) ?? { tpl: ['', ''], exprs: [value as VNode] };
    texts[texts.length - 1] += tpl[0]!;
    texts.push(...tpl.slice(1));
    elements.push(...exprs);
  }
}

/**
 * Returns the markup of a template literal. Values between tags and in attributes are escaped; an attribute must have double
 * quotes. Elements, and lists of values, are accepted between tags. Null, undefined, true and false add nothing. The texts of
 * the template itself are markup, so the function accepts template literals alone.
 */
export function markup(
  parts: TemplateStringsArray,
  ...values: readonly (ComponentChildren | readonly ComponentChildren[])[]
): VNode {
  let text = parts[0]!;
  for (let at = 0; at < values.length; at++) {
    const part = textOf(values[at] as ComponentChildren);
    if (part === null) return mixed(parts, values as readonly ComponentChildren[]);
    text += part + parts[at + 1]!;
  }
  return jsxTemplate([text]);
}

/** The same where a value has elements that are rendered later. */
function mixed(parts: TemplateStringsArray, values: readonly ComponentChildren[]): VNode {
  const [texts, elements]: [string[], VNode[]] = [[''], []];
  parts.forEach((text, index) => {
    texts[texts.length - 1] += text;
    if (index < values.length) append(texts, elements, values[index]);
  });
  return jsxTemplate(texts, ...elements);
}
