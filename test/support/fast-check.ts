import fc from 'fast-check'

/**
 * `npm test` takes the same random values each time, so that only a change of the code turns it red. A campaign takes new ones; a
 * failure names them, and SEED repeats them.
 */
export const SEED = Number(process.env.SEED ?? (process.env.CAMPAIGN ? Math.floor(Math.random() * 2 ** 31) : 1))

fc.configureGlobal({ seed: SEED })

export { default as fc } from 'fast-check'
