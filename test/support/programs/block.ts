/** Keeps the event loop from everything else for so long, as work that never yields does. */
export function blockFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
