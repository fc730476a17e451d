import {html, svg, type SVGTemplateResult, type TemplateResult} from 'lit';

/** Strokes on a grid of 24, drawn for Lutrin. */
const PATHS = {
  book: svg`<path d="M12 6.5C10 5 7 4.5 3.5 4.5v13c3.5 0 6.5.5 8.5 2 2-1.5 5-2 8.5-2v-13C17 4.5 14 5 12 6.5zM12 6.5v13"/>`,
  close: svg`<path d="M6 6l12 12M18 6L6 18"/>`,
  list: svg`<path d="M4 6.5h16M4 12h16M4 17.5h10"/>`,
  plus: svg`<path d="M12 5v14M5 12h14"/>`,
  back: svg`<path d="M14.5 5.5L8 12l6.5 6.5"/>`,
  send: svg`<path d="M12 19.5V5M5.5 11.5L12 5l6.5 6.5"/>`,
  stop: svg`<rect class="solid" x="7" y="7" width="10" height="10" rx="1.5"/>`,
  copy: svg`<rect x="8.5" y="8.5" width="11" height="11" rx="2"/><path d="M15.5 5.5v-1h-11v11h1"/>`,
  check: svg`<path d="M5 12.5l4.5 4.5L19 7.5"/>`,
  retry: svg`<path d="M19 12a7 7 0 1 1-2.2-5.1M19 3.5v4h-4"/>`,
  up: svg`<path d="M7.5 10.5v9h-3v-9zM7.5 10.5l4-7c1.5 0 2.2 1 2 2.5l-.5 3.5h5c1.3 0 2 1 1.7 2.2l-1.5 6c-.3 1.1-1 1.8-2.2 1.8H7.5"/>`,
  down: svg`<path d="M16.5 13.5v-9h3v9zM16.5 13.5l-4 7c-1.5 0-2.2-1-2-2.5l.5-3.5H6c-1.3 0-2-1-1.7-2.2l1.5-6c.3-1.1 1-1.8 2.2-1.8h8.5"/>`,
  arrow: svg`<path d="M12 5v14M5.5 12.5L12 19l6.5-6.5"/>`,
  fold: svg`<path d="M6 9.5l6 6 6-6"/>`,
  edit: svg`<path d="M5 19l1-4L16.5 4.5l3 3L9 18z"/>`,
  trash: svg`<path d="M5 7h14M9.5 7V4.5h5V7M7 7l1 12.5h8L17 7M10.5 11v5M13.5 11v5"/>`,
  save: svg`<path d="M12 4v11M7.5 11L12 15.5 16.5 11M5 19.5h14"/>`,
} satisfies Record<string, SVGTemplateResult>;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): TemplateResult {
  return html`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">${PATHS[name]}</svg>`;
}
