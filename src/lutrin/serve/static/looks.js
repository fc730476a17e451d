// Text size, colours and hints that this browser keeps, set before the page is drawn, so that it never flashes.

for (const name of ["theme", "size", "hints"]) {
  try {
    const kept = localStorage.getItem(`lutrin:${name}`);
    if (kept) document.documentElement.dataset[name] = kept;
  } catch {
    // Without storage pages look as the device says.
  }
}
