import { canonicalAddress, type Listening } from '../../reading/text/listen.ts'

/**
 * How adopting changes a site at those addresses of Drawbridge where the site does not answer today. `none`: there are no such
 * addresses.
 */
export type NewAddresses = 'none' | 'restricted' | 'other family' | 'not known'

/**
 * Compares where a site listens with where an entry would listen. A site on addresses of its own is restricted to visitors who
 * reach them. A site on every address of a family is not restricted. `ours` undefined or empty: not known.
 */
export function newAddresses(places: readonly Listening[], ours: readonly string[] = []): NewAddresses {
  const addresses = new Set(places.map(({ address }) => address))
  const hasWhole = addresses.has('*') || addresses.has('[::]')
  if (ours.length === 0) return hasWhole ? 'none' : 'not known'
  const isDual = places.some(({ address, isDual }) => address === '[::]' && isDual)
  const isServed = (address: string): boolean => {
    const isIpv6 = address.startsWith('[')
    return addresses.has(address) || (isIpv6 ? addresses.has('[::]') : addresses.has('*') || isDual)
  }
  if (ours.map(canonicalAddress).every(isServed)) return 'none'
  return hasWhole ? 'other family' : 'restricted'
}
