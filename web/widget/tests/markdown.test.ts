import {readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {join} from 'node:path';
import {Lexer, type Token, type Tokens} from 'marked';
import {describe, expect, test} from 'vitest';
import {parseMarkdown, plainText, safeHref} from '../src/markdown/index.ts';
import {parseInline} from '../src/markdown/inline.ts';
import {lettersOnly} from '../src/passage.ts';

const CORPUS = fileURLToPath(new URL('../../../corpus', import.meta.url));
const text = (value: string) => ({type: 'text', text: value});

describe('inline', () => {
  test('a marker of a source is a citation, a link that looks like one is a link', () => {
    expect(parseInline('So it is. [2]')).toEqual([text('So it is. '), {type: 'cite', n: 2, raw: '[2]'}]);
    expect(parseInline('[1](https://a.example)')).toEqual([
      {type: 'link', href: 'https://a.example', children: [text('1')]},
    ]);
  });

  test('emphasis nests, and stars inside words and numbers stay stars', () => {
    expect(parseInline('**a *b* c**')).toEqual([
      {type: 'strong', children: [text('a '), {type: 'em', children: [text('b')]}, text(' c')]},
    ]);
    expect(plainText('2 * 3 * 4 and snake_case_name')).toBe('2 * 3 * 4 and snake_case_name');
    expect(plainText('***both*** and ~~gone~~')).toBe('both and gone');
  });

  test('code keeps its angle brackets, stars and backslashes', () => {
    expect(parseInline('use `std::vector<int>` and `` a`b ``')).toEqual([
      text('use '),
      {type: 'code', text: 'std::vector<int>'},
      text(' and '),
      {type: 'code', text: 'a`b'},
    ]);
    expect(parseInline('`a\\`')).toEqual([{type: 'code', text: 'a\\'}]);
  });

  test('HTML is text', () => {
    expect(plainText('<img src=x onerror=alert(1)> <script>alert(1)</script>')).toBe(
      '<img src=x onerror=alert(1)> <script>alert(1)</script>',
    );
  });

  test('character references are decoded once', () => {
    expect(plainText('a &lt; b &amp;lt; c &#8364; &#x41; &unknown; &#0;')).toBe('a < b &lt; c € A &unknown; \ufffd');
  });

  test('a formula between brackets with two backslashes, as MathJax needs it, is maths', () => {
    expect(parseInline(String.raw`a \\(C\\) and \\[x_1\\]`)).toEqual([
      {type: 'text', text: 'a '},
      {type: 'math', tex: 'C', display: false},
      {type: 'text', text: ' and '},
      {type: 'math', tex: 'x_1', display: true},
    ]);
    expect(parseInline(String.raw`\[x\]`).map((node) => 'text' in node && node.text).join('')).toBe('[x]');
  });

  test('dollars around maths are maths, dollars in prices are not', () => {
    expect(parseInline('$x_1 + 2$')).toEqual([{type: 'math', tex: 'x_1 + 2', display: false}]);
    expect(plainText('from $5 to $10 each')).toBe('from $5 to $10 each');
  });

  test('what is said of an image or a link in braces is its description, or nothing', () => {
    expect(parseInline("![](fig/pipe.svg){alt='A pipe, \"drawn\"' width=50%}")).toEqual([{type: 'image', alt: 'A pipe, "drawn"'}]);
    expect(parseInline("![](fig/pipe.svg){alt='A pipe")).toEqual([{type: 'image', alt: 'A pipe'}]);
    expect(plainText('See [this](https://a.example){:target="_blank"} and [that](https://b.example){.button}.')).toBe('See this and that.');
    expect(plainText('Sets of [pairs](https://a.example){a, b}')).toBe('Sets of pairs{a, b}');
  });

  test('an image is its description, never an address', () => {
    expect(parseInline('![an *arm*](https://elsewhere.example/pixel.png)')).toEqual([{type: 'image', alt: 'an arm'}]);
  });

  test('a link in brackets without an address stays text', () => {
    expect(plainText('see [the notes] and [x](not closed')).toBe('see [the notes] and [x](not closed');
  });

  test('a bare address ends before the full stop', () => {
    expect(parseInline('See https://a.example/b.')[1]).toEqual({
      type: 'link',
      href: 'https://a.example/b',
      children: [text('https://a.example/b')],
    });
  });
});

describe('blocks', () => {
  test('a heading-like line inside a fence is code', () => {
    expect(parseMarkdown('```bash\n# install ROS 2\nls\n```\nDone.')).toEqual([
      {type: 'code', text: '# install ROS 2\nls', language: 'bash'},
      {type: 'paragraph', children: [text('Done.')]},
    ]);
  });

  test('a fence that a stream has not closed yet is shown as far as it goes', () => {
    expect(parseMarkdown('```py\nx = 1')).toEqual([{type: 'code', text: 'x = 1', language: 'py'}]);
  });

  test('lists nest, count from where they say, and know their tasks', () => {
    const [list] = parseMarkdown('3. one\n   - inner\n4. two');
    expect(list).toMatchObject({type: 'list', start: 3, tight: true, items: [{blocks: [{}, {type: 'list'}]}, {}]});
    expect(parseMarkdown('- [x] done\n- [ ] open')).toMatchObject([{items: [{checked: true}, {checked: false}]}]);
  });

  test('a year at the start of a line does not begin a list', () => {
    expect(parseMarkdown('It was in\n1984. Then more.')).toHaveLength(1);
  });

  test('a table has as many cells in each row as in its head, and a bar in code can be escaped', () => {
    const [table] = parseMarkdown('| a | b |\n|---|:-:|\n| 1 |\n| `x \\| y` | 2 | 3 |');
    expect(table).toMatchObject({type: 'table', rows: [[[text('1')], []], [[{type: 'code', text: 'x | y'}], [text('2')]]]});
  });

  test('an admonition is a quotation under its title', () => {
    expect(plainText(':::danger[Moving arm]\nKeep clear.\n:::\nThen go on.')).toBe('Moving arm Keep clear. Then go on.');
  });

  test('a heading loses its identifier', () => {
    expect(plainText('## Nodes {#nodes}')).toBe('Nodes');
  });
});

test('a link may be followed only to the web or to a mail address', () => {
  expect(safeHref('https://a.example/x')).toBe('https://a.example/x');
  for (const href of ['javascript:alert(1)', ' JaVaScRiPt:alert(1)', 'data:text/html,x', '/relative', '//host', 'vbscript:x', 'file:///etc']) {
    expect(safeHref(href)).toBeUndefined();
  }
});

test('hostile texts cost time in proportion to their length, not to its square', () => {
  const patterns = ['*a ', '**a*', '_', '`', '``` ', '[', '![', '[a](', '](', '<', '$a', '\\', '> ', '- ', '  - ', '|a', '1. ', '&#', '~a', '*_', 'https://', '((((', '[1](', ':::a\n', '`a``b', '> - ', '*a ]', '[*a ', '**a*b'];
  const cost_ms = (hostile: string): number => {
    // Processor time, for the machine may be busy with something else.
    const began = process.cpuUsage();
    parseMarkdown(hostile);
    return process.cpuUsage(began).user / 1000;
  };
  const cheapest_ms = (hostile: string): number => Math.min(cost_ms(hostile), cost_ms(hostile), cost_ms(hostile));
  for (const pattern of patterns.flatMap((one) => [one, `${one}\n`])) {
    const [short, long] = [pattern.repeat(5_000 / pattern.length), pattern.repeat(40_000 / pattern.length)];
    // Eight times as long; the square would be 64 times. What is over in a few milliseconds measures the clock.
    const most_ms = Math.max(100, cheapest_ms(short) * 24);
    let long_ms = cheapest_ms(long);
    // The engine's own compiler and collector count too: they disturb some parses, what is costly is so in every one.
    for (let more = 0; long_ms >= most_ms && more < 20; more += 1) long_ms = Math.min(long_ms, cost_ms(long));
    expect(long_ms, JSON.stringify(pattern)).toBeLessThan(most_ms);
  }
}, 60_000);

test('on every page of the sample books it reads the same words as marked does', () => {
  const files = readdirSync(CORPUS, {recursive: true, encoding: 'utf8'}).filter((name) => /\.mdx?$/.test(name));
  expect(files.length).toBeGreaterThan(5);
  let compared = 0;
  for (const name of files) {
    const source = readFileSync(join(CORPUS, name), 'utf8').replace(/^---\n[^]*?\n---\n/, '');
    for (const token of new Lexer().lex(source)) {
      // Maths, admonitions, JSX and identifiers of headings are not marked's business.
      if (/\$|^\s*:::|<[A-Za-z/!]|^(?:import|export) |\{/m.test(token.raw) && token.type !== 'code') continue;
      expect(lettersOnly(plainText(token.raw)), name).toBe(lettersOnly(markedText([token])));
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(200);
});

function markedText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const {header, rows} = token as Tokens.Table;
        return [header, ...rows].flat().map((cell) => markedText(cell.tokens)).join(' ');
      }
      if (token.type === 'list') return (token as Tokens.List).items.map((item) => markedText(item.tokens)).join(' ');
      const nested = (token as Tokens.Generic).tokens;
      if (nested && token.type !== 'image') return `${markedText(nested)} `;
      if (token.type === 'space' || token.type === 'checkbox') return ' ';
      return 'text' in token ? `${token.text}` : token.raw;
    })
    .join('');
}
