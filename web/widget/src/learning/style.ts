/** Added to the widget's own styles, with its variables. */
export const STYLE = `
.hinted .place { display: inline; }
.hinted .text, .ask-back .front { font: calc(var(--_rem) * 1.0625)/1.55 var(--_book); }
.ask-back { margin: 14px 0 4px; padding: 12px 16px 6px; border: 1px solid var(--_line); border-radius: 12px; }
.ask-back[hidden] { display: none; }
.ask-back .place { display: inline-flex; }
.tools { margin: 10px 0 0; }
.ask-back p { white-space: pre-line; }
.ask-back summary { padding-block: 4px; color: var(--_link); cursor: pointer; }
.ask-back details { margin-bottom: 10px; }
.ask-back blockquote { margin: 0 0 10px; padding-inline-start: 12px; border-inline-start: 3px solid var(--_line); color: var(--_quiet); }
`;
