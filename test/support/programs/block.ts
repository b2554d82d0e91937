/** Blocks the event loop for this time. */
export function blockFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
