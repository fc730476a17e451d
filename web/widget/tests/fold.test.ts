import {expect, test} from 'vitest';
import {folded, stands} from '../src/fold.ts';
import type {Block, Inline, ListItem} from '../src/schema.ts';
import {safeHref} from '../src/views/blocks.ts';
import {blocksOf, linesOf, wordsOf} from '../src/words.ts';

const paragraph = (...children: Inline[]): Block => ({type: 'paragraph', children});
const mark = (...children: Inline[]): Inline => ({type: 'mark', children});
const strong = (...children: Inline[]): Inline => ({type: 'strong', children});
const code = (...children: Inline[]): Block => ({type: 'code', language: 'bash', children});
const item = (number: number, ...children: Inline[]): ListItem => ({number, blocks: [paragraph(...children)]});
const TABLE: Block = {type: 'table', header: [['a'], ['b']], rows: [[['1'], ['2']], [[mark('3')], [mark('4')]]]};

test('folded, an excerpt is the words that answer, with dots where the book says more between them', () => {
  const node = paragraph(mark('A '), strong(mark('node')), mark(' is one.'), ' It runs. ', mark('It has a name.'));
  expect(folded([node])).toEqual([paragraph('A ', strong('node'), ' is one.', ' … ', 'It has a name.')]);
  expect(folded([paragraph('First.'), paragraph(mark('Second one.'), ' Third.'), {type: 'rule'}])).toEqual([paragraph('Second one.')]);
  expect(folded([paragraph('No mark anywhere.')])).toEqual([]);
});

test('folded, words that only a blank parts stay parted by it', () => {
  expect(folded([paragraph(mark('It takes a minute.'), ' ', mark('It is slow.'))])).toEqual([paragraph('It takes a minute.', ' ', 'It is slow.')]);
});

test('folded, rows stand below their header, items keep their numbers, code its lines', () => {
  expect(folded([TABLE])).toEqual([{type: 'table', header: [['a'], ['b']], rows: [[['3'], ['4']]]}]);
  const steps: Block = {type: 'list', items: [item(1, 'Press.'), item(2, mark('Wait.')), item(3, 'Release.')]};
  expect(folded([steps])).toEqual([{type: 'list', items: [item(2, 'Wait.')]}]);
  expect(folded([code('# start it\nros2 run ', mark('a b'), ' now\nros2 run c d')])).toEqual([code('ros2 run a b now')]);
  expect(folded([code('x = 1')])).toEqual([]);
  expect(folded([{type: 'quote', blocks: [paragraph('Never alone. ', mark('Always two.'))]}])).toEqual([{type: 'quote', blocks: [paragraph('Always two.')]}]);
});

test('folded, a header that answers shows its whole table', () => {
  const table: Block = {type: 'table', header: [[mark('a')]], rows: [[['1']]]};
  expect(folded([table])).toEqual([{type: 'table', header: [['a']], rows: [[['1']]]}]);
});

test('whether the folded words stand in an answer already is told whatever the markup of both', () => {
  const answer = [paragraph('A node is ', {type: 'em', children: ['one process']}, ', it says. ', {type: 'cite', n: 1})];
  expect(stands(folded([paragraph('So: ', mark('a '), strong(mark('node')), mark(' is one process'), '. More.')]), answer)).toBe(true);
  expect(stands(folded([paragraph(mark('A node is two.'), ' More.')]), answer)).toBe(false);
  expect(stands(folded([TABLE]), [{type: 'table', header: [['a'], ['b']], rows: [[['3'], ['4']]]}])).toBe(true);
});

test('the words of a text are those that a reader sees, without the markers of its sources', () => {
  const text = [paragraph('It is', {type: 'break'}, {type: 'code', text: 'x'}, ', ', {type: 'math', tex: 'y^2', display: false}, {type: 'cite', n: 1}), TABLE, code('a\nb'), paragraph({type: 'image', alt: 'an arm'})];
  expect(wordsOf(text)).toBe('It is x, y^2 a b 1 2 3 4 a b an arm');
  expect(linesOf(text)).toEqual(['It is x, y^2', 'a b', '1 2', '3 4', 'a\nb', 'an arm']);
});

test('of a server that does not say what a text consists of, the text is shown', () => {
  expect(blocksOf(undefined, 'A **node**.')).toEqual([paragraph('A **node**.')]);
  expect(blocksOf(undefined, '')).toEqual([]);
  expect(blocksOf([TABLE], '| a |')).toEqual([TABLE]);
});

test('a link may be followed only to the web or to a mail address', () => {
  expect(safeHref('https://a.example/x')).toBe('https://a.example/x');
  for (const href of ['javascript:alert(1)', ' JaVaScRiPt:alert(1)', 'data:text/html,x', '/relative', '//host', 'vbscript:x', 'file:///etc']) {
    expect(safeHref(href)).toBeUndefined();
  }
});
