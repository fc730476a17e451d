/** Answers that a good server might give, for tests and screenshots. */

import {citation, done, type Script, type Step} from './scripted-server.ts';

export const NODE = citation(1);
export const TOPIC = citation(2, {
  section_title: 'Quality of service',
  section: '02-topics',
  filename: 'part-1/02-topics.md',
  url: '/read/lab/part-1/02-topics#quality-of-service',
  quote: 'Reliable delivery repeats what was lost; best effort does not.',
});

export const ANSWER = `A **node** is a process that does one job. [1] Nodes talk over topics; reliable delivery repeats what was lost. [2]

\`\`\`bash
ros2 run demo_nodes_cpp talker
\`\`\``;

/** Quote first, then sentences, then the whole. */
export function streamed(pause_ms = 0): Step[] {
  return [
    {send: {type: 'sources', citations: [NODE, TOPIC]}},
    {send: {type: 'quote', text: NODE.quote, citation: NODE}},
    {pause_ms},
    {send: {type: 'sentence', text: 'A **node** is a process that does one job.', citations: [1]}},
    {pause_ms},
    {send: {type: 'sentence', text: 'Nodes talk over topics; reliable delivery repeats what was lost.', citations: [2]}},
    {pause_ms},
    done(ANSWER, {sources: [NODE, TOPIC]}),
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
  if (/slow/i.test(message)) return [...streamed().slice(0, 3), {hang: true}];
  if (/broken/i.test(message)) return [{status: 500, problem: {detail: 'Something went wrong. Please try again.'}}];
  if (/often/i.test(message)) {
    const detail = 'You have asked many questions in a short time. Please wait a moment.';
    return [{status: 429, problem: {detail, retry_after_s: 3}, retryAfter_s: 3}];
  }
  if (/cut/i.test(message)) return [...streamed().slice(0, 4), {cut: true}, ...streamed().slice(4)];
  if (/queue/i.test(message)) return [{send: {type: 'queued', position: 3, eta_s: 4}}, {hang: true}];
  return streamed();
};
