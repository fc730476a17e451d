/** In the browser: one element beside the application's root, so that it stays when the page changes. */

import settings from '@generated/docusaurus-plugin-lutrin/default/settings.json';

/** Of the widget, what is used here. */
interface Chat extends HTMLElement {
  open: boolean;
  resolveLink: (citation: {filename: string; url: string}) => string | undefined;
  navigate: (url: URL) => void;
  arrived?: () => void;
}

let chat: Chat | undefined;
let pages: Record<string, string> | undefined;

function mount(): Chat {
  const element = document.createElement('lutrin-chat') as Chat;
  // The style sheet beside this file makes room for the panel.
  element.setAttribute('dock', '');
  // Empty where no address is set: the widget says so, and asks nobody.
  if (settings.api) element.setAttribute('api', settings.api);
  if (settings.book) element.setAttribute('book', settings.book);
  document.body.append(element);
  addEventListener('lutrin:open', () => void loadPages(element), {once: true});
  // `!!`: past the site's own Babel, whose loose mode turns spread iterators into something else.
  void import('!!./lutrin.js').then(() => {
    element.navigate = navigate;
    if (element.open) void loadPages(element);
  });
  return element;
}

/** Citations lead to this site's own pages as soon as it is known which page shows which file. */
async function loadPages(element: Chat): Promise<void> {
  pages ??= (await import('@generated/docusaurus-plugin-lutrin/default/pages.json')).default;
  element.resolveLink = ({filename, url}) => {
    const page = pages?.[filename];
    const anchor = url.split('#')[1];
    return page && new URL(anchor ? `${page}#${anchor}` : page, location.origin).href;
  };
}

/** Tell the router of the site, which listens to the browser's history, where to go. */
function navigate(url: URL): void {
  history.pushState({}, '', url);
  dispatchEvent(new PopStateEvent('popstate', {state: history.state}));
}

export function onRouteDidUpdate(): void {
  chat ??= mount();
  chat.arrived?.();
}
