import {css} from 'lit';

/** Dark brown on beige. A page overrides any colour with `--lutrin-...` of the same name. */
const light = css`
  --_paper: var(--lutrin-paper, #fbf6ec);
  --_sheet: var(--lutrin-sheet, #f2e8d6);
  --_line: var(--lutrin-line, #d9c7aa);
  --_ink: var(--lutrin-ink, #2e1f14);
  --_quiet: var(--lutrin-quiet, #6a5442);
  --_accent: var(--lutrin-accent, #5b3a21);
  --_on-accent: var(--lutrin-on-accent, #fbf3e4);
  --_mine: var(--lutrin-mine, var(--_accent));
  --_on-mine: var(--lutrin-on-mine, var(--_on-accent));
  --_link: var(--lutrin-link, #7c3f12);
  --_error: var(--lutrin-error, #8f1d14);
  --_caution: var(--lutrin-caution, #f6e2a8);
  --_marked: var(--lutrin-marked, #f7e3a1);
  --_shadow: 0 1px 2px rgb(46 31 20 / 18%), 0 12px 40px rgb(46 31 20 / 22%);
  color-scheme: light !important;
`;

const dark = css`
  --_paper: var(--lutrin-paper-dark, #211812);
  --_sheet: var(--lutrin-sheet-dark, #31251c);
  --_line: var(--lutrin-line-dark, #54412f);
  --_ink: var(--lutrin-ink-dark, #f2e7d7);
  --_quiet: var(--lutrin-quiet-dark, #c4ae94);
  --_accent: var(--lutrin-accent-dark, #dcbd8e);
  --_on-accent: var(--lutrin-on-accent-dark, #2a1c10);
  --_mine: var(--lutrin-mine-dark, #634830);
  --_on-mine: var(--lutrin-on-mine-dark, #fbf0df);
  --_link: var(--lutrin-link-dark, #e9b97a);
  --_error: var(--lutrin-error-dark, #ffb4a8);
  --_caution: var(--lutrin-caution-dark, #4c3d16);
  --_marked: var(--lutrin-marked-dark, #5c4a1c);
  --_shadow: 0 0 0 1px rgb(0 0 0 / 40%), 0 12px 40px rgb(0 0 0 / 55%);
  color-scheme: dark !important;
`;

export const tokens = css`
  :host {
    /* What a page sets for its own text, or for every element, says nothing of this one. */
    all: initial !important;
    ${light}
    --_book: var(--lutrin-book-font, ui-serif, "Iowan Old Style", Palatino, "Book Antiqua", P052, Georgia, serif);
    --_font: var(--lutrin-font, system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif);
    --_mono: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
    /* The size of the text: a page may say 1rem, so that it grows with its own. */
    --_rem: var(--lutrin-text-size, 16px);
    --_layer: var(--lutrin-layer, 9000);
    font: calc(var(--_rem) * 0.9375)/1.55 var(--_font) !important;
    color: var(--_ink) !important;
    text-align: start !important;
  }
  :host([scheme="dark"]) {
    ${dark}
  }
  @media (prefers-color-scheme: dark) {
    :host(:not([scheme="light"])) {
      ${dark}
    }
  }
  @media print {
    :host {
      display: none !important;
    }
  }
  *,
  ::before,
  ::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  :focus-visible {
    outline: 2px solid var(--_accent);
    outline-offset: 2px;
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    ::before,
    ::after {
      animation: none !important;
      transition: none !important;
      scroll-behavior: auto !important;
    }
  }
`;
