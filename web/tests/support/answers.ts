/** Answers that a good server might give, for tests and screenshots. */

import type {Answer, Sentence, ShownAnswer} from '../../widget/src/wire.ts';
import {citation, done, excerpt, type Script, type Step} from './scripted-server.ts';

export const NODE = citation(1);
export const TOPIC = citation(2, {
  section_title: 'Quality of service',
  section: '02-topics',
  filename: 'part-1/02-topics.md',
  url: '/read/lab/part-1/02-topics#quality-of-service',
  quote: 'Reliable delivery repeats what was lost; best effort does not.',
});

/** Words of the book with code between them. */
const NODE_WORDS = `${NODE.quote}

\`\`\`bash
ros2 run demo_nodes_cpp talker
\`\`\``;
export const SENTENCES: Sentence[] = [
  {text: 'A **node** does one thing only.', citations: [1], support: 'stated'},
  {text: 'Nodes talk over topics, and what is lost can be sent again.', citations: [2], support: 'likely'},
];
export const EXPLANATION = 'A **node** does one thing only. [1] Nodes talk over topics, and what is lost can be sent again. [2] †';
export const EXCERPTS = [excerpt({...NODE, quote: NODE_WORDS}, 'does one job'), excerpt(TOPIC, 'repeats what was lost', {cut_after: true})];
export const ANSWER = [EXPLANATION, `${NODE_WORDS}\n\n[1]`, `${TOPIC.quote} [2]`].join('\n\n');
export const NEXT = ['What is a topic?', 'How do I start a node?'];

/** Excerpts first, then sentences, then the whole. */
export function streamed(pause_ms = 0): Step[] {
  return [
    {send: {type: 'sources', citations: [NODE, TOPIC]}},
    ...EXCERPTS.map((words) => ({send: {type: 'excerpt' as const, ...words}})),
    ...SENTENCES.flatMap((sentence) => [{pause_ms}, {send: {type: 'sentence' as const, ...sentence}}]),
    {pause_ms},
    done(ANSWER, {sources: [NODE, TOPIC], explanation: EXPLANATION, sentences: SENTENCES, excerpts: EXCERPTS, suggestions: NEXT}),
  ];
}

/** The book's answer at once, which a model then explains below. */
export function explained(pause_ms = 0): Step[] {
  const lead: Sentence = {text: NODE.quote, citations: [1], support: 'stated'};
  const book: Partial<Answer> = {kind: 'extractive', sources: [NODE, TOPIC], explanation: `${NODE.quote} [1]`, sentences: [lead], excerpts: EXCERPTS, suggestions: NEXT};
  const {send: whole} = done(`${NODE.quote} [1]`, book);
  return [
    {send: {type: 'sources', citations: [NODE, TOPIC]}},
    ...EXCERPTS.map((words) => ({send: {type: 'excerpt' as const, ...words}})),
    {send: {...(whole as ShownAnswer), type: 'answer'}},
    {send: {type: 'working', what: 'reading', eta_s: 20}},
    {pause_ms},
    {send: {type: 'working', what: 'writing', eta_s: null}},
    ...SENTENCES.flatMap((sentence) => [{pause_ms}, {send: {type: 'sentence' as const, ...sentence}}]),
    {pause_ms},
    done(`${NODE.quote} [1]\n\n**In plain words**\n\n${EXPLANATION}`, {...book, kind: 'generated', plain_words: SENTENCES}),
  ];
}

/** Answers by the question's words, so that one script serves a whole conversation. */
export const classroom: Script = ({message, mode}) => {
  if (/weather/i.test(message)) {
    return [
      done("I couldn't find that in the book. Please check the relevant chapter.", {
        kind: 'refusal',
        refusal: 'out_of_scope',
        suggestions: ['Nodes', 'Topics and messages', 'Quality of service'],
      }),
    ];
  }
  if (mode === 'selection' && /motion/i.test(message)) {
    return [done('The selected text does not contain the answer.', {kind: 'refusal', refusal: 'not_in_selection', mode})];
  }
  if (/slow/i.test(message)) return [...streamed().slice(0, 4), {hang: true}];
  if (/broken/i.test(message)) return [{status: 500, problem: {detail: 'Something went wrong. Please try again.'}}];
  if (/often/i.test(message)) {
    const detail = 'You have asked many questions in a short time. Please wait a moment.';
    return [{status: 429, problem: {detail, retry_after_s: 3}, retryAfter_s: 3}];
  }
  if (/cut/i.test(message)) return [...streamed().slice(0, 5), {cut: true}, ...streamed().slice(5)];
  if (/queue/i.test(message)) return [{send: {type: 'queued', position: 3, eta_s: 4}}, {hang: true}];
  return streamed();
};
