/** What has to be shown before the next release. What was shown is taken out of this list, and its figure is in docs/. */
export const MUST_HOLD: readonly string[] = [
  'Ten whole runs of `npm test` in a row are green, each within 8 minutes on two cores.',
  '100,000 histories of test/world on the code that is released break no promise, at 1,000 a minute or more.',
  'Each of 60 guards of engine, edge, lease, fence, capability, converge, expiry and renewal is found by test/world when it is taken out.',
  'Two hours each of kills, pauses and power losses on real parts lose no request of a neighbour.',
  'After a kill with 1,000 exposures the service is ready within 10 s, 99 times of 100.',
  'The goals of docs/benchmarks.md are met, or its page says which are not and why.',
]
