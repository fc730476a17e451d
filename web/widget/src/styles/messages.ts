import {css} from 'lit';

/** Questions to the right, answers to the left, and what an answer is made of. */
export const messages = css`
  .turn {
    display: flow-root;
  }
  /* Room below the newest question, so that it stands at the top from the first and nothing moves while its answer grows. */
  .turn:last-child {
    min-height: 100cqh;
  }
  .message {
    margin-bottom: 18px;
  }
  /* The focus is here to be read on from, not to press anything: a line beside the text, no frame. */
  .message:focus-visible {
    position: relative;
    outline: none;
  }
  .message:focus-visible::before {
    position: absolute;
    inset-block: 0;
    inset-inline-start: -11px;
    border-inline-start: 3px solid var(--_accent);
    border-radius: 2px;
    content: "";
  }
  .message.user {
    display: flex;
    align-items: center;
    justify-content: flex-end;
    gap: 2px;
  }
  .said {
    max-width: 88%;
    padding: 8px 14px;
    border: 1px solid transparent;
    border-radius: 14px;
    border-end-end-radius: 4px;
    color: var(--_on-mine);
    background: var(--_mine);
  }
  .said .text {
    white-space: pre-wrap;
  }
  @media (hover: hover) {
    .user .icon:not(:focus-visible) {
      opacity: 0;
    }
    .user:hover .icon {
      opacity: 1;
    }
  }
  .book > .text,
  .from-book blockquote,
  .preview blockquote {
    font: calc(var(--_rem) * 1.0625)/1.55 var(--_book);
  }
  .own {
    margin: 0 0 10px;
    padding: 8px 14px;
    border-inline-start: 3px dotted var(--_quiet);
    font-style: italic;
  }
  .own .label {
    font-style: normal;
  }
  /* Not word for word in the book: read on without a stumble, and see where to compare. */
  .likely {
    text-decoration: underline dotted var(--_quiet) 1px;
    text-underline-offset: 4px;
  }
  .grade {
    display: inline-block;
    margin: -3px 2px;
    padding: 3px 6px;
    border: 0;
    border-radius: 8px;
    font: calc(var(--_rem) * 0.75)/1.5 var(--_font);
    color: var(--_quiet);
    background: none;
    cursor: pointer;
  }
  .grade:hover {
    color: var(--_ink);
    text-decoration: underline;
  }
  .selected {
    display: -webkit-box;
    margin: 0 0 6px;
    padding-inline-start: 10px;
    overflow: hidden;
    border-inline-start: 3px solid currentcolor;
    font: italic calc(var(--_rem) * 0.875)/1.45 var(--_book);
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
  }
  time {
    font-size: calc(var(--_rem) * 0.75);
    color: var(--_quiet);
  }
  .text > :first-child,
  blockquote > :first-child,
  li > :first-child {
    margin-top: 0;
  }
  .text > :last-child,
  blockquote > :last-child,
  li > :last-child {
    margin-bottom: 0;
  }
  p,
  ul,
  ol {
    margin: 0 0 10px;
  }
  .cites {
    margin-top: -6px;
  }
  ul,
  ol {
    padding-inline-start: 22px;
  }
  .heading {
    font-weight: 650;
  }
  a {
    color: var(--_link);
  }
  hr {
    border: 0;
    border-top: 1px solid var(--_line);
  }
  .text blockquote,
  .from-book blockquote blockquote {
    margin: 0 0 10px;
    padding-inline-start: 12px;
    border-inline-start: 3px solid var(--_line);
  }
  .from-book {
    margin: 12px 0;
    padding: 12px 16px;
    border: 1px solid var(--_line);
    border-radius: 12px;
    background: var(--_sheet);
  }
  .closest {
    border-style: dashed;
    background: none;
  }
  .bar {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 8px;
    min-height: 24px;
  }
  .bar .fold {
    margin: -8px -10px -8px 0;
  }
  .fold svg {
    transition: transform 0.15s;
  }
  .fold[aria-expanded="true"] svg {
    transform: rotate(180deg);
  }
  .from-book figure {
    margin: 0;
  }
  /* No line between a place and what stands there. */
  .from-book figure:has(blockquote) ~ figure {
    margin-top: 12px;
    padding-top: 12px;
    border-top: 1px solid var(--_line);
  }
  .from-book blockquote,
  .preview blockquote {
    margin: 0;
    padding: 0;
    border: 0;
    font-size: var(--_rem);
  }
  .place {
    display: block;
    padding-block: 2px;
    line-height: 20px;
  }
  figcaption {
    margin-bottom: 6px;
  }
  mark {
    padding: 0 1px;
    border-radius: 2px;
    color: inherit;
    background: var(--_marked);
  }
  figcaption,
  .label {
    font-size: calc(var(--_rem) * 0.8125);
    color: var(--_quiet);
  }
  p.label {
    margin-bottom: 6px;
  }
  code {
    padding: 1px 4px;
    border-radius: 4px;
    font: 0.88em var(--_mono);
    background: color-mix(in srgb, var(--_line) 45%, transparent);
  }
  .code {
    margin: 0 0 10px;
    overflow: hidden;
    border: 1px solid var(--_line);
    border-radius: 8px;
    background: var(--_paper);
    text-align: left;
  }
  .language {
    display: flex;
    align-items: center;
    justify-content: space-between;
    padding-inline: 10px 2px;
    font-size: calc(var(--_rem) * 0.75);
    color: var(--_quiet);
  }
  pre {
    margin: 0;
    padding: 4px 10px 10px;
    overflow-x: auto;
  }
  pre:focus-visible,
  .table:focus-visible {
    outline-offset: -2px;
  }
  pre code {
    padding: 0;
    font-size: calc(var(--_rem) * 0.8125);
    line-height: 1.5;
    background: none;
    overflow-wrap: normal;
  }
  .table {
    margin: 0 0 10px;
    overflow-x: auto;
  }
  table {
    border-collapse: collapse;
    font-size: calc(var(--_rem) * 0.875);
    overflow-wrap: normal;
  }
  th,
  td {
    padding: 5px 10px;
    border: 1px solid var(--_line);
    text-align: start;
    vertical-align: top;
  }
  math {
    font-size: 1.05em;
  }
  .image {
    color: var(--_quiet);
    font-style: italic;
  }
  /* Large enough for a finger; what is seen of it is smaller than the line. */
  .cite {
    display: inline-block;
    min-width: 24px;
    margin: -4px -1px;
    padding: 3px;
    border-radius: 8px;
    font: 600 calc(var(--_rem) * 0.75)/1.5 var(--_font);
    color: var(--_on-accent);
    text-align: center;
    text-decoration: none;
    background: var(--_accent) content-box;
    vertical-align: 1px;
  }
  .warning {
    margin-top: 10px;
    padding: 8px 10px;
    border-radius: 8px;
    background: var(--_caution);
    font-size: calc(var(--_rem) * 0.875);
  }
  .error {
    margin: 0 0 6px;
    color: var(--_error);
    font-weight: 550;
  }
  .suggestions {
    margin: 12px 0 4px;
  }
  .next {
    display: block;
    width: 100%;
    min-height: 36px;
    padding: 7px 2px;
    border: 0;
    border-top: 1px solid var(--_line);
    font: calc(var(--_rem) * 0.9375)/1.4 var(--_font);
    color: var(--_link);
    text-align: start;
    background: none;
    cursor: pointer;
  }
  .next:hover {
    text-decoration: underline;
  }
  .meant {
    border-top: 0;
    border-bottom: 1px solid var(--_line);
  }
  footer {
    display: flex;
    align-items: center;
    justify-content: space-between;
    min-height: 34px;
    margin-inline-end: -8px;
  }
  .actions {
    display: flex;
    margin-inline-start: auto;
  }
  .comment {
    display: flex;
    gap: 6px;
    margin: 4px 0 8px;
  }
  .progress {
    display: flex;
    align-items: center;
    gap: 10px;
    margin: 0 0 6px;
    color: var(--_quiet);
    font-size: calc(var(--_rem) * 0.875);
  }
  .dots {
    display: inline-flex;
    gap: 4px;
  }
  .dots i {
    width: 6px;
    height: 6px;
    border-radius: 50%;
    background: var(--_accent);
    animation: breathe 1.2s infinite ease-in-out;
  }
  .dots i:nth-child(2) {
    animation-delay: 0.15s;
  }
  .dots i:nth-child(3) {
    animation-delay: 0.3s;
  }
  @keyframes breathe {
    0%,
    60%,
    100% {
      opacity: 0.25;
    }
    30% {
      opacity: 1;
    }
  }
`;
