/** Places what floats beside something: the toolbar at a selection, the preview at a citation. */

import {computePosition, flip, offset, shift, type Placement, type Platform} from '@floating-ui/core';

/** What can be measured: an element, or the place of a selection. */
export interface Measured {
  getBoundingClientRect(): DOMRect;
}

// Everything here is `position: fixed`, so places are those of the window; the full platform of floating-ui, which
// follows scrolling ancestors, would cost another 2.5 kB.
const platform: Platform = {
  getElementRects: ({reference, floating}: {reference: Measured; floating: HTMLElement}) => ({
    reference: reference.getBoundingClientRect(),
    floating: {x: 0, y: 0, width: floating.offsetWidth, height: floating.offsetHeight},
  }),
  getClippingRect: () => ({x: 0, y: 0, width: document.documentElement.clientWidth, height: innerHeight}),
  getDimensions: (element: HTMLElement) => ({width: element.offsetWidth, height: element.offsetHeight}),
};

/** Put `floating` (position: fixed) beside `reference`, inside the window. */
export async function place(reference: Measured, floating: HTMLElement, placement: Placement): Promise<void> {
  const {x, y} = await computePosition(reference, floating, {
    platform,
    strategy: 'fixed',
    placement,
    middleware: [offset(8), flip({padding: 8}), shift({padding: 8})],
  });
  // Through the object model: a strict policy forbids style attributes, not this.
  floating.style.left = `${Math.round(x)}px`;
  floating.style.top = `${Math.round(y)}px`;
}
