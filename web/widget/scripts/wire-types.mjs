// Writes src/schema.ts, the shapes of requests and replies, from the server's own OpenAPI document:
// `node scripts/wire-types.mjs http://127.0.0.1:7860/schema/openapi.json`, or a file. With --check it only compares.
import {readFileSync, writeFileSync} from 'node:fs';

const USED = ['Answer', 'ChatBody', 'ChatMessage', 'ChatReply', 'ChatSession', 'Citation', 'Excerpt', 'Feedback', 'Problem', 'Sentence'];
const TARGET = new URL('../src/schema.ts', import.meta.url);
const SIMPLE = {string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null'};

function typeOf({$ref, type, items, prefixItems, oneOf, enum: values}) {
  if ($ref) return $ref.split('/').at(-1);
  if (values) return values.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
  if (oneOf) return oneOf.map(typeOf).join(' | ');
  if (prefixItems) return `[${prefixItems.map(typeOf).join(', ')}]`;
  if (type === 'array') return `${typeOf(items).includes('|') ? `(${typeOf(items)})` : typeOf(items)}[]`;
  if (SIMPLE[type]) return SIMPLE[type];
  throw new Error(`no type for ${JSON.stringify({type, items})}`);
}

function interfaceOf(name, {properties, required = []}) {
  // What has a default is always sent by the server.
  const fields = Object.entries(properties).map(([field, schema]) => {
    const always = required.includes(field) || schema.default !== undefined;
    return `  ${field}${always ? '' : '?'}: ${typeOf(schema)};`;
  });
  return `export interface ${name} {\n${fields.join('\n')}\n}\n`;
}

/** The text of src/schema.ts for an OpenAPI document. */
export function wireTypes(document) {
  const head = '/** Made from the server’s OpenAPI document by scripts/wire-types.mjs; not written by hand. */\n';
  return [head, ...USED.map((name) => interfaceOf(name, document.components.schemas[name]))].join('\n');
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
