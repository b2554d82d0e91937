/** How much each part measures. */
export interface Sizes {
  readonly plan: { readonly rounds: number; readonly warmUp: number }
  /** `rounds` in each of `turns`. */
  readonly apply: {
    readonly hosts: number
    readonly turns: number
    readonly rounds: number
    readonly warmUp: number
    /** Runs at once. */
    readonly runs: readonly number[]
  }
  /** `rounds` in each of `turns`. */
  readonly edge: { readonly hosts: number; readonly turns: number; readonly rounds: number; readonly warmUp: number }
  readonly concurrent: {
    readonly hosts: readonly number[]
    /** Runs at once. */
    readonly runs: readonly number[]
    readonly rounds: number
    readonly mixedMs: number
    readonly added: { readonly hosts: number; readonly callers: number; readonly mostMs: number }
  }
  readonly reads: {
    readonly hosts: number
    readonly rounds: number
    readonly filters: number
    readonly lookups: number
  }
  readonly monitor: { readonly hosts: number; readonly warmUpMs: number; readonly measureMs: number }
  readonly scale: { readonly hosts: readonly number[]; readonly own: number; readonly rounds: number }
  readonly serve: { readonly hosts: number; readonly seconds: number; readonly rounds: number }
  readonly stretches: { readonly hosts: number }
  readonly model: { readonly hosts: readonly number[]; readonly rounds: number; readonly measureMs: number }
}

/** A whole run takes at most 12 minutes on two cores. Most of it is the making of 10,000 hosts, three times. */
export const FULL: Sizes = {
  plan: { rounds: 200, warmUp: 100 },
  apply: { hosts: 10, turns: 3, rounds: 5, warmUp: 5, runs: [16, 64] },
  edge: { hosts: 10, turns: 2, rounds: 12, warmUp: 6 },
  concurrent: {
    hosts: [10, 1_000],
    runs: [64],
    rounds: 1,
    mixedMs: 6_000,
    added: { hosts: 990, callers: 16, mostMs: 120_000 },
  },
  reads: { hosts: 10_000, rounds: 6, filters: 20, lookups: 100_000 },
  monitor: { hosts: 10_000, warmUpMs: 5_000, measureMs: 30_000 },
  scale: { hosts: [10, 1_000, 10_000], own: 10_000, rounds: 6 },
  serve: { hosts: 10_000, seconds: 2, rounds: 3 },
  stretches: { hosts: 10_000 },
  model: { hosts: [100, 1_000, 10_000, 30_000], rounds: 7, measureMs: 60_000 },
}

export const SHORT: Sizes = {
  plan: { rounds: 3, warmUp: 1 },
  apply: { hosts: 2, turns: 1, rounds: 1, warmUp: 0, runs: [2, 3] },
  edge: { hosts: 2, turns: 1, rounds: 1, warmUp: 0 },
  concurrent: {
    hosts: [4],
    runs: [3],
    rounds: 1,
    mixedMs: 1_000,
    added: { hosts: 6, callers: 2, mostMs: 20_000 },
  },
  reads: { hosts: 20, rounds: 1, filters: 2, lookups: 100 },
  monitor: { hosts: 20, warmUpMs: 100, measureMs: 2_000 },
  scale: { hosts: [2, 20], own: 20, rounds: 1 },
  serve: { hosts: 20, seconds: 1, rounds: 1 },
  stretches: { hosts: 20 },
  model: { hosts: [5, 10, 20], rounds: 1, measureMs: 1_000 },
}
