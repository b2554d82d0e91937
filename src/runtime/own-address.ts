import { networkInterfaces } from 'node:os'

const EVERY = ['0.0.0.0', '::']

/**
 * The address under which other machines find a service of this one. A service that listens on every address is told by one that
 * `known` has too, or else by the first that is not a loopback.
 */
export function ownAddress(
  listens: string,
  known: readonly string[],
  own: readonly string[] = addressesOfThisMachine(),
): string {
  if (!EVERY.includes(listens)) return listens
  return known.find((address) => own.includes(address)) ?? own[0] ?? listens
}

const addressesOfThisMachine = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address)
