import {css} from 'lit';

/** Buttons, the input row, and what floats beside a selection or a citation. */
export const controls = css`
  button {
    font-family: inherit;
    touch-action: manipulation;
  }
  svg {
    fill: none;
    stroke: currentcolor;
    stroke-width: 1.7;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .solid {
    fill: currentcolor;
  }
  .icon {
    display: inline-grid;
    grid-auto-flow: column;
    place-items: center;
    min-width: 36px;
    height: 36px;
    padding: 0;
    border: 1px solid transparent;
    border-radius: 8px;
    color: var(--_quiet);
    background: none;
    cursor: pointer;
  }
  .head .icon {
    min-width: 40px;
    height: 40px;
    color: var(--_ink);
  }
  footer .icon {
    min-width: 32px;
    height: 32px;
  }
  footer .icon svg,
  .code .icon svg,
  .named svg {
    width: 17px;
    height: 17px;
  }
  .named {
    min-width: 30px;
    grid-auto-flow: row;
    align-content: center;
    font-size: calc(var(--_rem) * 0.6875);
    line-height: 1;
  }
  .icon:hover {
    color: var(--_ink);
    background: color-mix(in srgb, var(--_line) 45%, transparent);
  }
  .icon[aria-pressed="true"],
  .icon.copied {
    color: var(--_on-accent);
    background: var(--_accent);
  }
  .chip {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    min-height: 32px;
    padding: 4px 12px;
    border: 1px solid var(--_line);
    border-radius: 16px;
    font: calc(var(--_rem) * 0.8125)/1.3 var(--_font);
    color: var(--_ink);
    text-align: start;
    text-decoration: none;
    background: var(--_paper);
    cursor: pointer;
  }
  .chip svg {
    width: 16px;
    height: 16px;
  }
  .chip:hover {
    border-color: var(--_accent);
  }
  .danger {
    color: var(--_error);
  }
  button:disabled {
    opacity: 0.5;
    cursor: default;
  }
  .round {
    display: grid;
    flex: none;
    place-items: center;
    width: 36px;
    height: 36px;
    padding: 0;
    border: 1px solid transparent;
    border-radius: 50%;
    color: var(--_on-accent);
    background: var(--_accent);
    cursor: pointer;
  }
  input:not([type="checkbox"]) {
    flex: 1;
    min-width: 0;
    padding: 6px 10px;
    border: 1px solid var(--_quiet);
    border-radius: 8px;
    font: inherit;
    color: inherit;
    background: var(--_paper);
  }
  input:not([type="checkbox"]):focus-visible {
    border-color: transparent;
    outline-offset: -1px;
  }
  .composer {
    padding: 10px 12px max(12px, env(safe-area-inset-bottom));
    border-top: 1px solid var(--_line);
  }
  .row {
    display: flex;
    align-items: flex-end;
    gap: 8px;
    padding: 5px;
    padding-inline-start: 14px;
    border: 1px solid var(--_quiet);
    border-radius: 24px;
    background: var(--_paper);
  }
  .row:has(textarea:focus) {
    border-color: transparent;
    outline: 2px solid var(--_accent);
    outline-offset: -1px;
  }
  textarea {
    flex: 1;
    min-width: 0;
    max-height: calc(var(--_rem) * 8.25);
    padding: 7px 0;
    border: 0;
    outline: none;
    font: var(--_rem)/1.375 var(--_font);
    color: inherit;
    background: none;
    resize: none;
    field-sizing: content;
    min-height: calc(var(--_rem) * 1.375 + 14px);
  }
  textarea:focus-visible {
    outline: none;
  }
  textarea::placeholder,
  input::placeholder {
    color: var(--_quiet);
    opacity: 1;
  }
  .wait {
    margin: 0 4px 8px;
    font-size: calc(var(--_rem) * 0.875);
    color: var(--_quiet);
  }
  .selection {
    display: grid;
    grid-template-columns: 1fr auto;
    align-items: start;
    margin-bottom: 8px;
    padding: 6px 4px 6px 10px;
    border: 1px solid var(--_line);
    border-radius: 10px;
    background: var(--_sheet);
  }
  .selection blockquote {
    display: -webkit-box;
    margin: 4px 0 0;
    overflow: hidden;
    font: italic calc(var(--_rem) * 0.875)/1.4 var(--_book);
    overflow-wrap: anywhere;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
  }
  .selection label {
    display: flex;
    grid-column: 1 / -1;
    align-items: center;
    gap: 8px;
    min-height: 28px;
    font-size: calc(var(--_rem) * 0.8125);
    color: var(--_quiet);
  }
  .selection input {
    accent-color: var(--_accent);
  }
  .toolbar {
    position: fixed;
    top: 0;
    left: 0;
    z-index: calc(var(--_layer) + 1);
    display: flex;
    overflow: hidden;
    border: 1px solid transparent;
    border-radius: 10px;
    background: var(--_accent);
    box-shadow: var(--_shadow);
  }
  .toolbar.away {
    visibility: hidden;
  }
  .toolbar button {
    min-height: 40px;
    padding: 4px clamp(5px, 2.2vw, 14px);
    border: 0;
    font: 550 clamp(12px, 3.9vw, 14px)/1.3 var(--_font);
    color: var(--_on-accent);
    background: none;
    cursor: pointer;
  }
  .toolbar button + button {
    border-inline-start: 1px solid color-mix(in srgb, var(--_on-accent) 30%, transparent);
  }
  .toolbar button:hover {
    background: color-mix(in srgb, var(--_on-accent) 16%, transparent);
  }
  .toolbar button:focus-visible {
    outline-color: var(--_on-accent);
    outline-offset: -4px;
  }
  .preview {
    position: fixed;
    top: 0;
    left: 0;
    z-index: calc(var(--_layer) + 2);
    width: max-content;
    max-width: min(360px, calc(100vw - 16px), var(--lutrin-docked-width, 100vw) - 16px);
    max-height: 50vh;
    padding: 10px 14px;
    overflow: auto;
    overflow-wrap: anywhere;
    border: 1px solid var(--_line);
    border-radius: 10px;
    color: var(--_ink);
    background: var(--_paper);
    box-shadow: var(--_shadow);
  }
  .preview .label {
    margin: 6px 0 0;
  }
  .preview .chip {
    margin-top: 8px;
  }
  @media (forced-colors: active) {
    .said {
      border-color: CanvasText;
      color: CanvasText;
    }
    mark {
      color: MarkText;
      background: Mark;
      forced-color-adjust: none;
    }
    .cite,
    .toolbar,
    .toolbar button + button {
      border: 1px solid;
    }
    .icon[aria-pressed="true"],
    .icon.copied {
      border-color: Highlight;
      color: HighlightText;
      background: Highlight;
      forced-color-adjust: none;
    }
  }
`;
