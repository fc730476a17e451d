// Writes src/schema.ts, the shapes of requests and replies, from the server's own OpenAPI document:
// `node scripts/wire-types.mjs http://127.0.0.1:7860/schema/openapi.json`, or a file. With --check it only compares.
import {readFileSync, writeFileSync} from 'node:fs';

const TREE = ['Paragraph', 'Heading', 'CodeBlock', 'Quotation', 'Listing', 'ListItem', 'Table', 'Rule', 'InlineCode', 'Formula', 'Picture', 'Marker', 'LineBreak', 'Strong', 'Emphasis', 'Deletion', 'Mark', 'Link'];
const USED = ['Answer', 'ChatBody', 'ChatMessage', 'ChatReply', 'ChatSession', 'Citation', 'Excerpt', 'Feedback', 'Problem', 'Sentence', ...TREE];
/** Unions by the field that shows each. */
const UNIONS = {Block: ['Quotation', 'blocks'], Inline: ['Mark', 'children']};
const TARGET = new URL('../src/schema.ts', import.meta.url);
const SIMPLE = {string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null'};

function typeOf(schema, unions) {
  const {$ref, type, items, prefixItems, oneOf, const: constant, enum: values} = schema;
  const union = unions.get(JSON.stringify(schema));
  const of = (inner) => typeOf(inner, unions);
  if (union) return union;
  if (constant !== undefined) return `'${constant}'`;
  if ($ref) return $ref.split('/').at(-1);
  if (values) return values.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
  if (oneOf) return oneOf.map(of).join(' | ');
  if (prefixItems) return `[${prefixItems.map(of).join(', ')}]`;
  if (type === 'array') return `${of(items).includes('|') ? `(${of(items)})` : of(items)}[]`;
  if (SIMPLE[type]) return SIMPLE[type];
  throw new Error(`no type for ${JSON.stringify({type, items})}`);
}

function interfaceOf(name, {properties, required = []}, unions) {
  // What has a default is always sent by the server.
  const fields = Object.entries(properties).map(([field, schema]) => {
    const always = required.includes(field) || schema.default !== undefined;
    return `  ${field}${always ? '' : '?'}: ${typeOf(schema, unions)};`;
  });
  return `export interface ${name} {\n${fields.join('\n')}\n}\n`;
}

/** The text of src/schema.ts for an OpenAPI document. */
export function wireTypes(document) {
  const {schemas} = document.components;
  const shapes = Object.entries(UNIONS).map(([name, [shape, field]]) => [name, schemas[shape].properties[field].items]);
  const unions = new Map(shapes.map(([name, shape]) => [JSON.stringify(shape), name]));
  const named = shapes.map(([name, shape]) => `export type ${name} = ${typeOf(shape, new Map())};\n`);
  const head = '/** Made from the server’s OpenAPI document by scripts/wire-types.mjs; not written by hand. */\n';
  return [head, ...USED.map((name) => interfaceOf(name, schemas[name], unions)), ...named].join('\n');
}

const [source] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
if (source && process.argv[1]?.endsWith('wire-types.mjs')) {
  const text = /^https?:/.test(source) ? await (await fetch(source)).text() : readFileSync(source, 'utf8');
  const types = wireTypes(JSON.parse(text));
  if (!process.argv.includes('--check')) writeFileSync(TARGET, types);
  else if (types !== readFileSync(TARGET, 'utf8')) {
    console.log('src/schema.ts is not what the server says');
    process.exitCode = 1;
  }
}
