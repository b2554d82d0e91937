/** A host as a plan names it: the longest zone of the policy that it lies in, and the label before it. */
export function splitHost(host: string, zones: readonly string[]): { zone: string; subdomain: string } {
  const name = host.toLowerCase().replace(/\.$/, '')
  const [only, ...others] = zones
  // One zone and a bare label: there is nothing to choose from.
  if (!name.includes('.') && only !== undefined && others.length === 0) return { zone: only, subdomain: name }
  const zone = zones.filter((candidate) => name.endsWith(`.${candidate}`)).toSorted((a, b) => b.length - a.length)[0]
  // A zone that is not managed is for the service to refuse: it says which there are.
  const cut = zone === undefined ? name.indexOf('.') : name.length - zone.length - 1
  return cut < 0
    ? { zone: only ?? name, subdomain: name }
    : { zone: name.slice(cut + 1), subdomain: name.slice(0, cut) }
}
