import fc from 'fast-check'

/**
 * `npm test` takes the same random values each time, so that only a change of the code turns it red. A campaign takes new ones; a
 * failure names them, and SEED repeats them.
 */
export const SEED = Number(process.env.SEED ?? (process.env.CAMPAIGN ? Math.floor(Math.random() * 2 ** 31) : 1))

fc.configureGlobal({ seed: SEED })

type Values = [unknown, ...unknown[]]
type Law<Ts extends Values> = [
  ...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  // biome-ignore lint/suspicious/noConfusingVoidType: fast-check's own
  holds: (...values: Ts) => boolean | void,
]

/** Tries what is said of any values with random ones, so often. */
export const forSome = <Ts extends Values>(numRuns: number, ...law: Law<Ts>) =>
  fc.assert(fc.property<Ts>(...law), { numRuns })

/** The same with the usual number of values. */
export const forAll = <Ts extends Values>(...law: Law<Ts>) => fc.assert(fc.property<Ts>(...law))

export { default as fc } from 'fast-check'
