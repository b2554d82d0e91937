import { networkInterfaces } from 'node:os'

const EVERY = ['0.0.0.0', '::']

/**
 * The address at which other machines find a service of this machine. For 0.0.0.0 and ::, use the first address of `known` that
 * this machine has, or else its first address that is not a loopback.
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
