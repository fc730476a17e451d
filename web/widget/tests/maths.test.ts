import {expect, test} from 'vitest';
import {parseTex, UnknownTex} from '../src/maths.ts';

test('indices, powers and fractions become their elements', () => {
  expect(parseTex('K_p')).toEqual(['msub', [['mi', 'K'], ['mi', 'p']]]);
  expect(parseTex('x_1^2')).toEqual(['msubsup', [['mi', 'x'], ['mn', '1'], ['mn', '2']]]);
  expect(parseTex('\\frac{a}{2}')).toEqual(['mfrac', [['mi', 'a'], ['mn', '2']]]);
});

test('Greek letters, operators and functions have their signs', () => {
  expect(parseTex('\\tau \\le \\sin\\theta')).toEqual(['mrow', [['mi', 'τ'], ['mo', '≤'], ['mi', 'sin'], ['mi', 'θ']]]);
});

test('units stand upright, accents above, matrices in rows', () => {
  expect(parseTex('1.7\\ \\mathrm{m/s}')).toEqual(['mrow', [['mn', '1.7'], ['mtext', ' '], ['mtext', 'm/s']]]);
  expect(parseTex('\\dot{q}')).toEqual(['mover', [['mi', 'q'], ['mo', '˙']]]);
  expect(parseTex('\\begin{bmatrix} a & b \\\\ c & d \\end{bmatrix}')).toMatchObject(['mrow', [['mo', '['], ['mtable', [['mtr', {}], ['mtr', {}]]], ['mo', ']']]]);
});

test.each(['\\href{javascript:alert(1)}{x}', '{a', 'a}', '\\begin{tikz}x\\end{tikz}', '$'])(
  'what is not understood is refused, so that the TeX itself is shown: %s',
  (tex) => {
    expect(() => parseTex(tex)).toThrow(UnknownTex);
  },
);
