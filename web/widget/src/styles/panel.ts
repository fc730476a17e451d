import {css} from 'lit';

/** The button in the corner, the panel and its frame. */
export const panel = css`
  .bubble {
    position: fixed;
    inset-inline-end: max(24px, env(safe-area-inset-right));
    bottom: max(24px, env(safe-area-inset-bottom));
    z-index: var(--_layer);
    display: grid;
    place-items: center;
    width: 56px;
    height: 56px;
    padding: 0;
    border: 1px solid transparent;
    border-radius: 50%;
    color: var(--_on-accent);
    background: var(--_accent);
    box-shadow: var(--_shadow);
    cursor: pointer;
    transition: transform 0.15s;
  }
  .bubble svg {
    width: 28px;
    height: 28px;
  }
  .bubble:hover {
    transform: scale(1.06);
  }
  .invitation {
    position: fixed;
    inset-inline-end: max(24px, env(safe-area-inset-right));
    bottom: calc(max(24px, env(safe-area-inset-bottom)) + 68px);
    z-index: var(--_layer);
    padding: 6px 14px;
    border: 1px solid var(--_line);
    border-radius: 18px;
    background: var(--_paper);
    box-shadow: var(--_shadow);
    cursor: pointer;
  }
  .panel {
    position: fixed;
    inset-inline-end: 24px;
    bottom: 24px;
    z-index: var(--_layer);
    display: flex;
    flex-direction: column;
    width: min(400px, calc(100vw - 48px));
    height: min(640px, calc(100vh - 48px));
    border: 1px solid var(--_line);
    border-radius: 16px;
    background: var(--_paper);
    box-shadow: var(--_shadow);
    animation: rise 0.16s ease-out;
  }
  .panel:focus {
    outline: none;
  }
  :host(:is([stance="docked"], [stance="drawer"])) .panel {
    inset-block: 0;
    inset-inline-end: 0;
    width: var(--lutrin-docked-width, min(424px, calc(100vw - 48px)));
    height: auto;
    border-width: 0;
    border-inline-start-width: 1px;
    border-radius: 0;
    box-shadow: none;
    /* The page is laid out anew beside it: one thing that moves is enough. */
    animation: none;
  }
  :host([stance="drawer"]) .panel {
    box-shadow: var(--_shadow);
  }
  :host([stance="sheet"]) .panel {
    inset: auto 0 0;
    width: auto;
    height: calc(var(--_screen, 100vh) - 32px);
    height: calc(var(--_screen, 100dvh) - 32px);
    border-width: 1px 0 0;
    border-radius: 18px 18px 0 0;
  }
  :host([stance="sheet"]) .head {
    padding-top: 14px;
    touch-action: none;
  }
  :host([stance="sheet"]) .head::before {
    position: absolute;
    top: 6px;
    left: calc(50% - 18px);
    width: 36px;
    height: 4px;
    border-radius: 2px;
    background: var(--_line);
    content: "";
  }
  @media (max-height: 480px) {
    :host([stance="sheet"]) .panel {
      height: var(--_screen, 100vh);
      height: var(--_screen, 100dvh);
      border: 0;
      border-radius: 0;
    }
    :host([stance="sheet"]) .head {
      padding-top: 4px;
    }
    :host([stance="sheet"]) .head::before {
      content: none;
    }
  }
  :host([stance="sheet"]) .invitation {
    display: none;
  }
  .scrim {
    position: fixed;
    inset: 0;
    z-index: var(--_layer);
    background: rgb(20 12 6 / 45%);
  }
  .edge {
    position: absolute;
    inset-block: 0;
    inset-inline-start: -12px;
    z-index: 1;
    width: 24px;
    outline: none;
    cursor: col-resize;
    touch-action: none;
  }
  .edge::after {
    position: absolute;
    inset-block: 0;
    left: calc(50% - 2px);
    width: 4px;
    background: var(--_accent);
    opacity: 0;
    content: "";
  }
  .edge:is(:hover, :focus-visible, :active)::after {
    opacity: 1;
  }
  .older {
    text-align: center;
  }
  @keyframes rise {
    from {
      opacity: 0;
      transform: translateY(12px);
    }
  }
  .head {
    display: flex;
    align-items: center;
    gap: 2px;
    padding: 8px;
    border-bottom: 1px solid var(--_line);
  }
  h2 {
    flex: 1;
    margin: 0 4px;
    overflow: hidden;
    font: 600 calc(var(--_rem) * 1.0625)/1.3 var(--_book);
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .messages {
    position: relative;
    flex: 1;
    min-height: 0;
    padding: 12px 16px 16px;
    container-type: size;
    overflow-y: auto;
    overflow-wrap: anywhere;
    overscroll-behavior: contain;
    scrollbar-width: thin;
    scrollbar-color: var(--_line) transparent;
  }
  .messages:focus-visible {
    outline-offset: -3px;
  }
  /* A line of its own: it covers no text. */
  .below {
    display: grid;
    justify-items: center;
    padding: 4px;
    border-top: 1px solid var(--_line);
  }
  .below .round {
    border: 1px solid var(--_line);
    color: var(--_ink);
    background: var(--_paper);
  }
  .below + .composer {
    padding-top: 0;
    border-top: 0;
  }
  .messages:has(> .greeting) {
    display: grid;
    align-content: safe center;
  }
  .greeting {
    padding: 24px 8px;
    color: var(--_quiet);
  }
  .greeting .question {
    margin: 0 0 8px;
    font: calc(var(--_rem) * 1.375)/1.3 var(--_book);
    color: var(--_ink);
  }
  .greeting .suggestions {
    margin-top: 24px;
  }
  .empty {
    color: var(--_quiet);
  }
  .conversations {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .conversations li {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    padding-bottom: 4px;
    border-bottom: 1px solid var(--_line);
  }
  .conversations .label {
    flex: 1;
    padding: 0 4px;
  }
  .conversations .open {
    width: 100%;
    padding: 8px 4px 2px;
    border: 0;
    border-radius: 8px;
    font: inherit;
    color: inherit;
    text-align: start;
    background: none;
    cursor: pointer;
  }
  .conversations .open:hover .title {
    text-decoration: underline;
  }
  .conversations .title {
    display: block;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .conversations .current .title {
    font-weight: 600;
  }
  .conversations form,
  .confirm {
    display: flex;
    flex: 1;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px;
    padding: 8px 0;
  }
  .confirm span {
    flex: 1 0 100%;
    overflow-wrap: anywhere;
  }
  .status {
    position: fixed;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
`;
