import {expect, test} from 'vitest';
import {folded, parseExcerpt, parseMarkdown, stands, type Block, type Inline} from '../src/markdown/index.ts';

/** An excerpt in which these words are marked. */
function excerpted(text: string, words: readonly string[]): Block[] {
  const marks = words.map((word): [number, number] => {
    const from = Array.from(text.slice(0, text.indexOf(word))).length;
    return [from, from + Array.from(word).length];
  });
  return parseExcerpt(text, marks);
}

/** What is marked, and all that is shown, piece by piece: marked pieces in brackets. */
function shown(text: string, ...words: string[]): string {
  return blocks(excerpted(text, words)).join('\n');
}

/** What is left of it when it is folded. */
function kept(text: string, ...words: string[]): string {
  return blocks(folded(excerpted(text, words))).join('\n');
}

function blocks(all: readonly Block[]): string[] {
  return all.flatMap((block): string[] => {
    switch (block.type) {
      case 'code': {
        const ends = [0, ...(block.marks ?? []).flat(), block.text.length];
        return [ends.slice(1).map((end, at) => (at % 2 ? `[${block.text.slice(ends[at], end)}]` : block.text.slice(ends[at], end))).join('')];
      }
      case 'quote':
        return blocks(block.blocks).map((line) => `> ${line}`);
      case 'list':
        return block.items.flatMap((item) => blocks(item.blocks).map((line) => `- ${line}`));
      case 'table':
        return [block.header, ...block.rows].map((row) => row.map(inlines).join(' | '));
      case 'rule':
        return ['---'];
      default:
        return [inlines(block.children)];
    }
  });
}

function inlines(nodes: readonly Inline[]): string {
  return nodes
    .map((node): string => {
      if (node.type === 'mark') return `[${inlines(node.children)}]`;
      if ('children' in node) return `<${inlines(node.children)}>`;
      return node.type === 'text' || node.type === 'code' ? node.text : node.type === 'math' ? node.tex : '';
    })
    .join('');
}

test('the words that answer are marked, whatever emphasis they begin or end in', () => {
  expect(shown('A node does one job.', 'one job')).toBe('A node does [one job].');
  expect(shown('A **node** is _one_ process.', '**node** is _one_')).toBe('A <[node]>[ is ]<[one]> process.');
  expect(shown('It is **a small process** there.', 'It is **a small')).toBe('[It is ]<[a small] process> there.');
});

test('offsets count characters, not the halves that some of them are stored in', () => {
  expect(shown('🤖🤖 A robot 機械 moves.', '機械')).toBe('🤖🤖 A robot [機械] moves.');
});

test('a mark over lines, items and cells keeps the form of each', () => {
  expect(shown('- one\n- two\n- three', 'one\n- two')).toBe('- [one]\n- [two]\n- three');
  expect(shown('1. Press.\n2. Wait.', '1. Press.\n2. W')).toBe('- [Press.]\n- [W]ait.');
  expect(shown('| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |', '| 3 | 4 |')).toBe('a | b\n1 | 2\n[3] | [4]');
  expect(shown('| a | b |\n|---|---|\n| 1 | 2 |', 'b |\n|---|---|\n| 1')).toBe('a | [b]\n[1] | 2');
});

test('code is marked in its lines and stays code, byte for byte', () => {
  expect(shown('Run:\n\n```bash\n# install\nros2 run a b\n```', 'ros2 run')).toBe('Run:\n# install\n[ros2 run] a b');
  expect(shown('```python\nif x:\n    go(x)\n```', 'if x:\n    go')).toBe('[if x:]\n    [go](x)');
  expect(shown('Use `ros2 topic list` now.', 'topic')).toBe('Use [ros2 topic list] now.');
});

test('a formula is marked as a whole', () => {
  expect(shown('The torque $F r$ turns it.', 'torque $F')).toBe('The [torque ][F r] turns it.');
});

test('a mark over everything says nothing and is not drawn', () => {
  expect(shown('A node does one job.', 'A node does one job.')).toBe('A node does one job.');
});

test('tags of components, comments and imports are not shown, code and comparisons are', () => {
  const source = "import X from 'x'\n\n<Tabs>\n<TabItem value=\"a\">\n\nPress <kbd>Ctrl</kbd> if a < b.\n\n</TabItem>\n{/* note */}\n\nUse `<br>`.";
  expect(shown(source, 'Ctrl</kbd> if')).toBe('Press [Ctrl if] a < b.\nUse <br>.');
});

test('a hostile excerpt costs time in proportion to its length, not to its square', () => {
  for (const text of [' '.repeat(40_000), '`'.repeat(40_000), '<a '.repeat(13_000), '| '.repeat(20_000), `${'`a'.repeat(20_000)}\n<`]) {
    const began_ms = performance.now();
    parseExcerpt(`x ${text}`, [[0, 5], [9, text.length - 9]]);
    expect(performance.now() - began_ms, text.slice(0, 4)).toBeLessThan(2000);
  }
});

test('no sign of ours comes from the text of a book', () => {
  expect(shown('odd \ue000 text \ue001 here', 'text')).toBe('odd \ufffd [text] \ufffd here');
});

test('the title that is left of a box’s first line is a title', () => {
  expect(shown('Safety]\nNever charge it alone.', 'Never')).toBe('<Safety>\n[Never] charge it alone.');
});

test('folded, an excerpt is the words that answer, with dots where the book says more between them', () => {
  expect(kept('A **node** is one. It runs. It has a name.', 'A **node** is one.', 'It has a name.')).toBe('A <node> is one. … It has a name.');
  expect(kept('First.\n\nSecond one. Third.\n\nFourth.', 'Second one.')).toBe('Second one.');
  expect(kept('No mark anywhere.')).toBe('');
});

test('folded, words of two lines stay apart', () => {
  const text = 'It takes a minute (see\n[chapter 7](../07.md)). It is slow.';
  expect(kept(text, 'It takes a minute (see\n[chapter 7](../07.md)).')).toBe('It takes a minute (see <chapter 7>).');
});

test('folded, rows stand below their header, items keep their numbers, code its lines', () => {
  expect(kept('| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |', '| 3 | 4 |')).toBe('a | b\n3 | 4');
  const steps = folded(excerpted('1. Press.\n2. Wait.\n3. Release.', ['2. Wait.']));
  expect(steps).toMatchObject([{type: 'list', start: 2}]);
  expect(kept('```bash\n# start it\nros2 run a b\nros2 run c d\n```', 'ros2 run a b')).toBe('ros2 run a b');
  expect(kept('> Never alone. Always two.', 'Always two.')).toBe('> Always two.');
});

test('whether the folded words stand in an answer already is told whatever the markup of both', () => {
  const isAbove = (answer: string, text: string, ...words: string[]): boolean => stands(folded(excerpted(text, words)), parseMarkdown(answer));
  expect(isAbove('A node is *one process*, it says.', 'So: a **node** is one process. More.', 'a **node** is one process')).toBe(true);
  expect(isAbove('A node is two.', 'A **node** is one. More.', 'A **node** is one.')).toBe(false);
  expect(isAbove('| a | b |\n|---|---|\n| 3 | four |', '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | four |', '| 3 | four |')).toBe(true);
});

test('rows whose header was cut off are rows, not lines with bars', () => {
  expect(shown('| Battery | Weekly |\n| Stop | Daily |', 'Stop')).toBe('\nBattery | Weekly\n[Stop] | Daily');
  expect(shown('Battery | Weekly\nStop | Daily', 'Stop')).toBe('\nBattery | Weekly\n[Stop] | Daily');
  expect(shown('Stop | Daily |')).toBe('\nStop | Daily');
  expect(shown('Use a | b here.', 'here')).toBe('Use a | b [here].');
});

test('a table follows a sentence without an empty line between', () => {
  expect(shown('It compares:\n| a | b |\n|---|---|\n| 1 | 2 |')).toBe('It compares:\na | b\n1 | 2');
  expect(shown('It compares:\na | b\n---|---\n1 | 2')).toBe('It compares:\na | b\n1 | 2');
  expect(shown('A row is left:\n| 1 | 2 |')).toBe('A row is left:\n\n1 | 2');
});

test('a box begins with its name or its title', () => {
  expect(shown('Do it.\n\n> [!TIP]\n> Stop first.', 'Stop')).toBe('Do it.\n> <Tip>\n> [Stop] first.');
  expect(shown('> [!warning]- Before you start\n> Stop first.')).toBe('> <Before you start>\n> Stop first.');
});

test.each([
  ['comments, also over lines and around backticks', 'A<!-- ignore --> b.\n\n<!-- update\nthe `code`\n-->\n\nC.', 'A b.\nC.'],
  ['labels of links and anchors of words', 'See [“Types”][types] and [`match`][match]. [path]{#path} is one.', 'See “Types” and match. path is one.'],
  ['tags over lines, with brackets in what they say', 'See:\n\n<iframe\n  src="x"\n></iframe>\n\n<Listing caption="An `Option<i32>`">\n\nDone.', 'See:\nDone.'],
  ['conditions', 'Set it:\n\n{#if fw === \'pt\'}\n\nYes.', 'Set it:\nYes.'],
  ['the ends of boxes that began before', 'It moves.\n\n:::::::::\n\n:::: solution\n\nSo.', 'It moves.\n> So.'],
  ['code that stands in another file', 'So:\n\n```rust\n{{#include ../a.rs}}\n```\n\nIt runs.', 'So:\nIt runs.'],
])('not shown: %s', (_, text, wanted) => {
  expect(shown(text)).toBe(wanted);
});

test('a name in angle brackets and a type are words, not tags', () => {
  expect(shown('Name <file> and Option<T> here.', 'here')).toBe('Name <file> and Option<T> [here].');
});

test('what stands further in, in an item of a list, is no code but for its code', () => {
  expect(shown('    ```sh\n    ls -l\n    ```\n\n    Then wait.\n\n1. Go on.', 'ls -l')).toBe('[ls -l]\nThen wait.\n- Go on.');
  expect(shown('Replace it.\n\n    Then wait.', 'wait')).toBe('Replace it.\nThen [wait].');
});

test('raised and lowered signs keep their place', () => {
  expect(shown('It has 10<sup>9</sup> bytes, 10<sup>-7</sup> s, H<sub>2</sub>O, 1011<sub>2</sub>, 2<sup>n + 1</sup> and the 21<sup>st</sup>.')).toBe(
    'It has 10^9 bytes, 10^-7 s, H2O, 1011_2, 2^(n + 1) and the 21st.',
  );
});

test('note marks are not shown', () => {
  expect(shown('It sank in 1905[^fn1], they say.')).toBe('It sank in 1905, they say.');
});
