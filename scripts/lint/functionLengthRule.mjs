/**
 * ESLint rule for tests: limits the lines of a function, counted as by `max-lines-per-function` of ESLint. The lines of the
 * callbacks of `describe` blocks do not count, because these only group tests; each test and each helper in them is counted by
 * itself.
 */

const FUNCTIONS = 'FunctionDeclaration, FunctionExpression, ArrowFunctionExpression';

/** The name at the start of a call such as `describe.skipIf(x)('title', …)`; '' if there is none. */
function firstName(node) {
  if (node.type === 'CallExpression') return firstName(node.callee);
  if (node.type === 'MemberExpression') return firstName(node.object);
  if (node.type === 'TaggedTemplateExpression') return firstName(node.tag);
  return node.type === 'Identifier' ? node.name : '';
}

function isGroup(node) {
  return node.parent.type === 'CallExpression' && firstName(node.parent.callee) === 'describe';
}

/** The node whose lines count: a method with its name, else the function. */
function countedNode(node) {
  const { parent } = node;
  return parent.value === node && (parent.type === 'MethodDefinition' || parent.type === 'Property')
    ? parent
    : node;
}

/** @type {import('eslint').Rule.RuleModule} */
export const functionLengthRule = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { max: { type: 'integer' } }, additionalProperties: false }],
    messages: {
      long: 'The function has {{lines}} lines, at most {{max}} are allowed. Divide it into named steps.',
    },
  },
  create(context) {
    const { max } = context.options[0];
    /** Lines of `describe` callbacks in each open function. */
    const grouped = [];
    return {
      [FUNCTIONS]() {
        grouped.push(0);
      },
      [`:matches(${FUNCTIONS}):exit`](node) {
        const { loc } = countedNode(node);
        const all = loc.end.line - loc.start.line + 1;
        const own = all - grouped.pop();
        if (isGroup(node)) {
          if (grouped.length > 0) grouped[grouped.length - 1] += all;
        } else {
          if (own > max) context.report({ node, messageId: 'long', data: { lines: own, max } });
          // A function around this one does not count the groups either.
          if (grouped.length > 0) grouped[grouped.length - 1] += all - own;
        }
      },
    };
  },
};
